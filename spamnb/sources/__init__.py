"""Sources of labelled mail: folders, mailboxes of mail programs, lists of messages and tables of text.

The modules in the order in which a message passes them, from CLASS=PATH to its bytes:

spec            parses a SOURCE, and chooses the module that reads it; a new kind of source is registered here
folders         trees of messages, Maildirs and their folders, MH; notes on folders that are not read
mbox            a file that is an mbox or a single message
tables          a message in each row: CSV, TSV, JSON lines, label TAB text, TREC indexes
thunderbird     Thunderbird's folders; the name of a folder decides the class
gmail           Google Takeout; the labels of a message decide the class
imap_reading    an IMAP account's folders, and messages by UID
entries         one message of a source, and how its bytes are read; gzip, limits of size
formats         recognises tables by their names, and formats that are not mail by their first bytes

``spamnb/mailbox/`` uses these modules, too:

mailbox         folders and messages of a mailbox; folders' names on disk and in many languages
accounts        IMAP accounts: URLs, and their settings in the configuration file
imap_connection TLS, passwords, login, and the errors of a connection
"""
