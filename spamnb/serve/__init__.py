"""What answers while mail flows: the spamd protocol, a model per user.

protocol   bytes of a request → what is asked; what was found → bytes of the reply (pure)
score      judgement → the points, the threshold and the names that mail software expects (pure)
users      whose model answers, and whose learns
reception  a request off a connection, bounded in size and time
metrics    what was counted, for Prometheus
spamd      a conversation: request, verdict or lesson, reply
sockets    what is listened on
workers    the processes and their signals
service    all of it put together
"""
