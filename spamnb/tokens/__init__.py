"""Text → tokens → ids of tokens.

tokenizer     a message → its tokens
token_sink    where they go: a list of strings, or the kernel
words         a text's words, normalised
hosts         host names, addresses and links
header_rules  which header fields count, and how
groups        the group of a token: text, pairs, subject, headers, structure
token_array   tokens by the million, and a hash of each
vocabulary    token ↔ id
csr_rows      messages as rows of token ids
vectorizer    messages → rows of token ids; a message that was read once
_kernel       the same, compiled; its modules have the names of their Python twins
"""
