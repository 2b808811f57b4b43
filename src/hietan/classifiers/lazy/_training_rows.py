"""Training rows that were kept, as read from a file: nothing about them is taken on trust."""

from __future__ import annotations

from typing import Any

import numpy as np

from hietan.structure import BinaryRows, PairCounts, count_ones, unpack

_BLOCK = 256  # words of 64 rows that are unpacked together


def check_training_rows(words: Any, codes: Any, counts: PairCounts) -> None:
    """Refuse packed rows and classes that are not those that were counted.

    Parameters
    ----------
    words : array of shape (ceil(n_rows / 64), n_features)
        The rows, 64 to a word.
    codes : array of shape (n_rows,)
        The class of each.
    counts : PairCounts
        The counts of the rows; they have been checked by themselves.
    """
    n, d = counts.n_rows, counts.n_features
    if not isinstance(codes, np.ndarray) or codes.dtype != np.int64 or codes.shape != (n,):
        raise ValueError("training_codes_ do not have a class for each training row")
    if n and not 0 <= codes.min() <= codes.max() < counts.n_classes:
        raise ValueError("training_codes_ name a class that is not there")
    if (
        not isinstance(words, np.ndarray)
        or words.dtype != np.uint64
        or words.shape != (-(-n // 64), d)
        or not words.flags.c_contiguous
    ):
        raise ValueError("training_words_ are not the training rows, 64 to a word")
    if n % 64 and (words[-1] >> np.uint64(n % 64)).any():
        raise ValueError("training_words_ hold rows that are not there")
    ones = np.zeros(counts.ones.shape, dtype=np.int64)
    for start in range(0, len(words), _BLOCK):
        rows = min(64 * _BLOCK, n - 64 * start)
        block = unpack(words[start : start + _BLOCK], rows)
        here = codes[64 * start : 64 * start + rows]
        ones += count_ones(BinaryRows(block.shape, dense=block), here, counts.n_classes).ones
    same = np.array_equal(np.bincount(codes, minlength=counts.n_classes), counts.class_count)
    if not same or not np.array_equal(ones, counts.ones):
        raise ValueError("the training rows are not those that were counted")
