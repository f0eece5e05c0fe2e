"""The tables of a journal."""

TABLES = (
    "CREATE TABLE verdicts (position INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL,"
    " digest BLOB NOT NULL, identity BLOB NOT NULL, message_id TEXT NOT NULL, sender TEXT NOT NULL,"
    " subject TEXT NOT NULL, place TEXT NOT NULL, verdict TEXT NOT NULL, points REAL NOT NULL, log_odds REAL NOT NULL,"
    " evidence TEXT NOT NULL, made_by TEXT NOT NULL, doubt REAL NOT NULL, expected REAL NOT NULL,"
    " size INTEGER NOT NULL)",
    # Apart, so that who lists messages reads no tokens.
    "CREATE TABLE tokens (position INTEGER PRIMARY KEY, tokens BLOB NOT NULL)",
    "CREATE TABLE corrections (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL,"
    " digest BLOB NOT NULL, label TEXT NOT NULL, spam INTEGER NOT NULL, verdict TEXT NOT NULL, source TEXT NOT NULL,"
    " before TEXT NOT NULL, before_taught INTEGER NOT NULL, batch TEXT NOT NULL, undone INTEGER NOT NULL)",
    # Folders that mail was seen in: the mailbox that each is of, how its folder of spam is called, and what it is for.
    "CREATE TABLE folders (folder TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, mailbox TEXT NOT NULL,"
    " junk TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE moves (batch TEXT NOT NULL, position INTEGER NOT NULL, before TEXT NOT NULL, at INTEGER NOT NULL,"
    " PRIMARY KEY (batch, position)) WITHOUT ROWID",
    "CREATE TABLE digests (user TEXT PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE INDEX verdicts_by_digest ON verdicts (digest)",
    "CREATE INDEX verdicts_by_time ON verdicts (at, user, verdict, doubt, expected)",
    "CREATE INDEX verdicts_by_doubt ON verdicts (doubt, at, user) WHERE points >= 0",
    "CREATE INDEX corrections_by_digest ON corrections (digest)",
    "CREATE INDEX corrections_by_time ON corrections (at)",
    "CREATE INDEX corrections_by_batch ON corrections (batch)",
)
