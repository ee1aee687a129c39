"""The tables, as an append-only list of migrations: entry N brings a database from N to N+1.

An entry that has been released is never edited. The tables of every room are here because they
share one file and one version number; each room alone reads and writes its own.
"""

_FIRST = (
    # store.catalog
    """CREATE TABLE bases (
        digest TEXT PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        path TEXT NOT NULL,
        copied INTEGER NOT NULL,
        record TEXT NOT NULL,
        added_at TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE adapters (
        digest TEXT PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        files TEXT NOT NULL,
        size INTEGER NOT NULL,
        record TEXT NOT NULL,
        added_at TEXT NOT NULL,
        default_scale REAL NOT NULL DEFAULT 1.0,
        trigger_text TEXT NOT NULL DEFAULT '',
        notes TEXT NOT NULL DEFAULT ''
    ) STRICT""",
    # compose.stacks; the manifests themselves are files
    """CREATE TABLE compositions (
        id TEXT PRIMARY KEY,
        suspect TEXT,
        created_at TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE stacks (
        name TEXT PRIMARY KEY,
        composition TEXT NOT NULL REFERENCES compositions(id),
        saved_at TEXT NOT NULL
    ) STRICT""",
    # store.verify
    """CREATE TABLE verified (
        path TEXT PRIMARY KEY,
        state TEXT NOT NULL,
        digest TEXT NOT NULL
    ) STRICT""",
    # activation.journal; AUTOINCREMENT so that a number is never reused
    """CREATE TABLE generations (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        composition TEXT NOT NULL REFERENCES compositions(id),
        requested_by TEXT NOT NULL,
        restores INTEGER REFERENCES generations(number),
        state TEXT NOT NULL,
        reason TEXT,
        timings TEXT NOT NULL DEFAULT '{}'
    ) STRICT""",
    """CREATE TABLE transitions (
        generation INTEGER NOT NULL REFERENCES generations(number),
        state TEXT NOT NULL,
        at TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE active (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        generation INTEGER NOT NULL REFERENCES generations(number)
    ) STRICT""",
    # chat.history
    """CREATE TABLE conversations (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        title TEXT NOT NULL,
        created_at TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
        record TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX messages_by_conversation ON messages(conversation)",
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
)

_CONFIRMATIONS = (
    # activation.journal; who confirmed it and when are told by the generation
    """CREATE TABLE confirmations (
        adapter TEXT NOT NULL,
        base TEXT NOT NULL,
        generation INTEGER NOT NULL REFERENCES generations(number),
        PRIMARY KEY (adapter, base)
    ) STRICT""",
    "CREATE INDEX confirmations_by_generation ON confirmations(generation)",
)

_TARGETS_AS_ARRAYS = (
    # store.catalog; a target's fields by place, for its names took most of the time of reading it
    """UPDATE adapters SET record = json_set(record, '$.targets', (
        SELECT json_group_array(json_array(
            json_extract(value, '$.module'),
            coalesce(json_extract(value, '$.operation'), 'low_rank'),
            coalesce(json_extract(value, '$.rank'), 0),
            coalesce(json_extract(value, '$.in_features'), 0),
            coalesce(json_extract(value, '$.out_features'), 0),
            coalesce(json_extract(value, '$.scaling'), 1.0),
            json(iif(json_extract(value, '$.embedding'), 'true', 'false')),
            json(coalesce(json_extract(value, '$.tokens'), '[]')),
            coalesce(json_extract(value, '$.count'), 0)
        )) FROM (SELECT value FROM json_each(record, '$.targets') ORDER BY key)
    ))""",
)

_TRUSTED_KEYS = (
    # store.trust
    """CREATE TABLE trusted_keys (
        key TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        added_at TEXT NOT NULL
    ) STRICT""",
)

_LOST = (
    # compose.stacks; why a composition's manifest is given up, or NULL
    "ALTER TABLE compositions ADD COLUMN lost TEXT",
)

_PINS_AND_NOTES = (
    # compose.pins; a pin goes with its stack
    """CREATE TABLE pins (
        key INTEGER PRIMARY KEY CHECK (key BETWEEN 1 AND 9),
        stack TEXT NOT NULL UNIQUE REFERENCES stacks(name) ON DELETE CASCADE ON UPDATE CASCADE
    ) STRICT""",
    # store.catalog; what an owner notes, and where it was imported from
    "ALTER TABLE adapters ADD COLUMN tags TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE adapters ADD COLUMN system_prompt TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE adapters ADD COLUMN license TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE adapters ADD COLUMN source TEXT NOT NULL DEFAULT ''",
)
_CONVERSATION_TREES = (
    # chat.history; what was one line of messages becomes a tree with one way through it
    "ALTER TABLE messages ADD COLUMN parent INTEGER REFERENCES messages(id)",
    "CREATE INDEX messages_by_parent ON messages(parent)",
    """UPDATE messages SET parent = (
        SELECT max(before.id) FROM messages AS before
        WHERE before.conversation = messages.conversation AND before.id < messages.id
    )""",
    "ALTER TABLE conversations ADD COLUMN leaf INTEGER",
    """UPDATE conversations SET leaf = (
        SELECT max(id) FROM messages WHERE conversation = conversations.id
    )""",
    "ALTER TABLE conversations ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE conversations ADD COLUMN setup TEXT NOT NULL DEFAULT '{}'",
    # chat.presets
    "CREATE TABLE presets (name TEXT PRIMARY KEY, setup TEXT NOT NULL) STRICT",
    # chat.comparing
    """CREATE TABLE comparisons (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
        record TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX comparisons_by_conversation ON comparisons(conversation)",
)
_COLLECTION = (
    # store.catalog; what a person removed, for as long as an earlier generation may need it
    """CREATE TABLE removed (
        digest TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        record TEXT NOT NULL,
        removed_at TEXT NOT NULL
    ) STRICT""",
    # store.candidates; files that nothing needed when they were last looked at, and since when
    "CREATE TABLE unreachable (path TEXT PRIMARY KEY, since TEXT NOT NULL) STRICT",
)

_TRANSITIONS_BY_GENERATION = (
    # activation.journal; every switch reads its own, of however many there are
    "CREATE INDEX transitions_by_generation ON transitions(generation)",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    _FIRST,
    _CONFIRMATIONS,
    _TARGETS_AS_ARRAYS,
    _TRUSTED_KEYS,
    _LOST,
    _PINS_AND_NOTES,
    _CONVERSATION_TREES,
    _TRANSITIONS_BY_GENERATION,
    _COLLECTION,
)
