//! A refusal: the status and the words with which the provider turns a request away. How it is written is up to the
//! protocol.

/// What every check answers with.
pub(crate) type Check = Result<(), Rejection>;

/// Why a request was turned away, or what failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) status: u16,
    pub(crate) message: String,
    /// The parameter that is to blame.
    pub(crate) param: Option<String>,
    /// The machine-readable code, in a protocol that has one.
    pub(crate) code: Option<&'static str>,
}

impl Rejection {
    /// A refusal with `status` that blames no parameter.
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), param: None, code: None }
    }

    /// A 400 that blames the parameter at `path`.
    pub(crate) fn bad(path: &str, message: impl Into<String>) -> Self {
        Self { param: Some(path.to_owned()), ..Self::new(400, message) }
    }

    /// A 400 for something the reference server lets pass and other compatible servers do not.
    pub(crate) fn house(path: &str, message: &str) -> Self {
        Self::bad(path, format!("House rule: {message}")).code("house_rule")
    }

    /// Sets the machine-readable code.
    pub(crate) fn code(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }
}
