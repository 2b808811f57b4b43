"""A small study in a process of its own, to be killed: python study.py DIRECTORY."""

import sys
from dataclasses import replace

from hietan import HieTANLite
from hietan.datasets import make_hierarchical_classification
from hietan.evaluation import run_study
from support.misbehaving import Slow


def main(directory):
    datasets = [
        replace(make_hierarchical_classification(80, 20, random_state=k), name=f"d{k}") for k in range(3)
    ]
    methods = {"slow": Slow(), "hie-tan-lite": HieTANLite()}
    run_study(datasets, methods, cv=5, seeds=2, n_jobs=2, output=directory)


if __name__ == "__main__":
    main(sys.argv[1])
