"""Arrays in, arrays out: the formulas of the models. Nothing here knows of mail or of files."""
