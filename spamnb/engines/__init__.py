"""Counting and judging on all of this machine's cores, or on a cluster: calls on an executor, with results in order."""
