"""Question sets with quoted gold, metrics, intervals, and the benches that use them."""
