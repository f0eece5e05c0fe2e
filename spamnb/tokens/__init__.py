"""Text → tokens → ids of tokens.

tokenizer      a message → its tokens
plain_message  a message that is one text of ASCII, read in its bytes
token_sink     what stands in a message → tokens, counted
word_scanner   the words of a text, where they stand
ascii_words    a word of ASCII → its tokens; ascii_bytes: what each byte is in words
words          words of other scripts, normalised
hosts          host names, addresses and links
header_rules   which header fields count, and how
groups         the group of a token: text, pairs, subject, headers, structure
token_array    tokens by the million, and a hash of each
vocabulary     token ↔ id
token_counter  messages as rows, while they are counted
csr_rows       messages as rows of token ids
vectorizer     messages → rows of token ids; a message that was read once
"""
