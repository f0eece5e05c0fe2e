"""Counting and judging on all of this machine's cores, or on a cluster: calls on an executor, with results in order.

executor    parts of the mail handed to threads, a few ahead
counting    labelled messages → the training set
cluster     the same, counted by a Dask cluster's workers
judging     messages → verdicts, by a model that was opened
rebuilding  a model of sources, and of what the one before it was taught
"""
