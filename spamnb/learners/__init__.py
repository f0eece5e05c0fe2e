"""The kinds of mail model: what each does with messages, on the one model file.

learner      what a learner has to do; settings → learner
naive_bayes  multinomial, boolean and Bernoulli
corrected    naive Bayes, corrected where it errs
logistic     softmax regression
dense        Gaussian and logistic models of embedded messages
embeddings   messages → vectors
"""
