"""Evaluation: protocols that classify messages with models that did not learn them, and figures of the results."""
