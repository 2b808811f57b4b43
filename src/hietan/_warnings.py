"""Warnings of the package's own, so that they can be told apart and silenced."""


class HierarchyWarning(UserWarning):
    """The data do not fit the hierarchy: a feature is 1 where an ancestor is 0, or columns seem to be misspelt."""
