"""``spamnb review``: all mail of the journal in a browser, why it was judged so, and corrections with a click.

It may import ``api``, ``serve`` and ``mailbox``.

app      answer requests with pages, lessons and refusals; check who may see them
pages    make pages of what the journal and the models hold, all of it escaped
lessons  teach messages and undo it
moving   read and move mail in its mailbox
"""
