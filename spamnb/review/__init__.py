"""``spamnb review``: web pages that show the journal's mail with the evidence of each verdict, and correct verdicts.

It may import ``api``, ``serve`` and ``mailbox``.

app      answer requests, after a check that the sender may see the mail
pages    make pages from the journal and the models, with all text escaped
lessons  teach messages, and undo lessons
moving   read and move mail in its mailbox
"""
