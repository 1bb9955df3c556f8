import re
from pathlib import Path

import pytest

import pysynthdp
from pysynthdp.bridge.wording import in_r_words


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("drop=['id'], method={'id': 'serial'}", 'drop = "id", method = list(id = "serial")'),
        ("missing={'inc': {-8: 'refused', -9: 'x'}}", 'missing = list(inc = c("refused" = -8, "x" = -9))'),
        ("spikes={'wage': [0]}", "spikes = list(wage = 0)"),
        ("write missing={'a b': ...}", "write missing = list(`a b` = ...)"),
        ("give a list, keep=[...]", "give a list, keep = c(...)"),
        ("deltas=(1e-6,)", "deltas = 1e-6"),
        ("set proper=True or may_be_missing=False", "set proper = TRUE or may_be_missing = FALSE"),
        ("'income ~ age + I(age ** 2)'", "'income ~ age + I(age^2)'"),
        ("fit needs a pandas DataFrame", "fit needs a data frame"),
        ("in schema=Schema([...])", "in schema = list(...)"),
        ("the formula 'a = b' has no '~'", "the formula 'a = b' has no '~'"),
        ("", ""),
    ],
)
def test_messages_are_written_as_r_users_write(ours, theirs):
    assert in_r_words(ours) == theirs


def test_no_message_of_the_package_keeps_python_words():
    """Every text that is raised in the package, its placeholders filled with a name."""
    found = set()
    for path in Path(pysynthdp.__file__).parent.rglob("*.py"):
        if path.parts[-2] in ("bridge", "codec") or path.name == "cli.py":
            continue
        for block in re.findall(
            r"raise \w+Error\((.*?)\)(?: from \w+)?\n", path.read_text("utf-8"), flags=re.DOTALL
        ):
            text = "".join(re.findall(r'f?"((?:[^"\\]|\\.)*)"', block))
            text = text.replace("{{", "\0").replace("}}", "\1")
            text = re.sub(r"\{[^{}]*!r\}", "'income'", text)
            text = re.sub(r"\{[^{}]*\}", "income", text)
            found.add(text.replace("\0", "{").replace("\1", "}"))
    assert len(found) > 100
    words = re.compile(r"\bTrue\b|\bFalse\b|\bNone\b|DataFrame|\bpandas\b|\bnumpy\b|\{'|=\{|=\[|\[\.\.\.\]")
    left = {text for text in map(in_r_words, found) if words.search(text)}
    assert not left
