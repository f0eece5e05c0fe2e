"""The journal: a bounded file of the verdicts on past mail, and of their corrections.

entries  one verdict: header fields of the message, its place, its evidence and its tokens
journal  the file: verdicts, corrections, and numbers of verdicts per day; bounded by age and size
writer   a thread that writes the file while a server answers
"""
