"""What the sums mean: one file per model, scikit-learn's estimator interface, sums underneath.

    priors       messages per class → log P(c)
    validation   what the models accept
    base         fit, predict, merge and forget from three hooks
"""
