"""The tables of a model file; store.py says what they hold."""

from __future__ import annotations

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE classes (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, documents INTEGER NOT NULL DEFAULT 0,
    document_counts INTEGER NOT NULL DEFAULT 0, occurrences INTEGER NOT NULL DEFAULT 0);
CREATE TABLE trained (first INTEGER PRIMARY KEY, keys BLOB NOT NULL, held BLOB NOT NULL, cells BLOB NOT NULL,
    lengths BLOB NOT NULL, text BLOB NOT NULL);
CREATE TABLE learned (key INTEGER PRIMARY KEY, token TEXT NOT NULL);
CREATE TABLE frequencies (class INTEGER NOT NULL, documents INTEGER NOT NULL, tokens INTEGER NOT NULL,
    PRIMARY KEY (class, documents)) WITHOUT ROWID;
CREATE TABLE messages (digest BLOB PRIMARY KEY, class INTEGER NOT NULL, taught INTEGER NOT NULL, bins TEXT)
    WITHOUT ROWID;
CREATE TABLE lessons (sequence INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, digest BLOB NOT NULL UNIQUE,
    tokens TEXT NOT NULL);
CREATE TABLE calibration (class INTEGER NOT NULL, own INTEGER NOT NULL, bin INTEGER NOT NULL,
    messages INTEGER NOT NULL, PRIMARY KEY (class, own, bin)) WITHOUT ROWID;
CREATE TABLE arrays (name TEXT PRIMARY KEY, dtype TEXT NOT NULL, shape TEXT NOT NULL,
    content BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE vectors (token TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
"""
# A file gets these with its first change after training: see changes.py and compaction.py.
CHANGES = (
    """CREATE TABLE changes (sequence INTEGER PRIMARY KEY, month INTEGER NOT NULL, keys BLOB NOT NULL,
    rare BLOB NOT NULL, cells BLOB NOT NULL, lengths BLOB NOT NULL, text BLOB NOT NULL)""",
    """CREATE TABLE compaction (one INTEGER PRIMARY KEY, summed INTEGER NOT NULL, merged INTEGER NOT NULL,
    merges INTEGER NOT NULL)""",
    "CREATE TABLE rare_tokens (month INTEGER PRIMARY KEY, keys BLOB NOT NULL)",
)

# A file gets it with its first lesson: see lessons.py.
KEPT_LESSONS = """CREATE TABLE kept_lessons (position INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE,
    class INTEGER NOT NULL, taught_at INTEGER NOT NULL, message BLOB NOT NULL)"""

# Of a corrected model alone; corrections.py says what they hold.
CORRECTION = (
    """CREATE TABLE corrections (first INTEGER PRIMARY KEY, keys BLOB NOT NULL, kinds BLOB NOT NULL,
    bytes BLOB NOT NULL, shorts BLOB NOT NULL, longs BLOB NOT NULL)""",
    "CREATE TABLE corrected (sequence INTEGER PRIMARY KEY, keys BLOB NOT NULL, units BLOB NOT NULL)",
    "CREATE TABLE correcting (one INTEGER PRIMARY KEY, summed INTEGER NOT NULL, merged INTEGER NOT NULL)",
    "CREATE TABLE brought (digest BLOB PRIMARY KEY, units BLOB NOT NULL, changed BLOB) WITHOUT ROWID",
    """CREATE TABLE hard (sequence INTEGER PRIMARY KEY, digest BLOB UNIQUE, class INTEGER NOT NULL,
    offsets TEXT NOT NULL, tokens TEXT NOT NULL)""",
)
NOTHING_MERGED = "INSERT INTO correcting VALUES (1, 0, -9223372036854775808)"  # the first of all keys
