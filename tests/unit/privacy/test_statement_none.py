"""A statement without a guarantee says so, in words, and quotes no number."""

import json

import pytest

from pysynthdp.base.errors import PrivacyError
from pysynthdp.privacy.statements.column import ColumnStatement, Draw
from pysynthdp.privacy.statements.statement import PrivacyStatement
from pysynthdp.privacy.unit import PrivacyUnit


@pytest.fixture
def statement():
    columns = [
        ColumnStatement("age", "norm", "none", "its variance is estimated from the data"),
        ColumnStatement("sex", "logreg", "none", "the regression has no public penalty"),
    ]
    return PrivacyStatement.none(
        columns,
        reason="no model of this plan has a formal guarantee",
        unit=PrivacyUnit(name="person"),
        public=["The plan was written before the data were read."],
        learned=["The levels of sex."],
        draws=[(944, 5), Draw(n_syn=100, copies=1)],
    )


def test_survives_json(statement):
    assert PrivacyStatement.from_dict(json.loads(json.dumps(statement.to_dict()))) == statement


def test_no_epsilon_anywhere(statement):
    texts = [
        json.dumps(statement.to_dict()),
        str(statement),
        statement._repr_html_(),
        statement.plain_language(),
    ]
    assert all("epsilon" not in text.lower() and "delta" not in text.lower() for text in texts)


def test_totals_count_every_draw(statement):
    assert (statement.copies, statement.records) == (6, 4820)
    assert statement.to_dict()["total"] == {"copies": 6, "records": 4820}


def test_card_says_none_with_reasons(statement):
    card = str(statement)
    assert "no formal guarantee" in card
    assert "its variance is estimated from the data" in card
    assert "Learned from the confidential data: the levels of sex" in card
    assert "one person" in statement.plain_language()


def test_what_was_learned_is_in_short_in_words_and_in_full_in_the_file():
    levels = ", ".join(f"level {i}" for i in range(60))
    facts = ["types and decimals of age", "levels of sex: F, M", f"levels of job: {levels}", "the parameters"]
    statement = PrivacyStatement.none([ColumnStatement("age", "norm", "none", "x")], learned=facts)
    words = statement.plain_language()
    assert (
        "Learned from the confidential data: types and decimals of age; levels of sex, job; the parameters."
    ) in words
    assert "does not cover other publications from the same confidential data: their losses" in words
    assert statement.to_dict()["learned"] == facts
    for text in (str(statement), statement.to_table().to_html(), repr(statement)):
        assert "level 3" not in text
        assert "F, M" not in text
    card = " ".join(str(statement).replace("\n", " ").split())
    assert "types and decimals of age; levels of sex, job; the parameters; the lists are in to_dict()" in card


def test_real_columns_are_loud():
    kept = ColumnStatement("region", "kept real", "none", "asked for")
    statement = PrivacyStatement.none([ColumnStatement("age", "norm", "none", "x"), kept])
    assert "synthetic but for the REAL values of region" in statement.plain_language()
    assert ("Released REAL", "region") in statement.to_table().facts


def test_other_schema_version_is_refused(statement):
    plain = statement.to_dict() | {"schema_version": 99}
    with pytest.raises(PrivacyError, match="schema_version"):
        PrivacyStatement.from_dict(plain)


@pytest.mark.parametrize("bad", [{"relation": "swap"}, {"rows_per_unit": 0}, {"name": " "}])
def test_bad_unit(bad):
    with pytest.raises(PrivacyError):
        PrivacyUnit(**bad)


@pytest.mark.parametrize("draw", [(0, 1), (10, -1), (10.5, 1)])
def test_bad_draw(draw):
    with pytest.raises(PrivacyError):
        Draw(*draw)


def test_where_nothing_is_claimed_nothing_is_called_right(statement):
    found = statement.verify()
    assert (found.agrees, found.ok, found.checks) == (True, False, ())
    assert "no guarantee is stated, so there is no number to recompute" in str(found)


def test_a_card_without_a_guarantee_has_no_line_that_only_one_would_need(statement):
    table = statement.to_table()
    assert not {"Guarantee", "Status", "Protected unit", "Neighbours"} & {label for label, _ in table.facts}
    assert table.columns == ("column", "method", "why there is no guarantee")
    assert "neighbours" not in statement.to_dict()


def test_a_file_without_a_guarantee_is_never_called_publishable(statement):
    plain = statement.to_dict()
    assert "publishable" not in plain
    assert plain["statement_may_be_published"] is True
    assert "confidential data" in statement.plain_language()


def test_a_statement_of_the_first_layout_is_read(statement):
    plain = statement.to_dict()
    first = {key: value for key, value in plain.items() if key != "statement_may_be_published"}
    first |= {"schema_version": 1, "publishable": True, "neighbours": statement.unit.neighbours}
    assert PrivacyStatement.from_dict(first) == statement
    for changed in ({"publishable": False}, {"neighbours": "two tables"}, {"total": {}}):
        with pytest.raises(PrivacyError, match="changed"):
            PrivacyStatement.from_dict(first | changed)
