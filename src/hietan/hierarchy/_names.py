"""The names of a hierarchy as the text of a list, in which they are stored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np

from hietan import _kernel

_NEVER_ESCAPED = bytes(code for code in range(ord(" "), ord("~") + 1) if chr(code) not in '"\\')


class ListedNames:
    """Names within the text of a list, checked as those of a hierarchy; strings are only made of them where needed.

    Parameters
    ----------
    text : bytes
        A list as JSON, as `names_as_json` writes it where no name needs an escape. If it is anything else, or has an
        empty or a repeated name, a ValueError is raised; so it is, rarely, if it might have a repeated one.
    """

    __slots__ = ("_n", "text")

    def __init__(self, text: bytes) -> None:
        self.text, self._n = text, _kernel.count_names(np.frombuffer(text, np.uint8))
        if self._n < 0:
            raise ValueError("this is not a plain list of different names")

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[str]:
        return iter(json.loads(self.text))


def names_as_json(names: Sequence[str] | ListedNames) -> bytes:
    """What `json.dumps` makes of a list of names, in a fraction of the time where none of them needs an escape."""
    if isinstance(names, ListedNames):
        return names.text
    text = ('["' + '", "'.join(names) + '"]').encode(errors="surrogatepass")
    quotes = text.translate(None, _NEVER_ESCAPED)
    return text if names and quotes == b'"' * (2 * len(names)) else json.dumps(list(names)).encode()
