"""Where labelled mail lies: folders, Maildirs, mboxes, lists of messages and tables of text.

    entries         SOURCE → entries, each of which reads its message
    mbox            files that hold mail: mboxes, gzip, limits of size
    labelled_lines  files with a message in each line
    maildir         a Maildir and its folders, and moving a message safely
"""
