"""The ledger: one bounded file of what happened to a person's mail.

verdicts  one verdict: header fields of the message, its place, its evidence and its tokens
ledger    the file: verdicts, corrections, numbers of verdicts per day, and the tables of mailboxes
writer    a thread that writes the file while a server answers
"""
