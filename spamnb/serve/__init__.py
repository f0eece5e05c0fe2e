"""What answers while mail flows: the spamd protocol, X-Spam-* fields, a model per user, a Maildir.

protocol   bytes of a request → what is asked; what was found → bytes of the reply (pure)
score      judgement → the points, the threshold and the names that mail software expects (pure)
headers    a raw message with ours for whatever X-Spam-* it came with (pure)
users      whose model answers, and who writes to it
spamd      one connection after another, each bounded in size and time
workers    the processes, their sockets and their signals
"""
