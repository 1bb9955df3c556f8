"""Each check of a row backend bites: a backend that breaks one promise is told of that one, in words."""

from __future__ import annotations

from functools import reduce

import pandas as pd
import pytest

from pysynthdp.curator.rows import rows_of
from pysynthdp.testing import check_rows, rows_checks


class Frames:
    """A list of frames: keeps every promise."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frames = [frame.iloc[:50], frame.iloc[50:51], frame.iloc[51:]]

    @property
    def n_rows(self):
        return sum(map(len, self.frames))

    @property
    def columns(self):
        return tuple(self.frames[0].columns)

    @property
    def dtypes(self):
        return dict(self.frames[0].dtypes)

    def take(self, columns):
        return pd.concat([frame[list(columns)] for frame in self.frames])

    def fold(self, of_block, merge):
        return reduce(merge, map(of_block, self.frames))


@pytest.mark.parametrize("block_rows", [None, 1, 43, 1000])
def test_the_frame_s_own_backend_keeps_the_contract(block_rows):
    check_rows(lambda frame: rows_of(frame, block_rows))


def test_a_list_of_frames_keeps_the_contract():
    check_rows(Frames)
    check_rows(Frames, table=pd.DataFrame({"a": [0.5, 1.5] * 99, "b": list("xyz") * 66}))


class Mute(Frames):
    dtypes = property()

    def __getattribute__(self, name):
        if name == "dtypes":
            raise AttributeError(name)
        return super().__getattribute__(name)


class Short(Frames):
    n_rows = property(lambda self: len(self.frames[0]))


class Untyped(Frames):
    dtypes = property(lambda self: dict.fromkeys(self.columns, "object"))


class Talking(Frames):
    def __repr__(self):
        return f"Frames({self.frames})"


class Sorted(Frames):
    def take(self, columns):
        return super().take(sorted(columns))


class Bare(Frames):
    def take(self, columns):
        return super().take(columns).reset_index(drop=True)


class Backwards(Frames):
    def fold(self, of_block, merge):
        return reduce(lambda left, right: merge(right, left), map(of_block, self.frames))


class Spent(Frames):
    def __init__(self, frame):
        super().__init__(frame)
        self.reading = iter(self.frames)

    def fold(self, of_block, merge):
        blocks = [of_block(frame) for frame in self.reading]
        return reduce(merge, blocks) if blocks else []


class Widened(Frames):
    def fold(self, of_block, merge):
        blocks = [self.frames[0].astype({"age": "float64"}), *self.frames[1:]]
        return reduce(merge, map(of_block, blocks))


class Absent(Frames):
    def fold(self, of_block, merge):
        return reduce(merge, [of_block(frame) for frame in self.frames if len(frame)])


class Wrapping(Frames):
    def fold(self, of_block, merge):
        try:
            return super().fold(of_block, merge)
        except LookupError as problem:
            msg = "reading failed"
            raise RuntimeError(msg) from problem


class Torn(Frames):
    def fold(self, of_block, merge):
        try:
            return super().fold(of_block, merge)
        except LookupError:
            self.frames.pop()
            raise


class Rounded(Frames):
    def fold(self, of_block, merge):
        return reduce(merge, [of_block(frame.round({"income": 0})) for frame in self.frames])


FAULTS = {
    Mute: ("tells_what_it_is", "lacks a member"),
    Short: ("tells_what_it_is", "n_rows is 50 of 211"),
    Untyped: ("tells_what_it_is", "dtypes of age, "),
    Talking: ("shows_no_cell", "quotes a cell"),
    Sorted: (
        "takes_columns",
        r"take\(\['born', 'visits', 'smokes'\]\) has 211 rows and columns \['born', 's",
    ),
    Bare: ("takes_columns", "has another index"),
    Backwards: ("folds_every_row_in_order_and_again", "the first fold, .* has another index"),
    Spent: ("folds_every_row_in_order_and_again", "the second fold, .* has 0 rows"),
    Widened: (
        "blocks_have_the_types_of_the_columns",
        "block 1 has other types than .* for age",
    ),
    Absent: ("no_rows_are_one_empty_block", "raised TypeError"),
    Wrapping: ("lets_errors_through", "came out as RuntimeError"),
    Torn: ("lets_errors_through", "the next fold saw 51 of 211 rows"),
    Rounded: ("fits_and_draws_as_the_frame", "not that of the frame|differs from the frame"),
}


@pytest.mark.parametrize("backend", FAULTS, ids=lambda backend: backend.__name__)
def test_a_planted_fault_is_named(backend):
    check, words = FAULTS[backend]
    checks = {str(each): each for each in rows_checks(backend)}
    with pytest.raises(AssertionError, match=words) as caught:
        checks[check]()
    assert "why it matters: " in str(caught.value)
    assert "to mend it: " in str(caught.value)
    assert "zanzibar" not in str(caught.value)


def test_every_check_has_a_planted_fault():
    assert {str(check) for check in rows_checks(Frames)} == {check for check, _ in FAULTS.values()}


def test_all_faults_are_told_at_once():
    with pytest.raises(AssertionError, match=r"Bare breaks \d of its promises"):
        check_rows(Bare)
