"""Ageing-related worm and fly genes, packaged with hietan."""
