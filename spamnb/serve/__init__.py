"""The server: it answers mail software by the protocols of spamd and rspamd, with a model per user."""
