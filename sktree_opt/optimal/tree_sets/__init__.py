"""The engine that keeps several trees at each node: Pareto fronts and the k best."""
