"""What every room may use: optional libraries, threads, processes, Dask, warnings. It knows nothing about features."""
