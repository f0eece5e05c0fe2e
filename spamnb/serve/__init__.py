"""What answers while mail flows: the spamd protocol, a model per user, what a person moves in a mailbox.

A raw message's X-Spam-* fields are in ``message/spam_fields.py``, a Maildir's folders in ``sources/maildir.py``.

protocol   bytes of a request → what is asked; what was found → bytes of the reply (pure)
score      judgement → the points, the threshold and the names that mail software expects (pure)
users      whose model answers, and whose learns
reception  a request off a connection, bounded in size and time
metrics    what was counted, for Prometheus
own_mail   the digest by mail, which no model judges and none learns
spamd      a conversation: request, verdict or lesson, reply
sockets    what is listened on
workers    the processes and their signals
service    all of it put together
sorting    new mail of a mailbox, judged once and moved
moves      what a person moved into a Maildir's Junk or out of it, and what sort has judged there
maildir_memory                          the same, asked by message
imap_record, imap_memory, imap_moves    the same of an account on a server: its file, safe moves, lessons
"""
