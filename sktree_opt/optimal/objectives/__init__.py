"""What a search minimises: costs of leaves, and metrics of two classes."""
