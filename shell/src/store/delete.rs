//! Forgetting a session: its records, and what is derived from them.

use hostler_core::ids::SessionId;

use super::{Store, StoreError};

/// Every table that has rows of a session, and the column that names it.
const TABLES: [(&str, &str); 7] = [
    ("records", "session"),
    ("messages", "session"),
    ("outcomes", "session"),
    ("runs", "session"),
    ("snapshots", "session"),
    ("asks", "session"),
    ("sessions", "key"),
];

impl Store {
    /// Deletes a root session and its sub-agents, whose ids begin with its own. Their places in the log are not given
    /// again. Who calls this has the session's lock.
    pub fn delete(&mut self, root: &SessionId) -> Result<(), StoreError> {
        self.writing(|write| {
            let sql = "SELECT key FROM sessions
                WHERE id = ?1 OR (parent IS NOT NULL AND id > ?1 || '.' AND id < ?1 || '/')";
            let mut find = write.prepare_cached(sql)?;
            let keys = find.query_map([root.as_str()], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
            for key in keys {
                for (table, column) in TABLES {
                    write
                        .prepare_cached(&format!("DELETE FROM {table} WHERE {column} = ?1"))?
                        .execute([key])?;
                }
            }
            Ok(())
        })?;
        // It is deleted whatever becomes of this, which only decides whether a loss of power could bring it back.
        let _ = self.sync_log();
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::BTreeSet;

    use hostler_core::record::Strength;

    use super::super::fixture;
    use super::*;

    /// All tables but the one that is not about sessions.
    fn tables(store: &Store) -> BTreeSet<String> {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'meta'";
        let mut find = store.connection.prepare(sql).unwrap();
        find.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn a_session_goes_with_its_sub_agents_and_nothing_else_does() {
        let temp = tempfile::tempdir().unwrap();
        let mut store = Store::open(temp.path()).unwrap();
        let known: BTreeSet<_> = TABLES.iter().map(|(table, _)| (*table).to_owned()).collect();
        assert_eq!(tables(&store), known);
        let (child, opened) = fixture::child_of("s");
        let mut entries = vec![fixture::created("s", 1), opened, fixture::accepted(child.as_str(), "c", 1)];
        entries.extend(fixture::run("s", "one", 1));
        entries.extend(fixture::run("s2", "two", 1));
        store.commit(&entries, Strength::Normal).unwrap();
        let head = store.head().unwrap();
        store.delete(&SessionId::new("s")).unwrap();
        assert!(store.load(&SessionId::new("s"), 1).unwrap().is_none());
        assert!(store.load(&child, 1).unwrap().is_none());
        assert!(store.load(&SessionId::new("s2"), 1).unwrap().is_some());
        let left = |table: &str| -> i64 {
            let sql = format!("SELECT count(*) FROM {table}");
            store.connection.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!((left("sessions"), left("runs")), (1, 1));
        assert_eq!(store.head().unwrap(), head, "no place is given twice");
    }

    #[test]
    fn a_log_in_memory_works_like_any_other() {
        let mut store = Store::in_memory().unwrap();
        store.commit(&fixture::run("s", "one", 1), Strength::Full).unwrap();
        store.maintain().unwrap();
        assert!(store.load(&SessionId::new("s"), 1).unwrap().is_some());
        assert!(!std::path::Path::new(":memory:").exists());
    }
}
