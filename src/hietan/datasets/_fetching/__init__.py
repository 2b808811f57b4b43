"""Fetching: find published files on disk, or download them once and check them.

`registry` lists the files, `download` finds or downloads a file, and `fetch` contains the public functions.
"""
