//! Hosts that a command names.

use super::Found;
use super::known;
use super::word::Word;

/// Programs whose arguments are hosts or begin with one.
const NETWORK: &[&str] = &[
    "aria2c",
    "curl",
    "curlie",
    "dig",
    "ftp",
    "host",
    "http",
    "https",
    "links",
    "lynx",
    "nc",
    "ncat",
    "netcat",
    "nslookup",
    "ping",
    "ping6",
    "rsync",
    "scp",
    "sftp",
    "socat",
    "ssh",
    "telnet",
    "traceroute",
    "w3m",
    "wget",
    "whois",
    "xh",
];

impl Found {
    /// Notes the hosts among the words of a command.
    pub(super) fn hosts_of(&mut self, name: &str, words: &[Word]) {
        let is_network = NETWORK.contains(&name);
        let mut any = false;
        let mut value = false;
        for word in words.iter().skip(1).filter(|word| word.known) {
            let is_value = std::mem::take(&mut value);
            // Programs do not agree about where the host ends then.
            if word.text.contains("://") && word.text.contains('\\') {
                self.unsure();
            }
            if let Some((_, rest)) = word.text.split_once("://") {
                let local = word.text.starts_with("file://");
                if !local {
                    self.host(authority(rest));
                }
                any = true;
            } else if let Some(host) = remote(&word.text).filter(|_| is_network) {
                self.host(host);
                any = true;
            } else if is_network && word.text.starts_with('-') && !is_value {
                value = name == "curl" && known::CURL_VALUED.contains(&word.text.as_str());
            } else if is_network && !is_value {
                let host = authority(&word.text);
                if name == "curl" || host.contains('.') || host == "localhost" {
                    self.host(host);
                    any = true;
                } else {
                    // Of others it is not known which of their options have a value.
                    self.perhaps(|found| found.host(host));
                }
            }
        }
        // The others follow redirections, or execute commands where they lead.
        let is_curl = name == "curl";
        let is_known = any && is_curl && words.iter().skip(1).all(known::is_plain_curl);
        if is_network && !is_known {
            self.opaque(words, !is_curl);
        }
    }

    /// Notes a host, as it is meant where that is clear.
    pub(super) fn host(&mut self, written: &str) {
        let host = written.trim_end_matches('.').to_ascii_lowercase();
        if !is_clear(&host) {
            self.unsure();
        }
        if !host.is_empty() {
            self.hosts.push(host);
        }
    }
}

/// Words without the addresses among them, for a program that never takes one for a path. They are looked for from `begin` on.
/// What may be the value of an option stays: that can be a file whatever it looks like.
pub(super) fn without_addresses(name: &str, words: &[Word], begin: usize) -> Vec<Word> {
    let is_path = |(index, word): &(usize, &Word)| {
        let before = index.checked_sub(1).and_then(|before| words.get(before));
        let is_operand = *index == begin || before.is_none_or(|word| known::stands_alone(name, word));
        *index < begin || !is_operand || !is_address(&word.text)
    };
    words.iter().enumerate().filter(is_path).map(|(_, word)| word.clone()).collect()
}

/// Whether a word is a URL that leads to a host. One with `..` in it would lead anywhere if it were a path.
pub(super) fn is_address(word: &str) -> bool {
    const SCHEMES: &[&str] = &["http", "https", "ftp", "ftps", "ssh", "git", "git+ssh", "ssh+git"];
    let scheme = word.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| SCHEMES.contains(&scheme.as_str())) && !word.contains("..")
}

/// The directory that `git clone` makes for such an address, if it is one.
pub(super) fn cloned(word: &str) -> Option<&str> {
    if !is_address(word) && remote(word).is_none() {
        return None;
    }
    let path = word.trim_end_matches('/');
    let name = path.rsplit(['/', ':']).next().unwrap_or(path);
    Some(name.strip_suffix(".git").unwrap_or(name)).filter(|name| !name.is_empty())
}

/// The host of a URL after its `//`.
fn authority(rest: &str) -> &str {
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let all = &rest[..end];
    let host = all.rsplit('@').next().unwrap_or(all);
    match host.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or(six),
        None => host.split(':').next().unwrap_or(host),
    }
}

/// The host of `user@host:path` or `host:path`.
fn remote(word: &str) -> Option<&str> {
    let (host, path) = word.split_once(':')?;
    let host = host.rsplit('@').next()?;
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    let is_port = !path.is_empty() && path.bytes().all(|byte| byte.is_ascii_digit());
    (!host.is_empty() && host.chars().all(is_name) && (host.contains('.') || word.contains('@')) && !is_port)
        .then_some(host)
}

/// Whether a name can be only that host: one with letters at its end, or four numbers as they are usually written.
fn is_clear(host: &str) -> bool {
    let labels: Vec<_> = host.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let is_number = |label: &&str| label.parse::<u8>().is_ok_and(|number| number.to_string() == **label);
    let ends_in_letter =
        labels.last().is_some_and(|label| label.starts_with(|first: char| first.is_ascii_alphabetic()));
    labels.iter().all(is_label) && (ends_in_letter || (labels.len() == 4 && labels.iter().all(is_number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_taken_out_of_addresses() {
        for (text, host) in [
            ("example.com/a", "example.com"),
            ("u:p@example.com:80?x", "example.com"),
            ("good.com@evil.com/", "evil.com"),
            ("evil.com#@good.com", "evil.com"),
            ("[::1]:80/a", "::1"),
        ] {
            assert_eq!(authority(text), host, "{text}");
        }
        assert_eq!(remote("git@github.com:a/b"), Some("github.com"));
        assert_eq!(remote("a.com:80"), None);
        for (host, clear) in [
            ("a.com", true),
            ("127.0.0.1", true),
            ("2130706433", false),
            ("0x7f.1", false),
            ("127.1", false),
            ("::1", false),
        ] {
            assert_eq!(is_clear(host), clear, "{host}");
        }
    }
}
