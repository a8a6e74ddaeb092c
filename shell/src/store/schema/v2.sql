-- What waits for a person's permission. `asker` is the session whose call it is: the session itself or a sub-agent of it.
CREATE TABLE asks (
    session  INTEGER NOT NULL,
    asker    TEXT NOT NULL,
    call     TEXT NOT NULL,
    at       INTEGER NOT NULL,
    body     TEXT NOT NULL,
    PRIMARY KEY (session, asker, call)
) STRICT;
