"""Random hierarchies and rows that respect them."""
