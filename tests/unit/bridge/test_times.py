from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pysynthdp.bridge import times
from pysynthdp.bridge.codec import NA_INTEGER, NA_REAL, RVector, character

SECONDS = st.floats(allow_nan=False) | st.integers(-(2**33), 2**33).map(float) | st.floats(-1e10, 1e10)
ABSENT = st.just(float(NA_REAL))


def _doubles(values, **attributes):
    array = np.array(values, dtype=np.float64)
    array[np.isnan(array)] = NA_REAL
    return RVector("double", array, attributes)


def _same(back, vector):
    """Whether the bits are alike; zero has two signs in a double and one in a count."""
    alike = back.view(np.uint64) == vector.array.view(np.uint64)
    return bool((alike | ((back == 0) & (vector.array == 0))).all())


@settings(max_examples=150, deadline=None)
@given(st.lists(SECONDS | ABSENT, max_size=5))
def test_seconds_come_back_exactly_or_not_at_all(values):
    vector = _doubles(values)
    stamps = times.seconds_to_stamps(vector)
    assert stamps is None or _same(times.stamps_to_seconds(stamps, "double"), vector)


@settings(max_examples=150, deadline=None)
@given(st.lists(SECONDS | ABSENT, max_size=5))
def test_days_come_back_exactly_or_not_at_all(values):
    vector = _doubles(values)
    dates = times.days_to_dates(vector)
    assert dates is None or _same(times.dates_to_days(dates, "double"), vector)


@settings(max_examples=150, deadline=None)
@given(st.lists(SECONDS | ABSENT, max_size=5), st.sampled_from(["secs", "mins", "hours", "days", "weeks"]))
def test_durations_come_back_exactly_or_not_at_all(values, units):
    vector = _doubles(values, units=character([units]))
    spans = times.lengths_to_spans(vector)
    assert spans is None or _same(times.spans_to_lengths(spans, "double", units), vector)


def test_microseconds_of_today_are_held():
    values = 1.6e9 + np.arange(1000) / 1e6
    stamps = times.seconds_to_stamps(RVector("double", values))
    assert stamps.dtype == "M8[us]"
    assert (stamps - np.datetime64("2020-09-13T12:26:40")).astype(int).tolist() == list(range(1000))


def test_nan_that_is_not_na_is_no_time():
    for convert in (times.days_to_dates, times.seconds_to_stamps):
        assert convert(RVector("double", np.array([np.nan]))) is None
        assert np.isnat(convert(RVector("double", np.array([NA_REAL])))).all()


def test_years_beyond_four_digits_stay_numbers():
    assert times.days_to_dates(_doubles([2932897.0])) is None
    assert times.days_to_dates(_doubles([2932896.0]))[0] == np.datetime64("9999-12-31")
    assert times.seconds_to_stamps(_doubles([-719163.0 * 86400])) is None


def test_integer_storage_is_refused_where_it_would_round():
    stamps = np.array(["1970-01-01T00:00:01.5", "NaT"], dtype="M8[ms]")
    assert times.stamps_to_seconds(stamps, "integer") is None
    whole = times.stamps_to_seconds(stamps.astype("M8[s]"), "integer")
    assert whole.tolist() == [1, NA_INTEGER]
    assert times.dates_to_days(stamps, "double") is None


def test_zones_that_python_has_not_are_shown_in_utc():
    for name in ("Mars/Olympus", "", "../../etc/passwd", "/etc/localtime", "America", "x" * 5000):
        assert times.zone_of({"tzone": character([name])}).key == "UTC"
    assert times.zone_of({"tzone": character(["Europe/London", "GMT", "BST"])}).key == "Europe/London"
