"""What answers while mail flows: the spamd protocol, a model per user."""
