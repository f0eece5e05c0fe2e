"""Classifiers with scikit-learn's interface on top of ``formulas``: one file per model.

    validation      what the models accept
    parameters      what the constructor takes, by name
    base            input checks and predictions of all of them
    sum_classifier  fit, merge and forget of those whose model is a sum
    discrete        sums per class and column, sparse log-weights: for the next three
    multinomial     a row is a number of draws from its class's tokens; Boolean too
    bernoulli       every token is present or absent
    complement      what the other classes hold
    categorical     every column is one of a few kinds
    discriminant    what the Gaussian models share
    gaussian        independent real features
    lda, qda        one covariance for all classes, or one each
    cross_entropy   the error that logistic regression minimises
    logistic        the discriminative counterpart
    concept         Bayesian concept learning (the number game): which set do the examples come from?
"""
