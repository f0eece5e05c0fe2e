"""The verdicts on past mail, in a bounded file, and the corrections of them.

entries  one verdict: header fields of the message, its place, its evidence and its tokens
journal  the file: verdicts, corrections, and numbers of verdicts a day; bounded by age and size
writer   a thread that writes the file while a server answers
"""
