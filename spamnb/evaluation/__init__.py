"""The measuring instrument: protocols that ask a filter, and the figures that sum up its answers.

Whatever filter gave the answers, the same functions judge them.
"""
