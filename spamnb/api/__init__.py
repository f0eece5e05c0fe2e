"""The commands as Python functions, and estimators with scikit-learn's interface, for programs and notebooks.

train, evaluate, words, explain, read            the function of this name, and the class of its result
relearning                                       the lessons of a replaced model
teaching                                         corrections of the ledger: taught, undone, and learned again
arguments, progress, report                      code that these functions share
spam, vectorizer                                 estimators for lists of messages
message_estimators                               code that these estimators share
"""
