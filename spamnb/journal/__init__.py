"""What was said of each message, for whoever looks later: a bounded file, and corrections of what it holds.

entries  one verdict with what a person knows the message by, where it lies, and its tokens
journal  the file: verdicts, corrections and how many there were a day; bounded by age and size
writer   a thread that writes while a server answers
"""
