"""Raw messages → rows of tokens, and what people ask of a message. The work is done by the C code of ``spamnb/core``.

message       Reader: messages → rows; parse: one message for people; its headers, digests and date
read_message  a message that was read once, with its tokens
options       how messages become tokens
rows          messages as rows of token ids
tokens        tokens by the million, and a number for each
binding       the core's reader, by way of ctypes
characters    what characters are, and what they become in words
evidence      which header fields count and how; the kinds of tokens and their groups
attachments   what the core asks for while it reads: other charsets, documents, words by nltk
charsets, smime, tnef, pdf  which attachments uses
spam_fields   the X-Spam fields that a filter writes and takes out
"""
