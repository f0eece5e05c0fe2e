"""What answers while mail flows: the spamd protocol, X-Spam-* fields, a model per user, a Maildir.

protocol   bytes of a request → what is asked; what was found → bytes of the reply (pure)
score      judgement → the points, the threshold and the names that mail software expects (pure)
headers    a raw message with our X-Spam-* fields in place of those it came with (pure)
users      whose model answers, and whose learns
reception  a request off a connection, bounded in size and time
deadline   a bound on the time of one verdict
metrics    what was counted, for Prometheus
spamd      a conversation: request, verdict or lesson, reply
sockets    what is listened on
workers    the processes and their signals
service    all of it put together
maildir    a Maildir's folders, and moving or replacing a message in them
moves      what a person moved into Junk or out of it
"""
