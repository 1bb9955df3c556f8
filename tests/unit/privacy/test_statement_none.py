"""A statement without a guarantee says so, in words, and quotes no number."""

import json

import pytest

from pysynthdp.errors import PrivacyError
from pysynthdp.privacy.column_statement import ColumnStatement, Draw
from pysynthdp.privacy.statement import PrivacyStatement
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
    assert "Learned from the confidential data: The levels of sex." in card
    assert "one person" in statement.plain_language()


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
