//! The server's life: binding, accepting, and ending with every socket closed and every thread joined.

use super::{
    answer::Answer,
    lock,
    protocol::{Protocol, Rules},
    record::{Log, Recorded, Verdict},
    script::{Script, Source},
    seal::Issued,
    serve,
    stop::Stop,
};
use std::{
    io,
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, Weak},
    thread::{self, JoinHandle},
    time::Duration,
};

/// What every connection shares.
pub(super) struct Hub {
    pub(super) rules: Rules,
    pub(super) models_answer: Option<Answer>,
    pub(super) source: Mutex<Source>,
    /// What the answers so far have sealed.
    pub(super) issued: Mutex<Vec<Issued>>,
    pub(super) log: Log,
    pub(super) stop: Stop,
    connections: Mutex<Vec<Connection>>,
}

/// A connection being served. The socket is weak: the serving thread alone decides when it closes.
struct Connection {
    socket: Weak<TcpStream>,
    thread: JoinHandle<()>,
}

/// A running provider; dropping it ends it, whatever its answers are waiting for.
pub struct StrictProvider {
    address: SocketAddr,
    hub: Arc<Hub>,
    acceptor: Option<JoinHandle<()>>,
}

impl StrictProvider {
    /// Starts a provider on a free loopback port.
    ///
    /// # Panics
    ///
    /// When the operating system refuses a port or a thread.
    #[expect(clippy::panic, reason = "without a server there is no test to go on with")]
    pub fn start(script: impl Into<Script>) -> Self {
        match Self::try_start(script.into()) {
            Ok(provider) => provider,
            Err(error) => panic!("the strict provider did not start: {error}"),
        }
    }

    fn try_start(script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let hub = Arc::new(Hub::new(script));
        let shared = Arc::clone(&hub);
        let acceptor =
            thread::Builder::new().name("strict-accept".into()).spawn(move || accept(&listener, &shared))?;
        Ok(Self { address, hub, acceptor: Some(acceptor) })
    }

    /// The URL that a client of chat completions is configured with, such as `http://127.0.0.1:4000/v1`.
    pub fn base_url(&self) -> String {
        self.base_url_of(Protocol::Chat)
    }

    /// The URL that a client of that protocol is configured with: where the version is a part of it in the provider's own
    /// documents, so here.
    pub fn base_url_of(&self, protocol: Protocol) -> String {
        match protocol {
            Protocol::Chat | Protocol::Responses => format!("http://{}/v1", self.address),
            Protocol::Messages | Protocol::Gemini => format!("http://{}", self.address),
        }
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every request so far, refused or not, in order of arrival.
    pub fn requests(&self) -> Vec<Recorded> {
        self.hub.log.requests()
    }

    /// The accepted requests for an answer so far, in order of arrival.
    pub fn completions(&self) -> Vec<Recorded> {
        self.requests().into_iter().filter(|request| request.accepted() && request.is_completion()).collect()
    }

    /// One sentence for each refused request.
    pub fn rejections(&self) -> Vec<String> {
        self.requests().iter().filter_map(describe_rejection).collect()
    }

    /// Waits until `count` requests arrived, and says whether they did within `timeout`.
    pub fn wait_for_requests(&self, count: usize, timeout: Duration) -> bool {
        self.hub.log.wait_for_requests(count, timeout)
    }

    /// The indices of the requests whose client closed before the answer was complete.
    ///
    /// A stalled answer notices at once; any other notices when it next writes.
    pub fn hang_ups(&self) -> Vec<usize> {
        self.hub.log.hang_ups()
    }

    /// Waits until `count` clients hung up, and says whether they did within `timeout`.
    pub fn wait_for_hang_ups(&self, count: usize, timeout: Duration) -> bool {
        self.hub.log.wait_for_hang_ups(count, timeout)
    }

    /// Adds an answer to the end of the script.
    pub fn push(&self, answer: Answer) {
        Source::push(&self.hub.source, answer);
    }

    /// How many listed answers no request has taken yet.
    pub fn remaining(&self) -> usize {
        Source::remaining(&self.hub.source)
    }

    /// Fails the test when any request was refused.
    ///
    /// # Panics
    ///
    /// When any request was refused; the message lists them.
    pub fn assert_clean(&self) {
        let rejections = self.rejections();
        assert!(
            rejections.is_empty(),
            "the provider refused {} request(s):\n{}",
            rejections.len(),
            rejections.join("\n")
        );
    }
}

impl Drop for StrictProvider {
    fn drop(&mut self) {
        self.hub.stop.set();
        // The acceptor looks at the flag after every connection, and this is one.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(acceptor) = self.acceptor.take().filter(|_| woken) {
            let _ = acceptor.join();
        }
        self.hub.close_all();
    }
}

fn describe_rejection(request: &Recorded) -> Option<String> {
    match &request.verdict {
        Verdict::Accepted => None,
        Verdict::Rejected { status, message } => Some(format!(
            "request {} ({} {}): {status}: {message}",
            request.index, request.method, request.path
        )),
    }
}

fn accept(listener: &TcpListener, hub: &Arc<Hub>) {
    while !hub.stop.is_set() {
        let Ok((socket, _)) = listener.accept() else { continue };
        if !hub.stop.is_set() {
            hub.adopt(socket);
        }
    }
}

impl Hub {
    fn new(script: Script) -> Self {
        Self {
            rules: script.rules,
            models_answer: script.models_answer,
            source: Mutex::new(script.source),
            issued: Mutex::default(),
            log: Log::default(),
            stop: Stop::default(),
            connections: Mutex::default(),
        }
    }

    /// Serves `socket` on a thread of its own; a thread that cannot be had closes the socket.
    fn adopt(self: &Arc<Self>, socket: TcpStream) {
        let socket = Arc::new(socket);
        let weak = Arc::downgrade(&socket);
        let hub = Arc::clone(self);
        let spawned =
            thread::Builder::new().name("strict-connection".into()).spawn(move || serve::serve(&hub, socket));
        if let Ok(thread) = spawned {
            let mut connections = lock(&self.connections);
            connections.retain(|connection| !connection.thread.is_finished());
            connections.push(Connection { socket: weak, thread });
        }
    }

    /// Shuts every socket, which ends every blocked read and write, and joins every thread.
    fn close_all(&self) {
        let connections = std::mem::take(&mut *lock(&self.connections));
        for socket in connections.iter().filter_map(|connection| connection.socket.upgrade()) {
            let _ = socket.shutdown(Shutdown::Both);
        }
        for connection in connections {
            let _ = connection.thread.join();
        }
    }
}
