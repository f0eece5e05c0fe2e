"""Where labelled mail lies: folders, mailboxes of mail programs, lists of messages and tables of text.

spec            what a SOURCE is: SOURCE → entries; a new kind of source is named here
entries         one message of a source, and how its bytes are read; gzip, limits of size
formats         tables and archives by their names; what is no mail by its first bytes
folders         trees of messages, Maildirs and their folders, MH; what is said of them before they are read
mbox            a file by itself: an mbox or a single message
thunderbird     Thunderbird's folders, classes by their names
gmail           Google Takeout, classes by labels
tables          a message in each row: CSV, TSV, JSON lines, label TAB text, TREC indexes
archives        tar and ZIP
outlook         Outlook's .msg
mailbox         folders and messages of a mailbox; folders' names on disk and in many languages
maildir         a Maildir and its folders, and moving a message safely
accounts        IMAP accounts: URLs, and the file that a person has described them in
imap_connection TLS, passwords and logging in, and what goes wrong with a connection
imap_reading    an account's folders, and messages by UID
"""
