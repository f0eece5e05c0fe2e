"""Counting and judging on all of this machine's cores: its processes hand back sums and verdicts, never messages.

counting      labelled messages → the training set
judging       messages → verdicts, by a model that was opened
chunks        messages a portion at a time
workers       processes that are handed chunks and reply to each
side_process  one call in a process of its own
"""
