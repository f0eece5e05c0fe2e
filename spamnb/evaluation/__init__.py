"""Evaluation: protocols that classify messages with models that did not learn them, and figures of the results.

The same functions compute the figures of every filter.
"""
