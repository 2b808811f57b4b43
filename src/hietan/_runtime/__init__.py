"""Helpers for all packages: optional libraries, threads, processes, Dask, warnings.

They know nothing about features.
"""
