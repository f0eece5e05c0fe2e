# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""What these sources are made for; vectorizer.py uses no kernel that was built of other ones."""

cdef enum:
    TOKENS_VERSION = 6  # of tokenizer.py
    KERNEL_VERSION = 31  # of vectorizer.py
