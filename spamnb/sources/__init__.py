"""Where labelled mail lies: folders, mailboxes of mail programs, lists of messages and tables of text.

    spec            what a SOURCE is: SOURCE → entries; a new kind of source is named here
    one_class       mail of one class or of none: a folder, mailbox, table or message
    entries         one message of a source, and how its bytes are read; gzip, limits of size
    folders         trees of messages, Maildirs and their folders, MH
    thunderbird     Thunderbird's folders, classes by their names
    gmail           Google Takeout, classes by labels
    tables          CSV, TSV, JSON lines: a message in each row
    parquet         the same of Parquet
    labelled_lines  files with a message, or the path of one, in each line
    files           a file by itself: a table, an mbox or a single message
    mbox            where the messages of an mbox begin
    outlook         Outlook's .msg
    formats         what is no mail: archives, documents, images, databases
    folder_names    what folders are for, by their names in many languages
    modified_utf7   names of folders as they are written on disk
    notes           what is said of a SOURCE before it is read
    maildir         a Maildir and its folders, and moving a message safely
    mailbox         folders and messages of a mailbox, whatever its kind
    imap_entries    mail of an IMAP account
    imap_reading    its folders, and messages by UID
    imap_connection TLS and logging in, and what goes wrong with a connection
    imap_login      passwords and tokens
    imap_url        URLs of accounts
    accounts        accounts that a person has described in a file
"""
