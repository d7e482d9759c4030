"""The engine for every threshold of numeric columns, by ranks (after ConTree)."""
