"""The commands as Python functions, and estimators with scikit-learn's interface, for programs and notebooks.

train, evaluate, words, explain, read            one function each, with the class of its result
progress, report                                 code that these functions share; ``cli`` parses, calls and prints
arguments, given                                 what is given: paths and settings; messages and labels in memory
vectorizer, spam                                 scikit-learn's interface: lists of messages in, matrices and models out
"""
