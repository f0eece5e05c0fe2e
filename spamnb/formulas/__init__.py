"""Arrays in, arrays out: the formulas of the models. Nothing here knows of mail or of files.

    priors              documents per class → log P(c)
    class_sums          rows → sums per class, and their exact subtraction
    naive_bayes         counts → log-probabilities of tokens, multinomial and Bernoulli
    scatter             means and scatter of Gaussian classes, added without cancellation
    mutual_information  which columns tell the classes apart
    pooling             the tokens' evidence → one score per class
    calibration         scores → probabilities
    decision            probabilities and a loss → a verdict
"""
