"""Dates, times and durations as numbers: seconds, in columns that are ordered like numbers.

A date or time is the number of seconds since the beginning of 1970, in UTC if it has a time zone; a
duration is its number of seconds. Both are whole microseconds.
"""

import datetime
import math

import numpy as np

from sktree_opt.utils._validation import is_missing

DATETIME, DATETIME_UTC, TIMEDELTA = "datetime", "datetime_utc", "timedelta"
TIME_KINDS = (DATETIME, DATETIME_UTC, TIMEDELTA)
# Kinds in messages.
NAMES = {
    DATETIME: "dates or times without a time zone",
    DATETIME_UTC: "times with a time zone",
    TIMEDELTA: "durations",
}

# Where a threshold is put if it can be, the coarsest first. Seconds are 0 for months and years.
STEPS = (("Y", 0), ("M", 0), ("D", 86400), ("h", 3600), ("m", 60), ("s", 1))
DAY = 86400.0


def kind_of_types(types):
    """The kind of time of the cells of an object column by their types; None for other cells."""
    known = {t for t in types if t is not type(None) and t.__name__ not in ("NAType", "NaTType")}
    known -= {float} if known - {float} else set()
    if known and all(issubclass(t, (datetime.date, np.datetime64)) for t in known):
        return DATETIME
    if known and all(issubclass(t, (datetime.timedelta, np.timedelta64)) for t in known):
        return TIMEDELTA
    return None


def seconds_of_array(values):
    """Seconds of an array of numpy's datetime64 or timedelta64; NaN for NaT."""
    ticks = values.astype(f"{values.dtype.kind}8[us]").astype(np.int64)
    return np.where(np.isnat(values), np.nan, ticks / 1e6)


def kind_of_value(value):
    """The kind of time that a cell is; None for any other cell."""
    if isinstance(value, (datetime.timedelta, np.timedelta64)):
        return TIMEDELTA
    if getattr(value, "tzinfo", None) is not None:
        return DATETIME_UTC
    return DATETIME if isinstance(value, (datetime.date, np.datetime64)) else None


def seconds_of_value(value, kind, name):
    """Seconds of one cell, which may be written in ISO format; None if it is missing.

    Parameters
    ----------
    value : object
        The cell.

    kind : str
        What its column holds, one of ``TIME_KINDS``.

    name : str
        Of the column.
    """
    if is_missing(value) or (isinstance(value, np.generic) and np.isnat(value)):
        return None
    if isinstance(value, str) and kind != TIMEDELTA:
        try:
            value = datetime.datetime.fromisoformat(value)
        except ValueError as error:
            raise ValueError(f"Column {name!r} holds dates or times, got {value!r}.") from error
    found = kind_of_value(value)
    if found != kind:
        what = repr(value) if found is None else NAMES[found]
        raise TypeError(f"Column {name!r} held {NAMES[kind]} in fit, got {what}.")
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return float(seconds_of_array(np.array([value]))[0])
    if kind == TIMEDELTA:
        return value.total_seconds()
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC if kind == DATETIME_UTC else None)
    return (value - epoch).total_seconds()


def time_of_seconds(seconds, kind):
    """The ``datetime`` or ``timedelta`` of so many seconds; numpy's where Python has none."""
    microseconds = round(seconds * 1e6)
    if kind == TIMEDELTA:
        return datetime.timedelta(microseconds=microseconds)
    found = np.datetime64(microseconds, "us")
    value = found.item()
    if not isinstance(value, datetime.datetime):
        return found
    return value.replace(tzinfo=datetime.UTC) if kind == DATETIME_UTC else value


def time_text(seconds, kind):
    """A date, a time or a duration as text: no more of it than is not zero."""
    if kind == TIMEDELTA:
        days, rest = divmod(round(seconds * 1e6), 86_400_000_000)
        clock = str(datetime.timedelta(microseconds=rest))
        clock = clock.removesuffix(":00")
        days_text = f"{days} day{'' if days == 1 else 's'}"
        return days_text if rest == 0 else clock if days == 0 else f"{days_text} {clock}"
    text = str(np.datetime64(round(seconds * 1e6), "us")).replace("T", " ")
    for end in (".000000", ":00", " 00:00"):
        text = text.removesuffix(end)
    return f"{text}+00:00" if kind == DATETIME_UTC else text


def round_time(lower, upper, kind):
    """A threshold between two times, in seconds: a round one near their middle.

    The coarsest of a year, a month, a day, an hour, a minute and a second that begins in the middle
    half between the two. Days that follow each other have none; the threshold is then `lower`.
    """
    middle, margin = lower / 2.0 + upper / 2.0, (upper - lower) / 4.0
    for unit, length in STEPS:
        if length == 0 and kind == TIMEDELTA:
            continue
        if length == 0:
            near = np.datetime64(round(middle), "s").astype(f"M8[{unit}]")
            following = near + np.timedelta64(1, unit)
            starts = [t.astype("M8[s]").astype(np.int64) for t in (near, following)]
        else:
            starts = [math.floor(middle / length) * length, math.ceil(middle / length) * length]
        good = [float(t) for t in starts if lower + margin <= t <= upper - margin]
        if good:
            return min(good, key=lambda t: abs(t - middle))
        if unit == "D" and lower % DAY == 0.0 and upper % DAY == 0.0:
            return lower
    return middle if lower < middle < upper else lower
