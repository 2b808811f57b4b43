"""Synthetic data: `dag` draws a hierarchy, `annotate` draws rows that respect it, `make` joins the two."""
