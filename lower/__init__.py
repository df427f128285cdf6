"""jaxpr -> StableHLO -> XLA executable, and the arrays that users hold."""
