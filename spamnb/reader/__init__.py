"""Raw messages → rows of tokens, and what people see of a message. The C code of ``spamnb/core`` does the work.

message       Reader: messages → rows; parse: one message for people; its header fields, digest and date
read_message  one message with its tokens, which is classified, learned and forgotten
options       how messages become tokens
rows          messages as rows of token ids
tokens        lists of a million tokens, and a vocabulary that numbers them
binding       the core's reader, by way of ctypes
evidence      which header fields count and how; the kinds of tokens and their groups
meaning       what a token says, in words
attachments   answers the core while it reads: charsets, documents, words by nltk
characters, charsets, smime, tnef, pdf  what attachments uses
spam_fields   the X-Spam fields that a filter writes and removes
"""
