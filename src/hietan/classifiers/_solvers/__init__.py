"""Optimisation problems for the linear classifiers: a path of lambdas, a ridge with offsets, and held-out scores."""
