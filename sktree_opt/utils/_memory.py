"""Amounts of memory as users write them."""

import re
from numbers import Real

UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def parse_memory(limit):
    """Bytes of a `memory_limit`: a number of bytes, or a string such as ``"2GB"``; None is None."""
    if limit is None:
        return None
    if isinstance(limit, Real) and 1 <= limit < float("inf"):
        return int(limit)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(limit))
    unit = UNITS.get(match.group(2).upper().removesuffix("B") + "B") if match else None
    if match and match.group(2).upper() in ("", "B"):
        unit = 1
    n_bytes = 0 if unit is None else int(float(match.group(1)) * unit)
    if n_bytes <= 0:
        raise ValueError(
            f"memory_limit must be a positive number of bytes or a string such as '2GB', got "
            f"{limit!r}."
        )
    return n_bytes
