"""Modules and names that have moved are found at their old paths for one version, with a warning."""

import base64
import pickle
import sys
from importlib import import_module

import pytest

import hietan.classifiers
from hietan import Hierarchy
from hietan._runtime import moved
from hietan.selection import MinSupport


@pytest.mark.parametrize("old", moved.MODULES)
def test_an_old_module_is_the_new_one(old, monkeypatch):
    new = import_module(moved.MODULES[old])
    assert new.__name__ == moved.MODULES[old]
    monkeypatch.delitem(sys.modules, old, raising=False)  # as in a new process: only the first import warns
    with pytest.warns(DeprecationWarning, match="has moved") as caught:
        assert import_module(old) is new
    assert [str(warning.message) for warning in caught] == [
        f"{old} has moved to {new.__name__}; the old path will be removed in version {moved.REMOVED_IN}"
    ]


def test_the_next_import_of_an_old_module_is_silent(monkeypatch):
    old = next(iter(moved.MODULES))
    monkeypatch.delitem(sys.modules, old, raising=False)
    with pytest.warns(DeprecationWarning, match="has moved"):
        first = import_module(old)
    assert import_module(old) is first


def test_other_modules_are_still_missing():
    for name in ("hietan.no_such_module", "hietan.classifiers.no_such_module"):
        with pytest.raises(ModuleNotFoundError, match=f"No module named '{name}'"):
            import_module(name)


def test_a_name_that_has_moved():
    message = (
        r"^hietan\.classifiers\.MinSupport has moved to hietan\.selection\.MinSupport; the old path will be "
        rf"removed in version {moved.REMOVED_IN}$"
    )
    with pytest.warns(DeprecationWarning, match=message) as caught:
        assert hietan.classifiers.MinSupport is MinSupport
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.raises(AttributeError, match=r"module 'hietan\.classifiers' has no attribute 'MaxSupport'"):
        hietan.classifiers.MaxSupport  # noqa: B018


# `pickle.dumps` of the hierarchy below by version 0.1.0, when `hietan.hierarchy` was a module. A pickle names the
# module of each function as it was then.
OLD_PICKLE = (
    "fCQBT0RR910001t5NK&-bYX5TXlZ3~VRB<=d6bL^Uv+M9X=7__Wt5YYD2xVSZfR{{Y?O=yVrg<@l#By!cWji517l%ylysDg7H)NI"
    "aCt6YV{dY0E^T#ebZKF7a$$Ltj0|6LWn*t{b98cbV|0|0l#B&#b!~8Yl#B;%WMOi0VR@93luH1GltTexl!ug3lqgF9O9O?JXbX%5"
    "WOR9OWt5YYi~?yil!=Iklv0!^O9PAnJd{pOPD=m(|Nlz=|Ns9>0CbdMi9-wk00000000010001#bd+Lf3TO>W0ELuj4~LXelqgF9"
    "O9O?JXcvh?3;_TD00RI300IC20F-o;VuzGclr8"
)


def test_an_old_pickle_of_a_hierarchy():
    written = base64.b85decode(OLD_PICKLE)
    assert b"hietan.hierarchy" in written and b"_hierarchy." not in written
    edges = [("animal", "bird"), ("bird", "owl"), ("animal", "cat")]
    assert pickle.loads(written) == Hierarchy.from_edges(edges)
