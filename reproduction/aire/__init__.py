"""The comparison of hierarchical selections over the 28 ageing-gene datasets: measured, and made into tables.

``python -m reproduction.aire`` measures what ``docs/aire.csv`` lacks and writes the tables of ``docs/selections.md``.
"""
