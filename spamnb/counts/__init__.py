"""Rows of messages, and the sums of rows that a model is.

csr_rows      messages as rows of (token, occurrences)
class_counts  messages per class, and per class and token messages and occurrences
training_set  all training messages: their sums, and their rows on disk
moments       sums of vectors, for Gaussian models
"""
