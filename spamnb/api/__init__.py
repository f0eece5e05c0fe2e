"""What the command line does, as functions, and scikit-learn's interface to the same: for programs and notebooks.

train, evaluate, words, explain, read            a function each, with the result that it returns
progress, report                                 what these share; ``cli`` parses, calls and prints
arguments, given                                 what is given: paths and settings; messages and labels in memory
vectorizer, spam                                 scikit-learn's interface: lists of messages in, matrices and models out
"""
