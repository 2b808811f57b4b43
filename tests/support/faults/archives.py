"""A dataset and models whose files are forged, and how the members of a file are given other contents."""

from __future__ import annotations

import json

import hietan
from hietan.datasets import make_hierarchical_classification
from support.faults import forgery

DATA = make_hierarchical_classification(40, 9, n_classes=2, random_state=0)
X = DATA.X.toarray()


def fitted(name):
    model = getattr(hietan, name)(hierarchy=DATA.hierarchy)
    wanted = {"random_state": 3, "lam": 0.02}
    return model.set_params(**{k: v for k, v in wanted.items() if k in model.get_params()}).fit(
        DATA.X, DATA.y
    )


def rewrite(path, **members):
    """The archive at the path with other members, named without their endings."""
    old = forgery.unpack(path.read_bytes())
    full = {name.partition(".")[0]: name for name in old}
    path.write_bytes(forgery.pack({**old, **{full.get(name, name): new for name, new in members.items()}}))


def rewrite_counts(path, **arrays):
    """Give the counts of a model other values."""
    old = forgery.unpack(path.read_bytes())
    about = json.loads(old["about.json"])
    fields = about["fitted"]["counts_"]["fields"]
    changed = {fields[name]["member"].partition(".")[0]: forgery.npy(array) for name, array in arrays.items()}
    if "class_count" in arrays:
        changed[about["fitted"]["class_count_"]["member"].partition(".")[0]] = forgery.npy(
            arrays["class_count"]
        )
    rewrite(path, **changed)
