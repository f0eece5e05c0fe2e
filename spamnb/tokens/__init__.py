"""Text → tokens → numbers of tokens.

tokenizer     a message → its tokens
words         a text's words, normalised
hosts         host names, addresses and links
header_rules  which header fields count, and how
groups        the group of a token: text, pairs, subject, headers, structure
token_array   tokens by the million, and their vocabulary
vectorizer    messages → rows of token numbers
_kernel       the same, compiled
"""
