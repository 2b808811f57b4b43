"""Studies: every method on every dataset, for every seed and fold. You can resume an interrupted study."""
