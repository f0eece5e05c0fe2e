"""Arrays in, arrays out: the formulas of the models. Nothing here knows of mail or of files.

    priors              class priors
    mutual_information  which columns tell the classes apart
    pooling             the tokens' evidence → one score a class
    calibration         scores → probabilities
    decision            probabilities and a loss → a verdict
    scatter             sums behind Gaussian models
"""
