"""Reports of a job: where they lie, who may read them, and that a guarantee has none of the records."""

from __future__ import annotations

from itertools import product

import pytest
from job_places import NOISED, OPEN

from pysynthdp.base.errors import PrivacyError, PysynthdpError
from pysynthdp.evaluate.report import report
from pysynthdp.jobs import evaluated


def with_documents(text, *names):
    documents = "documents = [" + ", ".join(f'"{name}"' for name in names) + "]"
    return text.replace("[output]", f"[output]\n{documents}", 1)


def test_a_board_and_the_public_get_their_reports(place_of):
    place = place_of(with_documents(OPEN, "board", "note"))
    place.run()
    own = place.places.own
    names = {path.name for path in own.iterdir()}
    assert {"INTERNAL_board.html", "INTERNAL_board.json", "quality_note.html"} <= names
    assert (own / "INTERNAL_board.html").stat().st_mode & 0o077 == 0
    assert "INTERNAL" not in (own / "quality_note.html").read_text("utf-8")
    assert not [path for path in place.places.folder.iterdir() if "board" in path.name]


def test_a_board_reads_why_copies_are_in_quarantine(place_of):
    place = place_of(with_documents(OPEN, "board"))
    place.write(("[gates]", "[gates]\nmax_pmse_ratio_2way = 0.0"))
    with pytest.raises(PysynthdpError, match="gate"):
        place.run()
    assert "FAIL" in (place.places.own / "INTERNAL_board.html").read_text("utf-8")


def test_under_a_guarantee_there_is_a_note_and_no_report_of_the_records(place_of):
    place = place_of(with_documents(NOISED, "board"), "refused")
    with pytest.raises(PrivacyError, match="asks for board"):
        place.run()
    assert not place.places.folder.exists()
    place = place_of(with_documents(NOISED, "note"), "noted")
    place.run()
    assert "rho" in (place.places.own / "quality_note.html").read_text("utf-8")


def test_gates_and_the_board_measure_copies_once(place_of, monkeypatch):
    asked = []
    for room, name in product((evaluated, report), ("compare", "disclosure_risk")):
        monkeypatch.setattr(room, name, counted(asked, name, getattr(room, name)))
    place = place_of(with_documents(OPEN, "board"))
    keys = "max_repu_percent = {pair = 100.0}\nkeys = {pair = ['sex', 'age']}"
    more = f"[gates]\nmax_pmse_ratio_2way = 50.0\n{keys}"
    place.write(("[gates]", more))
    done = place.run()
    assert sorted(asked) == ["compare", "disclosure_risk"]
    alone = place_of(OPEN, "alone")
    alone.write(("[gates]", more))
    kinds = [[(each.gate, each.limit) for each in one.outcomes] for one in (done, alone.run())]
    assert kinds[0] == kinds[1]


def counted(asked, name, real):
    def call(*args, **more):
        asked.append(name)
        return real(*args, **more)

    return call
