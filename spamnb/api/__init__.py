"""What the command line does, as functions, and scikit-learn's interface to the same: for programs and notebooks.

train, evaluate, words, explain, read            a verb each; training_report and evaluation are what two hand back
making, mislabelled, scratch, progress           what these share; ``cli`` parses, calls and prints
arguments, given                                 what is given: paths and settings; messages and labels in memory
vectorizer, rows, spam, memory_model, folds      scikit-learn's interface: lists of messages in, matrices and models out
"""
