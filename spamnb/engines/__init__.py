"""Counting and judging on all of this machine's cores, or on a cluster: calls on an executor, with results in order.

executor          chunks of entries handed to threads, a few ahead
counting          labelled messages → the training set
judging           messages → verdicts, by a model that was opened
rebuilding        a model of sources, and of what the one before it was taught
cluster           a Dask cluster: found, asked, and waited for
cluster_counting  labelled messages → the training set, counted by a cluster's workers
"""
