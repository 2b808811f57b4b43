"""The optimisation problems behind the linear classifiers: a path of lambdas, a ridge with offsets, held-out scores."""
