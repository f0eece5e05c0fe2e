"""The web pages of ``spamnb review``: the mail of a journal with the evidence of each verdict, and corrections.

app        answer requests, after a check that the sender may see the mail
pages      make pages from the journal and the models, with all text escaped
teaching   teach messages, and undo corrections
mailboxes  read and move messages in their mailboxes
"""
