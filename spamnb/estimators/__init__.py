"""What the sums mean: one file per model, scikit-learn's estimator interface, sums underneath.

    priors        messages per class → log P(c)
    validation    what the models accept
    base          fit, predict, merge and forget from three hooks
    discrete      sums per class and column, sparse log-weights: for the next three
    multinomial   draws from the class's urn of tokens; Boolean too
    bernoulli     every token is present or absent
    complement    what the other classes hold
    categorical   columns of one kind out of a few
    scatter       weights, means and scatter, added without cancellation: for the next four
    discriminant  what the Gaussian models share
    gaussian      independent real features
    lda, qda      one covariance for all classes, or one each
    cross_entropy the error that logistic regression minimises
    logistic      the discriminative counterpart
    concept       which set do the examples come from?
"""
