"""Classifiers with scikit-learn's interface on top of ``formulas``.

    validation   what the models accept
    parameters   what the constructor takes, by name
    base         input checks and predictions of all of them; fit, merge and forget of those whose model is a sum
    discrete     multinomial, Bernoulli and complement naive Bayes: sums of columns
    categorical  every column is one of a few kinds
    gaussian     Gaussian naive Bayes, linear and quadratic discriminant analysis
    logistic     the discriminative counterpart
    concept      Bayesian concept learning (the number game): which set do the examples come from?
"""
