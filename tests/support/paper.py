"""What the paper prints, for tests that must give it again."""

# Wan & Freitas, arXiv 2202.04105, Table 3: average rank, Holm threshold, one-sided p; 28 datasets.
TABLE_3 = {
    "Hie-TAN-Lite": (1.89, None, None),
    "Hie-TAN": (2.59, "5.00e-2", "8.08e-2"),
    "Hie-AODE-Lite": (3.43, "2.50e-2", "1.04e-3"),
    "HRE-TAN": (3.71, "1.67e-2", "1.36e-4"),
    "proximalGraph": (4.52, "1.25e-2", "7.20e-8"),
    "TAN": (4.86, "1.00e-2", "1.43e-9"),
}
