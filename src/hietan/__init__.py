"""Classification with hierarchical features: exact, fast, explainable."""

__version__ = "0.1.0"
