"""Vector types and instruction sets of the kernels."""
