"""A folder is compared with itself as far as that goes; the rest is said to lie beyond the check."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

import pysynthdp as sdp
from pysynthdp.models import Dirichlet, Gaussian
from pysynthdp.privacy.statements.statement import PrivacyStatement

N = 120
AGE = sdp.NumericColumn("age", lower=16, upper=90, may_be_missing=False, fallback=40)
SEX = sdp.CategoricalColumn("sex, as told", ["F", "M"], other="F", may_be_missing=False)
SAMPLED = {"age": Gaussian(sigma=15.0), "sex, as told": Dirichlet(prior=20.0)}


def table(seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.uniform(16, 90, N), "sex, as told": rng.choice(["F", "M"], N)})


def fit(guarantee, **settings):
    schema = sdp.Schema([AGE, SEX])
    return sdp.Synthesizer(schema=schema, guarantee=guarantee, progress=False, **settings)


@pytest.fixture(scope="module")
def releases():
    plain = {"missing": {"age": {-8: "not asked"}}, "progress": False}
    return {
        "zcdp": fit(sdp.ZCDP(4.0)).fit(table()).draw(m=2),
        "sampled": fit(sdp.BySampling(), method=SAMPLED).fit(table()).draw(m=2),
        "none": sdp.Synthesizer(**plain).fit(table()).draw(m=2),
        "kept": sdp.Synthesizer(keep=["age"], **plain).fit(table()).draw(m=2),
        "seeded": fit(sdp.ByNoise(sdp.ZCDP(4.0), testing=True)).fit(table(), noise_seed=1).draw(m=2),
        "seeded draw": fit(sdp.BySampling(), method=SAMPLED).fit(table()).draw(m=2, rng=1),
    }


@pytest.fixture
def saved(releases, tmp_path):
    def save(name, **options):
        return releases[name].save(tmp_path / name, **options)

    return save


UNTOUCHED = {"zcdp": 0, "sampled": 0, "none": 10, "kept": 10, "seeded": 11, "seeded draw": 11}


def verdict(checked):
    return checked.exit_code, {finding.what for finding in checked.findings if finding.result == "differs"}


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("name", UNTOUCHED)
def test_an_untouched_folder_has_its_own_verdict_and_exit_code(name, file_format, saved):
    folder = saved(name, format=file_format)
    checked = sdp.verify(folder)
    assert verdict(checked) == (UNTOUCHED[name], set())
    assert checked.ok == (UNTOUCHED[name] == 0)
    assert "confirmed" not in str(checked)
    assert "nobody's signature was checked: this says nothing about who made it" in checked.verdict
    assert (
        sdp.SyntheticRelease.load(folder).privacy.status
        == json.loads((folder / "release.json").read_text())["status"]
    )


def test_files_of_a_reader_beside_the_release_are_no_change(saved, tmp_path):
    folder = saved("zcdp").rename(tmp_path / "received")
    (folder / "results").mkdir()
    (folder / "notes.txt").write_text("mine")
    checked = sdp.verify(folder)
    (others,) = [finding for finding in checked.findings if finding.what.startswith("other files")]
    assert (checked.exit_code, others.result) == (0, "not checked")
    assert "notes.txt, results" in others.detail
    sdp.SyntheticRelease.load(folder)


# one file changed and no more: the checksums of the list, and what the files say of each other


def test_a_copy_replaced_by_the_confidential_table(saved):
    """K3's own lines: a seeded run called implemented, and the real table in place of a copy."""
    folder = saved("seeded")
    table().to_parquet(folder / "synthetic_1.parquet", index=False)
    card = json.loads((folder / "privacy.json").read_text())
    card.update(status="implemented", statement_may_be_published=True, reason="anonymous", not_covered=[])
    (folder / "privacy.json").write_text(json.dumps(card))
    refused(folder)


@pytest.mark.parametrize("name", ["zcdp", "sampled", "none"])
@pytest.mark.parametrize(
    "file",
    [
        "README.txt",
        "codebook.csv",
        "privacy.json",
        "schema.json",
        "synthetic_1.parquet",
        "synthetic_2.parquet",
    ],
)
@pytest.mark.parametrize("gone", [False, True], ids=["changed", "gone"])
def test_no_file_can_be_changed_or_taken_away(name, file, gone, saved):
    folder = saved(name)
    path = folder / file
    content = path.read_bytes()
    path.unlink()
    if not gone:
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert f"{file} {'is missing' if gone else 'was changed'}" in refused(folder)


def test_a_file_of_the_same_size_and_another_content(saved):
    folder = saved("none", format="csv")
    path = folder / "synthetic_2.csv"
    before = path.stat().st_size
    path.write_text(path.read_text().replace('"M"', '"F"', 1))
    assert path.stat().st_size == before
    assert "synthetic_2.csv was changed" in refused(folder)


def test_a_copy_more_than_the_list_names(saved):
    folder = saved("sampled")
    shutil.copy(folder / "synthetic_1.parquet", folder / "synthetic_3.parquet")
    assert "synthetic_3.parquet looks like a copy" in refused(folder)


def test_programs_may_be_edited_by_a_reader_and_verify_says_so(saved):
    folder = saved("none")
    path = folder / "analyse.py"
    path.write_text(path.read_text() + "\n# my own model\n")
    sdp.SyntheticRelease.load(folder)
    assert sdp.verify(folder).exit_code == 13


def refused(folder):
    """Check that verify and load both refuse; give what verify found."""
    checked = sdp.verify(folder)
    assert checked.exit_code == 13
    assert not checked.ok
    assert "confirmed" not in str(checked)
    with pytest.raises(sdp.ReleaseError, match=r"changed after it was written.*take it anew"):
        sdp.SyntheticRelease.load(folder)
    return "; ".join(finding.detail for finding in checked.findings if finding.result == "differs")


# all checksums, and the statement in the copies, made anew: what the files say of each other is left


def implemented(card):
    card.update(status="implemented", statement_may_be_published=True)


def stated_none(card):
    for key in ("points", "entries", "contributions"):
        card.pop(key)
    card.update(status="none", guarantee={"name": "none"}, statement_may_be_published=True)
    for column in card["columns"]:
        for key in ("mechanism", "constants", "assumptions", "entry", "source", "cost", "share"):
            column.pop(key)
        column["guarantee"] = "none"


def other_n(tags):
    tags["n_org"] = 10 * N


def set_n(manifest):
    other_n(manifest)
    other_n(manifest["tags"])


def first_column_only(card):
    card["columns"] = [{**card["columns"][0], "column": "age"}]


def fewer_draws(card):
    card["draws"] = [{"n_syn": N // 2, "copies": 2}]
    card["total"] = {"copies": 2, "records": N}


def keep_age(manifest):
    manifest["tags"]["kept"] = ["age"]


def no_kept(manifest):
    manifest["tags"]["kept"] = []


def age_is_real(schema):
    schema["columns"][0]["synthetic"] = False


def other_method(manifest):
    manifest["provenance"]["methods"] = [["age", "polyreg"], ["sex, as told", "logreg"]]


def no_noise(manifest):
    manifest["tags"]["noise"] = "none"


def more_copies(manifest):
    manifest["m"] = manifest["tags"]["m"] = 3


def longer(manifest):
    manifest["n_syn"] = manifest["tags"]["n_syn"] = N + 1


def unsynthetic(manifest):
    manifest["columns"][0]["name"] = "income"


def other_dtype(manifest):
    manifest["columns"][0].update(dtype="int64", stored="int64")


def one_copy_twice(manifest):
    manifest["copies"] = ["synthetic_1.parquet"] * 2


def unnamed_readme(manifest):
    manifest["files"] = [entry for entry in manifest["files"] if entry["name"] != "README.txt"]


def one_column_more(card):
    card["columns"][0]["column"] += ", income"


CONTRADICTIONS = [
    ("seeded", "privacy.json", implemented, "was seeded, so the statement must be void"),
    ("seeded draw", "privacy.json", implemented, "release.json has another status"),
    ("seeded", "privacy.json", stated_none, "void of which nothing is claimed"),
    ("seeded", "release.json", lambda m: m["tags"].pop("void"), "is void and the tags do not say so"),
    ("seeded", "release.json", lambda m: m.update(status="implemented"), "release.json has another status"),
    ("none", "release.json", lambda m: m.update(status="implemented"), "release.json has another status"),
    ("zcdp", "release.json", lambda m: m["tags"].update(void=True), "the statement must be void"),
    ("sampled", "release.json", lambda m: m["tags"].update(void=True), "the statement must be void"),
    ("sampled", "release.json", lambda m: m.update(n_org=10 * N), "two values of n_org"),
    ("sampled", "release.json", set_n, "age is priced for another number"),
    ("sampled", "privacy.json", first_column_only, "does not speak of sex, as told"),
    ("zcdp", "privacy.json", first_column_only, "does not speak of sex, as told"),
    ("none", "privacy.json", first_column_only, "does not speak of sex, as told"),
    ("zcdp", "privacy.json", one_column_more, "income, which the copies do not have"),
    ("none", "privacy.json", one_column_more, "income, which the copies do not have"),
    ("zcdp", "privacy.json", fewer_draws, "does not count the draw of these copies"),
    ("none", "privacy.json", fewer_draws, "does not count the draw of these copies"),
    ("none", "release.json", keep_age, "privacy.json and release.json name other real columns"),
    ("none", "release.json", keep_age, "schema.json and release.json name other real columns"),
    ("kept", "release.json", no_kept, "codebook.csv and release.json name other real columns"),
    ("zcdp", "release.json", keep_age, "a guarantee is stated although columns are kept real"),
    ("sampled", "schema.json", age_is_real, "schema.json and release.json name other real columns"),
    (
        "kept",
        "privacy.json",
        lambda card: card["columns"][0].update(method="norm"),
        "name other real columns",
    ),
    ("zcdp", "release.json", other_method, "age was made by another method"),
    ("sampled", "release.json", other_method, "age was made by another method"),
    ("none", "release.json", other_method, "age was made by another method"),
    ("zcdp", "release.json", no_noise, "disagree on whether answers were noised"),
    ("sampled", "release.json", lambda m: m["tags"].update(noise="shared"), "whether answers were noised"),
    ("zcdp", "release.json", more_copies, "not as many as m says"),
    ("none", "release.json", longer, "synthetic_2.parquet is not as long as n_syn says"),
    ("zcdp", "release.json", unsynthetic, "synthetic_1.parquet has other columns"),
    ("sampled", "schema.json", lambda schema: schema["columns"].pop(), "name other columns"),
    (
        "none",
        "schema.json",
        lambda schema: schema["columns"][0].update(dtype="int64"),
        "another type in schema",
    ),
    ("sampled", "release.json", other_dtype, "synthetic_1.parquet: age has another type"),
    ("none", "release.json", one_copy_twice, "not as many as m says"),
    ("none", "release.json", unnamed_readme, "README.txt is not in the list"),
]


@pytest.mark.parametrize("name", ["zcdp", "sampled", "none", "kept"])
@pytest.mark.parametrize("file", ["privacy.json", "release.json", "schema.json"])
def test_the_forger_leaves_no_trace_of_its_own(name, file, saved, forge):
    folder = saved(name)
    forge(folder, file, lambda plain: plain.update(remark="of no consequence"))
    assert verdict(sdp.verify(folder)) == (UNTOUCHED[name], set())


@pytest.mark.parametrize(
    ("name", "file", "lie", "words"),
    CONTRADICTIONS,
    ids=[f"{n}-{f}-{w}" for n, f, _, w in CONTRADICTIONS],
)
def test_files_that_contradict_each_other_are_found_under_right_checksums(
    name, file, lie, words, saved, forge
):
    folder = saved(name)
    forge(folder, file, lie)
    if lie is unnamed_readme:
        (folder / "README.txt").write_text("rewritten")
    assert words in refused(folder)


@pytest.mark.parametrize("victim", ["none", "kept", "sampled"])
def test_the_statement_of_another_release_is_found_under_right_checksums(victim, releases, saved, forge):
    folder = saved(victim)
    forge(
        folder, "privacy.json", lambda card: (card.clear(), card.update(releases["zcdp"].privacy.to_dict()))
    )
    refused(folder)


def test_a_codebook_that_hides_a_real_column(saved, relist):
    folder = saved("kept")
    path = folder / "codebook.csv"
    path.write_text(path.read_text().replace(",REAL,", ",synthetic,"))
    relist(folder)
    assert sdp.verify(folder).exit_code == 13


@pytest.mark.parametrize(
    ("mark", "words"),
    [("pysynthdp", "holds another statement"), ("PANDAS_ATTRS", "gives pandas another statement")],
)
def test_another_statement_inside_a_copy(mark, words, saved, relist):
    folder = saved("zcdp")
    path = folder / "synthetic_2.parquet"
    read = pa_parquet.read_table(path)
    metadata = {**read.schema.metadata}
    metadata[mark.encode()] = metadata[mark.encode()].replace(b"implemented", b"idealised")
    pa_parquet.write_table(read.replace_schema_metadata(metadata), path)
    relist(folder)
    assert f"synthetic_2.parquet {words}" in refused(folder)


def test_a_copy_without_marks(saved, relist):
    folder = saved("zcdp")
    pd.read_parquet(folder / "synthetic_2.parquet").to_parquet(folder / "synthetic_2.parquet", index=False)
    relist(folder)
    assert "synthetic_2.parquet holds" in refused(folder)


def test_a_copy_of_another_number(saved, relist):
    folder = saved("zcdp")
    shutil.copy(folder / "synthetic_1.parquet", folder / "synthetic_2.parquet")
    relist(folder)
    assert "synthetic_2.parquet holds another statement" in refused(folder)


def test_a_table_of_another_program_in_place_of_a_copy(saved, relist):
    folder = saved("sampled")
    plain = pa.table({name: pa.array(column) for name, column in table().items()})
    pa_parquet.write_table(plain, folder / "synthetic_1.parquet")
    relist(folder)
    assert "synthetic_1.parquet holds no statement" in refused(folder)


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_a_copy_that_is_none(file_format, saved, relist):
    folder = saved("none", format=file_format)
    (folder / f"synthetic_1.{file_format}").write_bytes(b"nothing of the kind")
    relist(folder)
    words = refused(folder)
    assert f"synthetic_1.{file_format} is not as long as n_syn says" in words
    assert ("synthetic_1.parquet cannot be read" in words) == (file_format == "parquet")


# arithmetic


@pytest.mark.parametrize("name", ["zcdp", "sampled"])
def test_false_numbers_in_all_files_alike_are_broken_and_still_load(name, releases, tmp_path):
    release = releases[name]
    smaller = sdp.ZCDP(1e-3) if name == "zcdp" else sdp.GDP(1e-3)
    false = replace(release, privacy=replace(release.privacy, guarantee=smaller))
    checked = sdp.verify(false.save(tmp_path / "false"))
    assert verdict(checked) == (12, set())
    assert "the constants do not give the stated table" in " ".join(str(checked).split())
    assert not sdp.SyntheticRelease.load(tmp_path / "false").privacy.verify().ok


def test_a_statement_that_contradicts_itself_is_broken(saved, forge):
    folder = saved("zcdp")
    forge(folder, "privacy.json", lambda card: card["total"].update(records=1))
    checked = sdp.verify(folder)
    assert checked.exit_code == 12
    assert "this statement was changed" in str(checked)


@pytest.mark.parametrize("value", ["a", -1, 0, None, [], {"a": 1}])
@pytest.mark.parametrize("key", ["scales", "row_bounds"])
def test_constants_of_any_kind_are_findings_and_no_crash(key, value, saved, forge):
    folder = saved("zcdp")
    forge(folder, "privacy.json", lambda card: card["columns"][0]["constants"].update({key: value}))
    assert sdp.verify(folder).exit_code == 12


def test_a_forgery_made_anew_in_every_file_is_said_to_lie_beyond(releases, tmp_path):
    """Copies that are the table itself, with a right statement: arithmetic and checksums are right."""
    forged = table().astype(releases["zcdp"][0].dtypes)
    whole = replace(releases["zcdp"], copies=(forged, forged))
    checked = sdp.verify(whole.save(tmp_path / "forged"))
    assert checked.exit_code == 0
    text = " ".join(str(checked).split())
    assert "this says nothing about who made it" in text
    assert "anew, all alike, is found out only by a signature" in text
    assert "Beyond this check: whether the copies were drawn as the statement says" in text


# folders that are none


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"format": "pysynthdp release", "format_version": 99}'])
def test_no_release_at_all_is_an_error_that_names_the_way_out(text, saved):
    folder = saved("none")
    (folder / "release.json").write_text(text)
    with pytest.raises(sdp.ReleaseError, match=r"take the folder anew|version that wrote it"):
        sdp.verify(folder)


@pytest.mark.parametrize("name", ["../secret.csv", "/etc/hostname", "..", ""])
def test_a_list_that_names_files_elsewhere_is_refused(name, saved):
    folder = saved("none")
    manifest = json.loads((folder / "release.json").read_text())
    manifest["copies"][0] = name
    (folder / "release.json").write_text(json.dumps(manifest))
    for read in (sdp.verify, sdp.SyntheticRelease.load):
        with pytest.raises(sdp.ReleaseError, match="outside its folder"):
            read(folder)


@pytest.mark.parametrize("file", ["privacy.json", "schema.json"])
@pytest.mark.parametrize("text", ["{", "[]", "{}", "null", '{"columns": 3}'])
def test_damaged_parts_are_findings_and_no_crash(file, text, saved, relist):
    folder = saved("zcdp")
    (folder / file).write_text(text)
    assert sdp.verify(folder).exit_code == 13
    relist(folder)
    assert sdp.verify(folder).exit_code in (12, 13)


def test_a_sum_of_statements_is_checked_as_far_as_it_speaks_of_the_copies(releases, tmp_path):
    """Two releases of one table, each with the statement of both."""
    both = PrivacyStatement.compose(releases["zcdp"].privacy, releases["sampled"].privacy)
    folder = replace(releases["sampled"], privacy=both).save(tmp_path / "both")
    assert verdict(sdp.verify(folder)) == (0, set())
    sdp.SyntheticRelease.load(folder)


@pytest.mark.parametrize(
    "names", [["x", "y", "x, y"], ["x, y", "y", "x"], ["x", "x, x"], ["a, b, c", "b", "a"]]
)
def test_names_that_hold_commas_are_found_in_a_statement_of_joined_names(names, tmp_path):
    columns = [sdp.NumericColumn(name, lower=-4, upper=4, may_be_missing=False, fallback=0) for name in names]
    frame = pd.DataFrame({name: np.linspace(-1, 1, N) ** (1 + at) for at, name in enumerate(names)})
    synthesizer = sdp.Synthesizer(schema=sdp.Schema(columns), guarantee=sdp.ZCDP(9.0), progress=False)
    assert sdp.verify(synthesizer.fit(frame).draw(m=2).save(tmp_path / "out")).ok


def test_the_read_me_of_a_release_tells_how_to_check_it_and_what_that_shows(saved):
    text = (saved("none") / "README.txt").read_text()
    assert "pysynthdp verify ." in text
    assert "only a signature tells who made them" in text
