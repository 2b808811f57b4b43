"""Lists of names word by word: what may be read as such a list, and how a name is hashed."""

from __future__ import annotations

import json

PLAIN = {chr(code) for code in range(32, 127)} - {'"', "\\"}
BITS = 2**64 - 1


def count_names(text: bytes) -> int:
    """The number of names in a list as `json.dumps` writes it, if all are plain, different and not empty; -1 if not."""
    try:
        names = json.loads(text)
    except ValueError:
        return -1
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        return -1
    is_plain = all(set(name) <= PLAIN for name in names)
    is_written_so = json.dumps(names).encode() == text
    return len(names) if is_plain and is_written_so and len(set(names)) == len(names) else -1


def hash_of(name: str) -> int:
    """The hash of a name, eight characters at a time; zeros follow the last one."""
    text, hashed = name.encode(), 0
    for start in range(0, len(text) // 8 * 8 + 8, 8):
        hashed ^= int.from_bytes(text[start : start + 8].ljust(8, b"\0"), "big")
        hashed = (hashed ^ hashed >> 32) * 0x9E3779B97F4A7C15 & BITS
        hashed ^= hashed >> 29
    return hashed
