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

# On a PostgreSQL server a model is a schema with these tables: one row a token, and the last changes. A token's row is
# written when the log is added to the sums. Fewer rows than fit are put into a page of ``tokens``, so that their new
# versions find room beside them and the index stays as it is; a table whose few rows change with each lesson has more
# room, and is vacuumed often. Bytes that are dense already are not compressed.
SERVER_FORMAT = 2
_CHANGED_OFTEN = "WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0)"
SERVER_TABLES = {
    "spamnb": "CREATE TABLE spamnb (format integer NOT NULL)",
    "meta": f"CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL) {_CHANGED_OFTEN}",
    "classes": f"""CREATE TABLE classes (id integer PRIMARY KEY, name text NOT NULL UNIQUE,
        documents bigint NOT NULL DEFAULT 0, document_counts bigint NOT NULL DEFAULT 0,
        occurrences bigint NOT NULL DEFAULT 0) {_CHANGED_OFTEN}""",
    "tokens": """CREATE TABLE tokens (key bigint NOT NULL, token bytea NOT NULL, cells bytea NOT NULL, units bytea)
        WITH (fillfactor = 85)""",
    "changes": """CREATE TABLE changes (sequence bigint PRIMARY KEY, month integer NOT NULL, keys bytea NOT NULL,
        rare bytea NOT NULL, cells bytea NOT NULL, lengths bytea NOT NULL, text bytea NOT NULL, moved bytea NOT NULL,
        units bytea NOT NULL)""",
    "summed": "CREATE TABLE summed (sequence bigint NOT NULL)",
    "rare_tokens": "CREATE TABLE rare_tokens (month integer PRIMARY KEY, keys bytea NOT NULL)",
    "frequencies": """CREATE TABLE frequencies (class integer NOT NULL, documents bigint NOT NULL,
        tokens bigint NOT NULL, PRIMARY KEY (class, documents)) WITH (fillfactor = 50)""",
    "messages": """CREATE TABLE messages (digest bytea PRIMARY KEY, class integer NOT NULL, taught integer NOT NULL,
        bins text)""",
    "lessons": """CREATE TABLE lessons (sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        identity bytea NOT NULL UNIQUE, digest bytea NOT NULL UNIQUE, tokens text NOT NULL)""",
    "kept_lessons": """CREATE TABLE kept_lessons (position bigint PRIMARY KEY, digest bytea NOT NULL UNIQUE,
        class integer NOT NULL, taught_at bigint NOT NULL, message bytea NOT NULL)""",
    "calibration": f"""CREATE TABLE calibration (class integer NOT NULL, own integer NOT NULL, bin integer NOT NULL,
        messages bigint NOT NULL, PRIMARY KEY (class, own, bin)) {_CHANGED_OFTEN}""",
    "arrays": """CREATE TABLE arrays (name text PRIMARY KEY, dtype text NOT NULL, shape text NOT NULL,
        content bytea NOT NULL)""",
    "brought": "CREATE TABLE brought (digest bytea PRIMARY KEY, units bytea NOT NULL, changed bytea)",
    "hard": """CREATE TABLE hard (sequence bigint PRIMARY KEY, digest bytea UNIQUE, class integer NOT NULL,
        offsets text NOT NULL, tokens text NOT NULL)""",
}
_DENSE = {"changes": ("keys", "rare", "cells", "text", "moved", "units"), "kept_lessons": ("message",)}
SERVER_STORAGE = [
    f"ALTER TABLE {table} {', '.join(f'ALTER {column} SET STORAGE EXTERNAL' for column in columns)}"
    for table, columns in _DENSE.items()
]
SERVER_INDEX = "ALTER TABLE tokens ADD PRIMARY KEY (key)"  # last: rows are copied in a third of the time without it
