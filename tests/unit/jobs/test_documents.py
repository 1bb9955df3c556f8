"""Reports of a job: where they lie, who may read them, and that a guarantee has none of the records."""

from __future__ import annotations

import pytest
from job_places import NOISED, OPEN

from pysynthdp.base.errors import PrivacyError, PysynthdpError


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
