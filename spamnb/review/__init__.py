"""The web pages of ``spamnb review``: the mail of a ledger with the evidence of each verdict, and corrections.

app        answer the requests that have the key
pages      make pages from the ledger and the models, with all text escaped
"""
