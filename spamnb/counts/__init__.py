"""Rows of messages, and the sums of rows that a model is.

class_counts  messages per class, and per class and token messages and occurrences
messages      all counted messages as one table of rows
counting      messages → rows, some at a time; and the training set of all
training_set  all training messages: their sums, and their rows
newest        the messages that were received last
moments       sums of vectors, for Gaussian models
top_words     the words that tell most
"""
