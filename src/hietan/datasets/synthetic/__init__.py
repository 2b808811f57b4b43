"""Synthetic data: `dag` draws a hierarchy, `annotate` draws rows that respect it, `make` joins the two."""

from hietan.datasets.synthetic.make import make_hierarchical_classification

__all__ = ["make_hierarchical_classification"]
