"""Warnings of the package's own, so that they can be told apart and silenced."""


class HierarchyWarning(UserWarning):
    """The data contradict the hierarchy: a feature is 1 where one of its ancestors is 0."""
