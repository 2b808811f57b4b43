"""Results of a study as files for people: tables, figures, explanations."""
