"""Rows of messages, and the sums of rows that a model is."""
