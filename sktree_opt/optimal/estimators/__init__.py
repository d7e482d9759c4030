"""The public estimators: they check what they are given, call ``run`` and keep attributes."""
