"""The engine for 0/1 tests, which it keeps as columns of bits (after MurTree)."""
