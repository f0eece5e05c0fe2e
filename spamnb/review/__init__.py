"""``spamnb review``: what was filtered and why, in a browser, and corrections with a click.

It may import ``serve`` and ``mailbox``.

passwords  who may log in
sessions   who is logged in, tokens against forged requests, and how often a password may be tried
pages      what the journal holds → pages, all of it escaped
words      a model's words, what they weigh, and how often mail held one
tables     what is counted → the pages Words and How it does
digest     what was filtered, as a mail with links to the pages
delivery   where that goes
moving     mail read and moved in the mailbox where it lies
lessons    corrections that were asked for, and how they are undone
policy     what a browser may do with a page
app        addresses → pages, lessons and refusals
"""
