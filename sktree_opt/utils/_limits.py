"""Limits on a search as users write them."""

import re
from numbers import Integral

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def parse_memory_limit(limit):
    """Bytes of a limit such as 200000000, "200MB" or "2GB"; None for None."""
    if limit is None:
        return None
    if isinstance(limit, Integral):
        amount = int(limit)
    else:
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?)B?\s*", str(limit).upper())
        if match is None:
            raise ValueError(
                f"memory_limit={limit!r} is neither a number of bytes nor a size such as '2GB'."
            )
        amount = int(float(match[1]) * UNITS[match[2]])
    if amount <= 0:
        raise ValueError(f"memory_limit={limit!r} must be positive.")
    return amount
