"""How many problems a property is tried on."""

from hypothesis import settings

USUAL = 50


def examples(number):
    """So many of them, or more or fewer in the measure that the hypothesis profile asks for."""
    return settings(max_examples=max(2, number * settings().max_examples // USUAL))
