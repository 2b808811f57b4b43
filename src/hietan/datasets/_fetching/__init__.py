"""Fetching: published files are found on disk, or else downloaded once and checked.

`registry` knows which files there are, `download` finds or downloads one, and `fetch` does so for users.
"""
