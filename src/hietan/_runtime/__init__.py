"""Helpers for every room: optional libraries, threads, processes, Dask, warnings. They know nothing about features."""
