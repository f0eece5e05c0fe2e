"""Mailboxes in which mail is judged, moved and learned: a Maildir or an account on a server.

box      what both kinds of mailbox say of their mail
maildir  a Maildir as one, whatever its layout
imap     an account as one
memory   the record of one mailbox: what was judged, moved and learned, and moves that a kill interrupted
filing   new mail is judged once and moved; what a person moved is learned; both are noted in the journal
"""
