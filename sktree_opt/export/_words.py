"""Names and numbers as exports write them: on one line, and not to be taken for anything else."""

import json
import re
from numbers import Integral

import numpy as np

from sktree_opt.preprocessing._times import kind_of_value, seconds_of_value, time_text

# Characters that end a line, are invisible, or cannot be written to a file.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# Words of the exports themselves.
WORDS_AROUND_NAMES = re.compile(
    r"[<>=]|^[\"|]|^\s|\s$|^$| in \{| and | then | is (?:not )?missing| is any other|or missing$"
)


def number_text(value, precision=None):
    """A number as short as `precision` allows; with all its digits for None."""
    value = float(value)
    if value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    if precision is None:
        return repr(value)
    if 10.0**precision <= abs(value) < 1e16:
        return f"{value:.0f}"
    return f"{value:.{precision}g}"


def digits_that_separate(numbers, precision):
    """The least number of significant digits from `precision` on that keeps `numbers` apart.

    None is moved by more than a tenth of the way to the next, so that they are in order, and about
    where they belong. None means all digits.
    """
    distinct = np.unique(numbers)
    # Halves, as the difference of two large numbers may overflow.
    gaps = np.diff(distinct / 2.0)
    room = np.minimum(np.append(np.inf, gaps), np.append(gaps, np.inf)) / 5.0
    for digits in range(precision, 17):
        rounded = np.array([float(number_text(number, digits)) for number in distinct])
        if np.all(np.abs(rounded - distinct) <= room):
            return digits
    return None


def quoted(text):
    """A text in quotes, with escapes as in JSON."""
    return CONTROL.sub(
        lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False)
    )


def one_line(text):
    """A text as it is, in quotes where it holds a control character."""
    return quoted(text) if CONTROL.search(text) else text


def name_text(name):
    """A feature's name before a test, in quotes where it would be taken for part of the test."""
    is_plain = not (CONTROL.search(name) or WORDS_AROUND_NAMES.search(name) or is_number(name))
    return name if is_plain else quoted(name)


def category_text(value):
    """A category or cell: numbers, Booleans and times as they are, anything else in quotes."""
    if kind := kind_of_value(value):
        return time_text(seconds_of_value(value, kind, ""), kind)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return number_text(value)
    return str(value) if isinstance(value, (bool, Integral)) else quoted(str(value))


def is_number(text):
    """Whether a string reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
