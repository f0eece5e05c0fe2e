"""Counting and classifying on all cores of this machine, or on a cluster."""
