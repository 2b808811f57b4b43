"""A study's results as files for readers: tables, figures and explanations."""
