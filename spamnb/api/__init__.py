"""What the command line does, as functions: for programs, notebooks, and ``cli``, which parses, calls and prints.

train, evaluate, words, explain, read  a verb each, and what it hands back
making, mislabelled                    what train shares with upgrade; what train and evaluate say of wrong folders
options, notices, progress, scratch    what they are given; what they tell on the way; where they put what they count
"""
