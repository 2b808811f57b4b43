"""Training rows that were kept, as read from a file: nothing about them is taken on trust."""

from __future__ import annotations

from typing import Any

import numpy as np

from hietan.structure import BinaryRows, PairCounts, count_ones, unpack

_BLOCK = 256  # words of 64 rows that are unpacked together


def check_training_rows(words: Any, codes: Any, weights: Any, counts: PairCounts) -> None:
    """Refuse packed rows and classes that are not those that were counted.

    Parameters
    ----------
    words : array of shape (ceil(n_rows / 64), n_features)
        The rows, 64 to a word.
    codes : array of shape (n_rows,)
        The class of each.
    weights : array of shape (n_rows,)
        How often each counts.
    counts : PairCounts
        The counts of the rows; they have been checked by themselves.
    """
    if not isinstance(codes, np.ndarray) or codes.dtype != np.int64 or codes.ndim != 1:
        raise ValueError("training_codes_ do not have a class for each training row")
    n, d = len(codes), counts.n_features
    if not isinstance(weights, np.ndarray) or weights.dtype != np.int32 or weights.shape != (n,):
        raise ValueError("training_weights_ do not have a weight for each training row")
    if n and weights.min() < 1:
        raise ValueError("training_weights_ hold a number below 1")
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
        here = slice(64 * start, 64 * start + rows)
        table = BinaryRows(block.shape, dense=block, weights=weights[here])
        ones += count_ones(table, codes[here], counts.n_classes).ones
    class_count = np.bincount(codes, weights, minlength=counts.n_classes)
    if not np.array_equal(class_count, counts.class_count) or not np.array_equal(ones, counts.ones):
        raise ValueError("the training rows are not those that were counted")


def check_numbers(numbers: Any, n_rows: int) -> None:
    """Refuse numbers of training rows that are not ascending numbers of rows, one for each row that was kept."""
    if not isinstance(numbers, np.ndarray) or numbers.dtype != np.int64 or numbers.shape != (n_rows,):
        raise ValueError("training_numbers_ do not have a number for each training row")
    if n_rows and (numbers[0] < 0 or (numbers[1:] <= numbers[:-1]).any()):
        raise ValueError("training_numbers_ are not ascending numbers from 0")
