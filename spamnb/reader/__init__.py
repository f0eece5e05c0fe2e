"""Raw messages → rows of tokens, and decoded messages for people. The C code of ``spamnb/core`` does the work.

message       Reader: messages → rows; parse: a decoded message; header fields, digest and date of a message
read_message  one message with its tokens, which is classified, learned and forgotten
options       how messages become tokens
rows          messages as rows of token ids
tokens        lists of a million tokens, and a vocabulary that numbers them
binding       the core's reader, and its questions
evidence      which header fields count and how; the kinds of tokens and their groups
meaning       the meaning of a token, in words for people
answers       answers questions of the core while it reads: charsets, documents, words by nltk
characters, charsets, smime, tnef, pdf  one kind of answer each, for answers
spam_fields   the X-Spam fields that a filter writes and removes
"""
