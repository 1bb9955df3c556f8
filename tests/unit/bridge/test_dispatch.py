import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pysynthdp as sdp
from pysynthdp.bridge.codec import ROpaque, RVector, character, dumps, load_rds, loads, named_list, save_rds
from pysynthdp.bridge.dispatch import PROTOCOL, handle
from pysynthdp.bridge.facts import RFrame
from pysynthdp.bridge.frames import frame_from_r, frame_to_r
from pysynthdp.bridge.plain import plain_from_r, plain_to_r
from pysynthdp.bridge.releases import release_from_r
from pysynthdp.bridge.verbs import synthesis


def _ask(verb, **args):
    values = {name: plain_to_r(value) for name, value in args.items()}
    request = {"protocol": plain_to_r(PROTOCOL), "verb": plain_to_r(verb), "args": named_list(values)}
    reply = loads(handle(dumps(named_list(request))))
    return dict(zip(reply.names, reply.items, strict=True))


def _table(n=120):
    rng = np.random.default_rng(4)
    sex = rng.choice(["f", "m"], n)
    return pd.DataFrame({"sex": pd.Categorical(sex), "age": rng.normal(45, 12, n).round(1)})


def test_the_process_that_answers_starts_without_models():
    code = "import sys, pysynthdp.bridge.worker; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_call_makes_the_copies_that_python_makes():
    reply = _ask("synthesise", data=_table(), settings={"method": {"age": "norm"}}, m=2.0, seed=7.0)
    assert plain_from_r(reply["ok"]) is True
    release = release_from_r(reply["value"])
    ours = sdp.synthesize(_table(), m=2, rng=7, method={"age": "norm"}, progress=False)
    for one, other in zip(release.copies, ours.copies, strict=True):
        pd.testing.assert_frame_equal(one, other)
    assert release.tags == ours.tags


def _curved():
    rng = np.random.default_rng(5)
    age = rng.normal(50, 12, 1500).round(1)
    return pd.DataFrame({"age": age, "income": (1.2 * (age - 50) ** 2 + rng.normal(0, 300, 1500)).round(1)})


_STRAIGHT = {"terms": "main", "method": {"income": "norm"}, "visit.sequence": ["age", "income"]}


def test_what_a_fit_finds_in_its_own_draw_reaches_r_as_warnings():
    # a curve of 11 standard errors where chance explains 4: missed with a probability below 1e-9
    settings = {name.replace(".", "_"): value for name, value in _STRAIGHT.items()}
    for verb, more in (("synthesise", {"m": 1, "seed": 1}), ("check", {})):
        told = plain_from_r(_ask(verb, data=_curved(), settings=settings, **more)["warnings"])
        (curve,) = (one for one in told if one["column"] == "income" and one["kind"] == "drift")
        assert "curve in age is lost" in curve["message"]
        assert "bs(age, 5)" in curve["remedy"]


def test_a_check_gives_r_its_table():
    settings = {name.replace(".", "_"): value for name, value in _STRAIGHT.items()}
    value = plain_from_r(_ask("check", data=_curved(), settings=settings)["value"])
    assert value["text"].startswith("INTERNAL")
    columns = {name: np.atleast_1d(values) for name, values in value["columns"].items()}
    assert (columns["column"][0], columns["what"][0], columns["with"][0]) == ("income", "curve", "age")
    assert columns["size"][0] > columns["limit"][0] > 0
    assert columns["remedy"][0].startswith("give formulas = ")


def test_a_check_under_a_guarantee_is_refused_before_anything_is_read(monkeypatch):
    monkeypatch.setattr(synthesis, "_read", lambda *_: pytest.fail("the table was read"))
    reply = _ask("check", data=_table(), settings={"guarantee": {"name": "zcdp", "rho": 1.0}})
    assert plain_from_r(reply["ok"]) is False
    assert "may not look at the records" in plain_from_r(reply["message"])


def test_the_ambient_seed_serves_only_where_none_is_given():
    first = _ask("synthesise", data=_table(), settings={}, m=1, ambient=[1, 2, 3, 4])["value"]
    again = _ask("synthesise", data=_table(), settings={}, m=1, ambient=[1, 2, 3, 4])["value"]
    other = _ask("synthesise", data=_table(), settings={}, m=1, ambient=[1, 2, 3, 5])["value"]
    named = _ask("synthesise", data=_table(), settings={}, m=1, seed=9, ambient=[1, 2, 3, 4])["value"]
    copies = [release_from_r(value)[0] for value in (first, again, other, named)]
    assert copies[0].equals(copies[1])
    assert not copies[0].equals(copies[2])
    assert copies[3].equals(sdp.synthesize(_table(), m=1, rng=9, progress=False)[0])


@pytest.mark.parametrize(
    ("settings", "m", "classes", "text"),
    [
        ({}, 0, "pysynthdp_plan_error", "at least 1"),
        ({"method": {"age": "nothing"}}, 1, "pysynthdp_plan_error", "nothing"),
        ({"colour": 1}, 1, "pysynthdp_plan_error", "no setting 'colour'"),
        ({"proper": "yes"}, 1, "pysynthdp_plan_error", "TRUE or FALSE"),
        ({"drop": ["nobody"]}, 1, "pysynthdp_plan_error", "nobody"),
        ({"guarantee": {"name": "by_sampling"}}, 1, "pysynthdp_privacy_error", "schema"),
    ],
)
def test_errors_are_replies_with_class_and_text(settings, m, classes, text):
    reply = _ask("synthesise", data=_table(), settings=settings, m=m, seed=1)
    assert plain_from_r(reply["ok"]) is False
    assert reply["class"].texts == (classes, "pysynthdp_error")
    assert text in reply["message"].texts[0]


def test_a_stranger_is_not_quoted_unless_asked(monkeypatch):
    name = "Ada Lovelace 1815"

    def leak(*_args, **_kwargs):
        raise ValueError(name)

    monkeypatch.setattr(synthesis, "look", leak)
    reply = _ask("look", data=_table(), settings={})
    assert reply["class"].texts == ("pysynthdp_internal_error", "pysynthdp_error")
    assert name not in str([item.texts for item in reply.values() if item is not None])
    values = {"protocol": plain_to_r(PROTOCOL), "verb": plain_to_r("look"), "debug": plain_to_r(True)}
    asked = loads(handle(dumps(named_list({**values, "args": named_list({})}))))
    assert name in asked.items[2].texts[0]


def test_warnings_of_the_package_are_told_and_no_others(monkeypatch):
    import warnings

    def warn(**_):
        warnings.warn("ours", sdp.PysynthdpWarning, stacklevel=1)
        warnings.warn("a library's", RuntimeWarning, stacklevel=1)
        return {}

    monkeypatch.setattr(synthesis, "look", warn)
    (told,) = plain_from_r(_ask("look")["warnings"])
    assert told == {"message": "ours", "column": None, "kind": None, "remedy": None}


def test_another_version_is_told_to_install():
    request = {"protocol": plain_to_r(PROTOCOL + 1), "verb": plain_to_r("ping")}
    reply = loads(handle(dumps(named_list(request))))
    assert "install-r" in reply.items[2].texts[0]


def test_a_function_in_a_frame_is_refused():
    frame = frame_to_r(_table())
    cell = RVector("list", tuple([ROpaque("global environment")] * 120))
    names = {**frame.attributes, "names": character(["sex", "age", "f"])}
    data = RVector("list", (*frame.items, cell), names)
    reply = _ask("synthesise", data=data, settings={})
    assert reply["class"].texts[0] == "pysynthdp_bridge_error"
    assert "'f'" in reply["message"].texts[0]


@given(st.binary(max_size=200))
def test_no_bytes_raise(raw):
    reply = loads(handle(raw))
    assert plain_from_r(reply.items[0]) is False


@given(st.data())
def test_damaged_requests_are_answered(data):
    request = {
        "protocol": plain_to_r(PROTOCOL),
        "verb": plain_to_r("echo"),
        "args": named_list({"x": plain_to_r([1, "a"])}),
    }
    raw = bytearray(dumps(named_list(request)))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    loads(handle(bytes(raw)))


def test_echo_gives_a_frame_back_with_its_facts():
    frame = frame_to_r(pd.DataFrame({"x": [1, 2]}))
    labelled = RVector("integer", frame.items[0].array, {"label": character(["Age"])})
    came = _ask("echo", x=RVector("list", (labelled,), frame.attributes))["value"]
    assert came.items[0].attributes["label"].texts == ("Age",)
    assert isinstance(frame_from_r(came), RFrame)


def test_the_worker_answers_by_files_and_keeps_its_channel_clean(tmp_path):
    request = {
        "protocol": plain_to_r(PROTOCOL),
        "verb": plain_to_r("echo"),
        "args": named_list({"x": plain_to_r(5)}),
    }
    save_rds(named_list(request), tmp_path / "in", compress="none")
    lines = f"{tmp_path / 'in'}\t{tmp_path / 'out'}\n" * 2
    done = subprocess.run(
        [sys.executable, "-m", "pysynthdp.bridge.worker"],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "ready\ndone\ndone\n"
    assert plain_from_r(load_rds(tmp_path / "out"))["value"] == 5
    assert (tmp_path / "out").stat().st_mode & 0o077 == 0


def test_starting_a_worker_loads_no_model():
    code = (
        "import sys, pysynthdp.bridge.dispatch; "
        "sys.exit(any(m.startswith('statsmodels') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_signed_folder_is_written_and_checked_for_r(tmp_path):
    if os.environ.get("PYSYNTHDP_TESTS_MUST_RUN") != "yes":
        pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric import ed25519

    key = ed25519.Ed25519PrivateKey.generate()
    private = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
    (tmp_path / "key.pem").write_bytes(private)
    public = key.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "public.pem").write_bytes(public)
    made = _ask("synthesise", data=_table(), settings={}, m=2, seed=7)["value"]
    folder, sign = str(tmp_path / "out"), str(tmp_path / "key.pem")
    assert plain_from_r(_ask("write_release", x=made, folder=folder, sign=sign)["ok"]) is True
    found = plain_from_r(_ask("verify_release", folder=folder, key=str(tmp_path / "public.pem"))["value"])
    assert (found["status"], found["exit_code"], found["signed"]) == ("none", 10, True)
    assert len(found["what"]) == len(found["result"]) == len(found["detail"])
    assert "signed by the holder of this key" in found["verdict"]
    bare = plain_from_r(_ask("verify_release", folder=folder)["value"])
    assert (bare["signed"], bare["ok"]) == (False, False)
