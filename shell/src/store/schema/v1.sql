-- One row. `seq` is the highest that was ever given to a record. `synced` says that the database file itself, and not
-- only what is written to it through the write-ahead log, has been brought to the disk.
CREATE TABLE meta (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    log     TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    synced  INTEGER NOT NULL
) STRICT;

-- The log, in commit order. `chunk` is 1 for pieces of what a later record says whole; `body` is the record as JSON.
CREATE TABLE records (
    seq      INTEGER PRIMARY KEY,
    session  INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    chunk    INTEGER NOT NULL,
    body     TEXT NOT NULL
) STRICT;
CREATE INDEX records_of_session ON records (session);
CREATE INDEX chunks_of_session ON records (session) WHERE chunk = 1;

-- `changed` is the seq of the session's last record. `latest_run` is the run that began a turn last,
-- and `run_seq` the seq at which it began. `tail_bytes` is the size of the records that are not in the snapshot.
CREATE TABLE sessions (
    key             INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    title           TEXT NOT NULL,
    parent          TEXT,
    created         INTEGER NOT NULL,
    updated         INTEGER NOT NULL,
    changed         INTEGER NOT NULL,
    messages        INTEGER NOT NULL,
    runs            INTEGER NOT NULL,
    model           TEXT,
    totals          TEXT NOT NULL,
    latest_run      TEXT,
    run_seq         INTEGER NOT NULL,
    tail_bytes      INTEGER NOT NULL,
    snapshot_bytes  INTEGER NOT NULL
) STRICT;

-- `body` is the message as JSON, without the outcomes of its calls. While `finished` is 0 it lacks what is streamed,
-- which stands in the chunks after `start`, the seq of the record that began it.
CREATE TABLE messages (
    session   INTEGER NOT NULL,
    number    INTEGER NOT NULL,
    role      TEXT NOT NULL,
    at        INTEGER NOT NULL,
    start     INTEGER NOT NULL,
    finished  INTEGER NOT NULL,
    body      TEXT NOT NULL,
    PRIMARY KEY (session, number)
) STRICT;

CREATE TABLE outcomes (
    session  INTEGER NOT NULL,
    message  INTEGER NOT NULL,
    call     TEXT NOT NULL,
    body     TEXT NOT NULL,
    PRIMARY KEY (session, message, call)
) STRICT;

-- `fate` is what became of the prompt besides its end: 'returned' to its sender, or 'folded' into another run's turn.
CREATE TABLE runs (
    session      INTEGER NOT NULL,
    run          TEXT NOT NULL,
    prompt       TEXT NOT NULL,
    sequence     INTEGER NOT NULL,
    text         TEXT NOT NULL,
    attachments  TEXT NOT NULL,
    accepted     INTEGER NOT NULL,
    message      INTEGER,
    fate         TEXT,
    finished     TEXT,
    PRIMARY KEY (session, run)
) STRICT;
CREATE INDEX runs_by_id ON runs (run);
CREATE INDEX runs_by_prompt ON runs (session, prompt);

-- The newest snapshot of each session: its state as of `seq`, in the words of that version of the fold.
CREATE TABLE snapshots (
    session       INTEGER PRIMARY KEY,
    fold_version  INTEGER NOT NULL,
    seq           INTEGER NOT NULL,
    body          TEXT NOT NULL
) STRICT;
