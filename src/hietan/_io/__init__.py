"""Atomic file writes, portable file names, spreadsheet-safe tables, and checks for forged archives."""
