"""``spamnb review``: what was filtered and why, in a browser, and corrections with a click.

It may import ``api``, ``serve`` and ``mailbox``.

app      addresses → pages, lessons and refusals; who may see them, and what a browser may do with them
pages    what the journal and the model hold → pages, all of it escaped
lessons  corrections that were asked for, and how they are undone
moving   mail read and moved in the mailbox where it lies
"""
