"""Ageing-related genes of worm and fly, which come with the package."""
