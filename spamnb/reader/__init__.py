"""Raw messages → rows of tokens, and what people ask of a message. The work is done by a core in C (``core/``).

tables       what the core is given: characters, references of HTML, charsets
evidence     which header fields count and how; the kinds of tokens and their groups
attachments  what the core asks for while it reads: other charsets, documents, words by nltk
message      Reader: messages → rows; parse: one message for people
"""
