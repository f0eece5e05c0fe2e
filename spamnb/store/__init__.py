"""The model file: one SQLite database.

store        a model file, open: its sums looked up and changed; its tables
database     a SQLite file that others use at the same time; nothing that it holds is trusted
rows         counts and weights of tokens, as arrays
records      learned messages, arrays and vectors, checked as they are read
hard_messages the last lessons that a corrected model found hard
lessons      the messages that a person taught, whole
snapshot     a whole model in memory, written and read in one piece
jsonl        a model as lines of JSON
merging      models added up
pruning      rare old tokens taken out
"""
