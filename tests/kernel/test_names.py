"""Names in the text of a list are counted as the definition says, and contrived ones take no longer than others."""

import itertools
import json
import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hietan import _kernel
from support.twins import names as twin

NAME = (
    st.text("ab", max_size=3) | st.text("ab", min_size=7, max_size=25) | st.text('az ~", []\\é\n', max_size=3)
)


def count_names(text):
    return _kernel.count_names(np.frombuffer(text, np.uint8))


@given(listed=st.lists(NAME, max_size=6), is_sorted=st.booleans(), data=st.data())
@example(listed=["a" * 16 + "b", "a" * 16 + "c"], is_sorted=True, data=None)
@example(listed=["a" * 8, "a" * 16, "a"], is_sorted=True, data=None)
@example(listed=["b" * 8, "a" * 16, "b" * 8], is_sorted=False, data=None)
def test_names_are_counted_as_the_definition_says(listed, is_sorted, data):
    text = json.dumps(sorted(listed) if is_sorted else listed).encode()
    assert count_names(text) == twin.count_names(text)
    if data is not None:
        at = data.draw(st.integers(0, len(text)))
        put = data.draw(st.sampled_from([b"", b'"', b" ", b",", b"]", b"[", b"\\", b"\0", b"x", b'", "']))
        damaged = text[:at] + put + text[at + data.draw(st.integers(0, 4)) :]
        assert count_names(damaged) == twin.count_names(damaged)


@pytest.mark.parametrize("n", [1, 7, 300, 5000])
def test_a_repeated_name_is_found_wherever_it_is(n):
    rng = random.Random(n)
    listed = [f"T:{k:07}" for k in range(n)]
    assert count_names(json.dumps(listed).encode()) == n
    rng.shuffle(listed)
    assert count_names(json.dumps(listed).encode()) == n
    for place in {0, n // 2, n}:
        again = [*listed[:place], rng.choice(listed), *listed[place:]]
        assert (
            count_names(json.dumps(again).encode()) == count_names(json.dumps(sorted(again)).encode()) == -1
        )


def test_names_that_ask_for_the_same_place_are_given_up():
    """The table for 40 names has 128 places; it is searched at most 320 times, where these need 780."""
    asked = (
        name for name in map("n{}".format, itertools.count()) if (twin.hash_of(name) | 1) >> 32 & 127 == 5
    )
    crowd = list(itertools.islice(asked, 40))[::-1]
    assert count_names(json.dumps(crowd).encode()) == -1
    assert count_names(json.dumps(sorted(crowd)).encode()) == 40  # nothing has to be looked up
    assert count_names(json.dumps(crowd[:16]).encode()) == 16
