//! A refusal: the status, the words and the error body with which the provider turns a request away.

use serde_json::{Value, json};

/// What every check answers with.
pub(crate) type Check = Result<(), Rejection>;

/// Why a request was turned away, in the terms of the provider's error body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) status: u16,
    pub(crate) message: String,
    kind: &'static str,
    param: Option<String>,
    code: Option<&'static str>,
}

impl Rejection {
    /// A refusal with `status` that blames no parameter.
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Self {
        let kind = if status < 500 { "invalid_request_error" } else { "server_error" };
        Self { status, message: message.into(), kind, param: None, code: None }
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

    /// The JSON body that carries this refusal.
    pub(crate) fn body(&self) -> String {
        error_body(&self.message, self.kind, self.param.as_deref(), self.code).to_string()
    }
}

/// The provider's error shape.
pub(crate) fn error_body(message: &str, kind: &str, param: Option<&str>, code: Option<&str>) -> Value {
    json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
}
