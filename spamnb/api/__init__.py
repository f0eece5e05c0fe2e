"""The commands as Python functions, and estimators with scikit-learn's interface, for programs and notebooks.

train, evaluate, words, explain, read            the function of this name, and the class of its result
replaced_model                                   its lessons, which the new model learns
teaching                                         corrections of the ledger: taught, undone, and learned again
arguments, progress, report                      code that these functions share
spam, vectorizer                                 estimators for lists of messages
message_estimators                               code that these estimators share
"""
