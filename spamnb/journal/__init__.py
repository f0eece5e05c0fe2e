"""What was said of each message, for whoever looks later: a bounded file, and corrections by what it holds.

entries    one verdict with what a person knows the message by, and its tokens
journal    the file: verdicts and corrections, bounded by age and size
figures    verdicts a day, corrections by direction
writer     a thread that writes while a server answers
teaching   a correction, by the mail where it still lies and else by its tokens; and how it is undone
digests    what was filtered since the last digest by mail
whereabouts  where mail lies, in a Maildir or an account; which mailbox a folder is of
"""
