//! Schemas: that a tool's parameters are a JSON schema of the kind that providers take.

use crate::strict::reject::{Check, Rejection};
use serde_json::{Map, Value};

const TYPES: &[&str] = &["string", "number", "integer", "boolean", "object", "array", "null"];

/// Whose schema is walked, for the refusal.
struct Walk<'a> {
    param: &'a str,
    function: &'a str,
    strict: bool,
}

/// Checks the parameters of `function`, found at `param`.
pub(in crate::strict) fn parameters(schema: &Value, param: &str, function: &str, strict: bool) -> Check {
    let walk = Walk { param, function, strict };
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "object" => walk.schema(schema, "()"),
        _ => walk.refuse("()", "schema must be a JSON Schema of 'type: \"object\"'"),
    }
}

impl Walk<'_> {
    fn refuse(&self, context: &str, what: &str) -> Check {
        let message =
            format!("Invalid schema for function '{}': In context={context}, {what}.", self.function);
        Err(Rejection::bad(self.param, message).code("invalid_function_parameters"))
    }

    fn schema(&self, schema: &Value, context: &str) -> Check {
        let Some(schema) = schema.as_object() else {
            return self.refuse(context, "a schema must be an object");
        };
        self.kinds(schema, context)?;
        if schema.get("description").is_some_and(|text| !text.is_string()) {
            return self.refuse(context, "'description' must be a string");
        }
        if schema.get("enum").is_some_and(|values| values.as_array().is_none_or(Vec::is_empty)) {
            return self.refuse(context, "'enum' must be a non-empty array");
        }
        self.array(schema, context)?;
        self.properties(schema, context)?;
        self.required(schema, context)?;
        self.strictly(schema, context)?;
        self.alternatives(schema, context)
    }

    fn kinds(&self, schema: &Map<String, Value>, context: &str) -> Check {
        let known = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
        match schema.get("type") {
            None => Ok(()),
            Some(Value::Array(kinds)) if !kinds.is_empty() && kinds.iter().all(known) => Ok(()),
            Some(kind) if known(kind) => Ok(()),
            Some(kind) => self.refuse(context, &format!("{kind} is not a valid type")),
        }
    }

    fn array(&self, schema: &Map<String, Value>, context: &str) -> Check {
        match schema.get("items") {
            Some(items) => self.schema(items, &format!("{context}.items")),
            None if is(schema, "array") => self.refuse(context, "array schema missing items"),
            None => Ok(()),
        }
    }

    fn properties(&self, schema: &Map<String, Value>, context: &str) -> Check {
        match schema.get("properties") {
            None if is(schema, "object") && context == "()" => {
                self.refuse(context, "object schema missing properties")
            }
            None => Ok(()),
            Some(Value::Object(properties)) => properties
                .iter()
                .try_for_each(|(name, schema)| self.schema(schema, &format!("{context}.{name}"))),
            Some(_) => self.refuse(context, "'properties' must be an object"),
        }
    }

    fn required(&self, schema: &Map<String, Value>, context: &str) -> Check {
        let Some(required) = schema.get("required") else { return Ok(()) };
        let Some(required) = required.as_array() else {
            return self.refuse(context, "'required' must be an array");
        };
        for (index, name) in required.iter().enumerate() {
            let Some(text) = name.as_str() else {
                return self.refuse(context, "'required' must name properties");
            };
            if required[..index].contains(name) {
                return self.refuse(context, &format!("'{text}' is required twice"));
            }
            if schema.get("properties").and_then(|properties| properties.get(text)).is_none() {
                return self.refuse(context, &format!("'{text}' is required but not a property"));
            }
        }
        Ok(())
    }

    /// What `strict: true` asks of every object.
    fn strictly(&self, schema: &Map<String, Value>, context: &str) -> Check {
        if !self.strict || !is(schema, "object") {
            return Ok(());
        }
        if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
            return self.refuse(context, "'additionalProperties' is required to be supplied and to be false");
        }
        let count = |name: &str| match schema.get(name) {
            Some(Value::Array(names)) => names.len(),
            Some(Value::Object(names)) => names.len(),
            _ => 0,
        };
        if count("required") != count("properties") {
            return self.refuse(context, "'required' must name every property");
        }
        Ok(())
    }

    fn alternatives(&self, schema: &Map<String, Value>, context: &str) -> Check {
        for name in ["anyOf", "oneOf", "allOf"] {
            match schema.get(name) {
                None => {}
                Some(Value::Array(schemas)) if !schemas.is_empty() => {
                    let inner = format!("{context}.{name}");
                    schemas.iter().try_for_each(|schema| self.schema(schema, &inner))?;
                }
                Some(_) => return self.refuse(context, &format!("'{name}' must be a non-empty array")),
            }
        }
        Ok(())
    }
}

/// Whether the schema is of this one type.
fn is(schema: &Map<String, Value>, kind: &str) -> bool {
    schema.get("type").is_some_and(|given| given == kind)
}
