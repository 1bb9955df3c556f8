"""A job file is checked before a row is read: keys, forms, what goes together, digest, approval, site."""

from __future__ import annotations

import tomllib
from datetime import date

import pandas as pd
import pytest
from job_places import COSTLY, NOISED, OPEN

from pysynthdp.base.errors import BudgetExceeded, PlanError, PrivacyError, PysynthdpError
from pysynthdp.io.csv.form import Form
from pysynthdp.jobs.checked import check_budget, checked_job
from pysynthdp.jobs.header import check_columns, headers_of
from pysynthdp.jobs.job_file import read_job
from pysynthdp.jobs.planned import planned_job
from pysynthdp.jobs.site import Site, check_approval, read_site


@pytest.mark.parametrize(
    ("text", "old", "new", "said"),
    [
        (OPEN, "purpose =", "purpos =", "did you mean 'purpose'"),
        (OPEN, "m = 2", "mm = 2", "did you mean 'm'"),
        (OPEN, "rules =", "ruls =", "did you mean 'rules'"),
        (OPEN, "public-analysis", "fun", "purpose must be one of"),
        (OPEN, "m = 2", "m = 0", "sample.m must be a whole number of at least 1"),
        (OPEN, "m = 2", 'm = 2\nk = "all"', "as-original"),
        (OPEN, "version = 1", "version = 2", "version = 1"),
        (OPEN, 'job = "people-2025"', 'job = ""', "has no name"),
        (OPEN, 'path = "people.csv"', 'path = "none.csv"', "input.path: there is no"),
        (OPEN, 'path = "people.csv"', 'path = "people.csv"\nsha256 = "12"', "64 hexadecimal"),
        (OPEN, 'path = "people.csv"', 'path = "people.csv"\ntable = "t"', "goes with a database"),
        (OPEN, 'path = "people.csv"', 'database = "postgresql://x"', "env:NAME"),
        (OPEN, 'path = "people.csv"', 'database = "env:X"', "table or query"),
        (OPEN, 'path = "people.csv"', 'database = "env:X"\ntable = "t"', "order_by"),
        (OPEN, 'path = "people.csv"', "", "a path or a database"),
        (OPEN, '"parquet"', '"xlsx"', "output.formats must be a list of some of"),
        (
            OPEN,
            "formats =",
            'documents = ["board-report"]\nformats =',
            "output.documents must be a list of some of",
        ),
        (OPEN, "rules_failed = 0", "max_rho = 1.0", "without a guarantee there is none"),
        (OPEN, "[sample]", '[budget]\nledger = "l.db"\n[sample]', "needs ledger and source"),
        (OPEN, "[sample]", '[budget]\nledger = "l.db"\nsource = "S"\n[sample]', "the plan has none"),
        (OPEN, "[sample]", '[limits]\nscratch = "no"\n[sample]', "no folder"),
        (OPEN, "[sample]", "[approval]\nexpires = '2026-01-01'\n[sample]", "must be a day"),
        (OPEN, 'folder = "out/people"', "", "names no folder"),
        (OPEN, "[output]", "[outputs]", "did you mean 'output'"),
        (NOISED, 'drop = ["smoke", "cigarettes"]', "drop = 3", "plan: drop must be a list"),
        (NOISED, 'codebook = "codebook.toml"', "", "declare every column in a codebook"),
        (NOISED, "k = 200", 'k = 200\nseed_file = "none"', ""),
        (NOISED, 'name = "person"', 'name = "person", relation = "add_remove"', ""),
        (COSTLY, "k = 200", 'k = 200\nseed_file = "codebook.toml"', "the system's entropy"),
    ],
)
def test_slips_are_told(place_of, text, old, new, said):
    place = place_of(text)
    file = place.write((old, new))
    if not said:
        checked_job(file, Site())
        return
    with pytest.raises(PysynthdpError, match=said):
        checked_job(file, Site())


def test_the_whole_job_is_written_out_and_is_the_same_job(place_of):
    place = place_of(NOISED)
    job = read_job(place.file)
    plain = tomllib.loads(job.expanded())
    assert plain["output"]["watermark"] is True
    place.file.with_name("again.toml").write_text(
        job.expanded().replace(f"{place.folder}/", ""), encoding="utf-8"
    )
    again = read_job(place.file.with_name("again.toml"))
    assert (again.input, again.sample, again.gates, again.plan) == (
        job.input,
        job.sample,
        job.gates,
        job.plan,
    )


def test_the_digest_is_of_all_but_the_approval(place_of):
    place = place_of(NOISED)
    first = read_job(place.file)
    place.write(("version = 1", "# a comment\nversion = 1"))
    place.write(("[sample]", "[approval]\nreference = 'DRB'\n[sample]"))
    assert read_job(place.file).digest == first.digest
    place.write(("[sample]", "[limits]\nworkers = 1\n[sample]"))
    limited = read_job(place.file)
    assert (limited.digest == first.digest, limited.what == first.what) == (False, True)
    (place.folder / "codebook.toml").write_text(
        (place.folder / "codebook.toml").read_text() + "\n", encoding="utf-8"
    )
    changed = read_job(place.file)
    assert changed.what != first.what  # what the job names counts too
    place.write(("m = 2", "m = 3"))
    assert read_job(place.file).digest not in (first.digest, changed.digest)


def test_an_approval_ends_and_is_of_one_job(place_of):
    place = place_of(OPEN)
    digest = read_job(place.file).digest
    ends = f"reference = 'DRB-1'\napproved_by = 'Ann'\njob_sha256 = '{digest}'\nexpires = 2026-09-30\n"
    place.write(("[sample]", f"[approval]\n{ends}[sample]"))
    job, strict = read_job(place.file), Site(require_approval=True)
    check_approval(job, strict, today=date(2026, 9, 30))
    with pytest.raises(PrivacyError, match="ended on 2026-09-30"):
        check_approval(job, strict, today=date(2026, 10, 1))
    place.write(("m = 2", "m = 3"))
    with pytest.raises(PrivacyError, match="of another job"):
        check_approval(read_job(place.file), strict, today=date(2026, 9, 30))
    place.write(("approved_by = 'Ann'\n", ""))
    with pytest.raises(PrivacyError, match=r"asks for approval\.approved_by"):
        check_approval(read_job(place.file), strict, today=date(2026, 9, 30))


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("require_approval = true", "no .approval."),
        ("require_guarantee = true", "asks for a guarantee"),
        ("require_sha256 = true", "input.sha256"),
        ('output_folders = ["/release"]', "output_folders"),
        ('formats = ["csv"]', "output.formats"),
        ("workers = 1", "limits.workers is at most 1"),
        ("memory_gb = 1", ""),
        ("workrs = 1", "did you mean 'workers'"),
    ],
)
def test_a_site_has_rules(place_of, monkeypatch, policy, said):
    place = place_of(OPEN)
    file = place.write(("[sample]", "[limits]\nworkers = 2\n[sample]"))
    where = place.folder / "site.toml"
    where.write_text(policy, encoding="utf-8")
    monkeypatch.setenv("PYSYNTHDP_SITE", str(where))
    if not said:
        assert checked_job(file, read_site()).job.limits.memory_gb == 1
        return
    with pytest.raises(PysynthdpError, match=said):
        checked_job(file, read_site())


def test_a_site_says_which_ledgers_pay(place_of):
    file = place_of(NOISED).file
    with pytest.raises(PlanError, match=r"budget\.ledger"):
        checked_job(file, Site(ledgers=("/secure/other.db",)))
    text = NOISED.replace('[budget]\nledger = "people.db"\nsource = "REG"\n', "")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(PrivacyError, match="asks for a ledger"):
        checked_job(file, Site(require_ledger=True))


def test_a_plan_tells_steps_price_time_and_memory_without_a_row(place_of, monkeypatch):
    place = place_of(NOISED)
    monkeypatch.setattr("pysynthdp.jobs.running.rows_of_file", None)
    (place.folder / "people.csv").write_text("never read", encoding="utf-8")
    planned = planned_job(checked_job(place.file, Site()))
    text = str(planned)
    for part in ("rho = 2.0", "left to the source", "2 copies of 200 rows", "max_rho", "about"):
        assert part in text
    plain = planned.to_dict()
    assert [step["step"] for step in plain["steps"]] == ["input", "fit", "draw", "gates", "release"]
    assert plain["time_seconds"] > 0
    assert [line["draws"] for line in plain["columns"]] == ["sex", "age"]


def test_more_than_is_left_is_refused_before_a_row_is_read(place_of):
    place = place_of(NOISED)
    place.write(("rho = 2.0\nunit", "rho = 2.6\nunit"), ("max_rho = 2.0", ""))
    (place.folder / "people.csv").write_text("never read", encoding="utf-8")
    with pytest.raises(BudgetExceeded):
        check_budget(checked_job(place.file, Site()))
    with pytest.raises(BudgetExceeded):
        place.run()
    assert place.kinds() == ["limit"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ('drop = ["sx"]', "drop names 'sx', which is no column; did you mean 'sex'"),
        ("top_code = { agee = 80 }", "top_code names 'agee'"),
        ('text = ["postcode"]', "text names 'postcode'"),
        ('method = { smke = "cart" }', "method names 'smke'"),
        ('nested = { sex = "region" }', "nested names 'region'"),
        ('derive = { old = "agee > 60" }', "names 'agee', which is no column"),
    ],
)
def test_names_of_no_column_are_told_by_the_header_alone(place_of, changed, said):
    place = place_of(OPEN)
    (place.folder / "people.csv").write_text("sex;age;smoke;cigarettes\nthis is never read", encoding="utf-8")
    check_columns(checked_job(place.file, Site()))
    place.write(("[plan]", f"[plan]\n{changed}"), ('rules = ["age >= 16"]', 'rules = ["agee >= 16"]'))
    with pytest.raises(PysynthdpError) as caught:
        check_columns(checked_job(place.file, Site()))
    assert said in str(caught.value)
    assert "rules: " in str(caught.value)
    with pytest.raises(PysynthdpError, match="which is no column"):
        place.run()
    assert not place.places.state.exists()


@pytest.mark.parametrize("ending", [".parquet", ".sav", ".csv.gz", ".tsv"])
def test_the_headers_of_every_kind_of_file_is_read(tmp_path, ending):
    frame = pd.DataFrame({"sex": ["F", "M"], "height cm": [170.5, 180.5]})
    if ending == ".sav":
        pytest.importorskip("pyreadstat").write_sav(
            frame.rename(columns={"height cm": "cm"}), tmp_path / "a.sav"
        )
    elif ending == ".parquet":
        frame.to_parquet(tmp_path / "a.parquet")
    else:
        frame.to_csv(tmp_path / f"a{ending}", index=False, quoting=1, sep="\t" if ending == ".tsv" else ",")
    found = headers_of(tmp_path / f"a{ending}", Form())
    assert ["sex", "cm" if ending == ".sav" else "height cm"] in found
    (tmp_path / f"b{ending}").write_bytes(b"\x00\xff")
    assert not headers_of(tmp_path / f"b{ending}", Form())  # said when it is read


def test_under_a_guarantee_no_header_is_looked_at(place_of, monkeypatch):
    place = place_of(NOISED)
    monkeypatch.setattr("pysynthdp.jobs.header.headers_of", lambda *_: pytest.fail("looked"))
    check_columns(checked_job(place.file, Site()))


def test_times_are_told_by_rows_columns_and_what_protects(place_of):
    """Measured, in CPU seconds: 17 for 10^5 rows of 15 columns, 12 for 5,000 of 35 in four formats."""
    place = place_of(OPEN)

    def seconds(columns, rows, m, formats):
        (place.folder / "people.csv").write_text(",".join(f"c{at}" for at in range(columns)) + "\n")
        text = OPEN.replace("[plan]", f"n = {rows}\n[plan]").replace("m = 2", f"m = {m}")
        text = text.replace('["csv", "parquet"]', formats)
        place.file.write_text(text, encoding="utf-8")
        return planned_job(checked_job(place.file, Site())).seconds

    assert 17 / 3 < seconds(15, 10**5, 2, '["csv", "parquet"]') < 17 * 3
    assert 12.5 / 3 < seconds(35, 5000, 5, '["csv", "sav", "dta", "xpt"]') < 12.5 * 3
    assert 4 / 3 < seconds(14, 3000, 2, '["csv", "parquet"]') < 4 * 3
