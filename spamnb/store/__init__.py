"""The model file: one SQLite database.

store     a model file, open: its sums looked up and changed
schema    the tables
tables    all that stands beside the sums
database  a SQLite file that others use at the same time; nothing that it holds is trusted
pages     counts of tokens, packed in the file and at hand in memory
changes   the log of what the last lessons changed
compaction  how that log gets into the sums
token_months  when rare tokens were taught
pruning   rare old tokens taken out
learned   which messages were learned, and as what
lessons   the messages that a person taught, whole
snapshot  a whole model in memory, written and read in one piece
jsonl     a model as lines of JSON
merging   models added up
"""
