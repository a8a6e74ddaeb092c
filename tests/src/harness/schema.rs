//! The schema of a run's lines, held against what runs print. Only what that schema uses is understood here, and a field that it
//! does not name is a fault, although readers must not mind one.

use serde_json::{Map, Value};

use super::Lines;

const SCHEMA: &str = include_str!("../../../docs/run.schema.json");

/// Checks every line.
pub(super) fn check(lines: &Lines) -> Result<(), String> {
    let schema: Value = serde_json::from_str(SCHEMA).map_err(|error| error.to_string())?;
    for line in lines.all() {
        let kind = line["type"].as_str().unwrap_or_default();
        let of_kind =
            schema["$defs"].get(kind).ok_or_else(|| format!("the schema has no line {kind}: {line}"))?;
        fits(of_kind, line).map_err(|why| format!("{why}, in {line}"))?;
    }
    Ok(())
}

fn fits(schema: &Value, value: &Value) -> Result<(), String> {
    let types = &schema["type"];
    let is_one = types.as_str() == Some(kind(value))
        || types.as_array().is_some_and(|all| all.iter().any(|one| one == kind(value)))
        || kind(value) == "integer" && types.to_string().contains("number");
    if !is_one {
        return Err(format!("{value} is not {types}"));
    }
    if schema.get("const").is_some_and(|only| only != value)
        || schema["enum"].as_array().is_some_and(|all| !all.contains(value))
    {
        return Err(format!("{value} is none of the values of {schema}"));
    }
    value.as_object().map_or(Ok(()), |object| fits_object(schema, object))
}

fn fits_object(schema: &Value, object: &Map<String, Value>) -> Result<(), String> {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        object.get(name).ok_or_else(|| format!("{name} is missing"))?;
    }
    for (name, value) in object {
        let of_field =
            schema["properties"].get(name).ok_or_else(|| format!("the schema does not name {name}"))?;
        fits(of_field, value).map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_new_or_of_another_type_is_found() {
        let good = r#"{"v":1,"seq":2,"ts":"t","run":"r","session":null,"type":"warning","message":"m"}"#;
        assert_eq!(check(&Lines::whole(&format!("{good}\n"))), Ok(()));
        for (from, to) in [
            (r#","message":"m""#, ""),
            (r#""m""#, r#""m","more":1"#),
            (r#""m""#, "7"),
            ("warning", "unknown"),
            (r#""v":1"#, r#""v":2"#),
        ] {
            let bad = good.replace(from, to);
            assert!(check(&Lines::whole(&format!("{bad}\n"))).is_err(), "{bad}");
        }
    }
}
