//! Providers that cannot be reached. Each is tried for as long as patience lasts, so all are tried at the same time.

use std::io::Write;
use std::net::TcpListener;

use super::Page;
use crate::home;

#[test]
fn a_provider_that_cannot_be_reached_is_said_so() {
    let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let deaf = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let plain = deaf.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in deaf.incoming() {
            // Whoever wanted to speak TLS is gone by then.
            let _ = stream.unwrap().write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        }
    });
    // A label of a name has 63 characters at the most, so nobody has to be asked about this one.
    let nowhere = format!("{}.example", "x".repeat(64));
    let places = [
        ("Nobody listens there.", format!("http://{closed}/v1")),
        ("There is no such host.", format!("http://{nowhere}/v1")),
        ("Whoever is there does not speak TLS.", format!("https://{plain}/v1")),
    ];
    let (mut page, home) = (Page::new(), home());
    let runs = places.map(|(what, url)| {
        let run = home.hostler(["run", "--model", "openai/strict-1", "Hi"]);
        let run = run.variable("OPENAI_BASE_URL", &url).variable("OPENAI_API_KEY", "k");
        (what, run.line(), run.start())
    });
    for (what, line, run) in runs {
        page.met(what, &home, &line, &run.finish());
    }
    page.is("network");
}
