"""The commands as Python functions, and estimators with scikit-learn's interface, for programs and notebooks.

train, evaluate, words, explain, read            the function of this name, and the class of its result
relearning                                       messages that a replaced model learned one by one
arguments, progress, report                      code that these functions share
spam, vectorizer                                 estimators for lists of messages
message_estimators                               code that these estimators share
"""
