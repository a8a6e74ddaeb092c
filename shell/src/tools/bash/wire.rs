//! What hostler and the helper of a command say to each other, over one socket.
//!
//! Hostler begins with the command. After that it sends a byte for each thing that it asks for; the helper sends reports
//! of a fixed length. The end of the stream is a message too: to the helper, that hostler is gone; to hostler, that the
//! helper is, and with it all that it watched over.

use std::io::{self, Read};

/// How many bytes a report has.
pub(super) const REPORT: usize = 5;

/// The longest command. The system takes no longer one as an argument.
const LONGEST: usize = 128 * 1024 - 1;

/// What hostler asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// Tell all processes to end.
    Terminate,
    /// End them.
    Kill,
}

impl Ask {
    /// The byte that says so.
    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Terminate => b't',
            Self::Kill => b'k',
        }
    }

    /// What a byte says. Whoever sends anything else is not understood, so that nothing may be left running for it.
    pub(super) fn read(byte: u8) -> Self {
        if byte == b't' { Self::Terminate } else { Self::Kill }
    }
}

/// What the helper reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// It cannot watch over anything here, and has started nothing.
    Unable,
    /// The shell could not be started: the system's number of the error.
    Failed(i32),
    /// The shell has ended with that status, as the system puts it.
    Ended(i32),
    /// Nothing is left of all that it has started.
    Gone,
}

impl Report {
    /// The bytes that say so.
    pub(super) fn bytes(self) -> [u8; REPORT] {
        let (kind, number) = match self {
            Self::Unable => (b'u', 0),
            Self::Gone => (b'g', 0),
            Self::Failed(error) => (b'f', error),
            Self::Ended(status) => (b'e', status),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [kind, a, b, c, d]
    }

    /// What those bytes say, if anything.
    pub(super) fn read([kind, a, b, c, d]: [u8; REPORT]) -> Option<Self> {
        let number = i32::from_le_bytes([a, b, c, d]);
        match kind {
            b'u' => Some(Self::Unable),
            b'g' => Some(Self::Gone),
            b'f' => Some(Self::Failed(number)),
            b'e' => Some(Self::Ended(number)),
            _ => None,
        }
    }
}

/// The bytes that tell the helper what to run.
pub(super) fn command(command: &str) -> io::Result<Vec<u8>> {
    let length = u32::try_from(command.len()).ok().filter(|length| *length as usize <= LONGEST);
    let length =
        length.ok_or_else(|| io::Error::from_raw_os_error(rustix::io::Errno::TOOBIG.raw_os_error()))?;
    Ok([&length.to_le_bytes(), command.as_bytes()].concat())
}

/// Reads the command that stands at the beginning.
pub(super) fn read_command(from: &mut impl Read) -> io::Result<String> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_understood() {
        for ask in [Ask::Terminate, Ask::Kill] {
            assert_eq!(Ask::read(ask.byte()), ask);
        }
        for report in [Report::Unable, Report::Failed(2), Report::Ended(256), Report::Ended(-1), Report::Gone]
        {
            assert_eq!(Report::read(report.bytes()), Some(report));
        }
        assert_eq!(Report::read(*b"bash:"), None);
        for text in ["", "echo \u{e9}", &"x".repeat(LONGEST)] {
            assert_eq!(read_command(&mut command(text).unwrap().as_slice()).unwrap(), text);
        }
    }

    #[test]
    fn what_is_no_command_is_refused() {
        assert!(command(&"x".repeat(LONGEST + 1)).is_err());
        for bytes in ["", "abc", "\u{5}\0\0\0four", "hello, helper"] {
            assert!(read_command(&mut bytes.as_bytes()).is_err(), "{bytes:?}");
        }
    }
}
