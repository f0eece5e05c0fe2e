"""What a model is, in arrays: the sums of messages' rows, and the formulas. There are no files here."""
