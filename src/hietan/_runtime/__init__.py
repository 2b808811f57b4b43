"""What every room may lean on: optional libraries, threads, processes, Dask, warnings. It knows nothing of features."""
