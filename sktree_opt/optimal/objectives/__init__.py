"""The objectives of a search: costs of leaves, and metrics of two classes."""
