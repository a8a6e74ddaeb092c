//! Fields that a configuration adds to the body of every request to a provider.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The body with those fields, each JSON text, in the place of what stands there, else at its end. All else stays as it
/// is, byte for byte and in its order.
pub fn with_fields(body: String, fields: &BTreeMap<String, String>) -> String {
    if fields.is_empty() {
        return body;
    }
    let Ok(Fields(mut all)) = serde_json::from_str::<Fields>(&body) else { return body };
    for (name, value) in fields {
        let Ok(value) = RawValue::from_string(value.clone()) else { continue };
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, held)) => *held = value,
            None => all.push((name.to_string(), value)),
        }
    }
    serde_json::to_string(&Fields(all)).unwrap_or(body)
}

/// The fields of an object in their order.
struct Fields(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reads;
        impl<'de> Visitor<'de> for Reads {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Reads)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_take_the_place_of_what_is_there_and_all_else_stays() {
        let body = r#"{"b":1.50,"a":{"z":[1, 2]},"c":"d"}"#;
        let fields = |all: &[(&str, &str)]| {
            all.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
        };
        assert_eq!(with_fields(body.into(), &fields(&[])), body);
        let more = with_fields(body.into(), &fields(&[("x", "[true]"), ("b", r#"{"y":0}"#)]));
        assert_eq!(more, r#"{"b":{"y":0},"a":{"z":[1, 2]},"c":"d","x":[true]}"#);
        assert_eq!(with_fields("no object".into(), &fields(&[("x", "1")])), "no object");
    }
}
