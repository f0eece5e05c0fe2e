"""Classifiers with scikit-learn's interface on top of ``formulas``."""
