#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;

const PERSON: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": {
    "name": {"type": "string", "pattern": "^[a-z]+$"},
    "age": {"type": "integer", "minimum": 0},
    "friends": {"type": "array", "items": {"$ref": "#"}}
  },
  "required": ["name"],
  "additionalProperties": false
}"##;

fn problem(schema: &str, answer: &str) -> String {
    match judge(schema, answer) {
        Verdict::Violated(problem) => problem,
        other => panic!("{answer}: {other:?}"),
    }
}

fn fault_of(schema: &str) -> Fault {
    match check(schema) {
        Err(Unfit::Fault(fault)) => fault,
        other => panic!("{schema}: {other:?}"),
    }
}

#[test]
fn an_answer_is_json_that_satisfies_the_schema_and_nothing_else() {
    for answer in [r#"{"name":"a"}"#, " {\"name\":\"a\",\n\"friends\":[{\"name\":\"b\",\"age\":3}]}\n"] {
        assert_eq!(judge(PERSON, answer), Verdict::Satisfied, "{answer}");
    }
    for (answer, said) in [
        ("", "It is not JSON: EOF"),
        ("```json\n{\"name\":\"a\"}\n```", "it begins with a code fence, which must be left out"),
        ("Here it is: {\"name\":\"a\"}", "it must begin with the JSON itself"),
        ("{\"name\":\"a\"}\nAnything else?", "trailing characters at line 2 column 1"),
        ("1e400", "A number in it is too large to be judged (line 1, column 5); numbers go up to"),
        (r#"{"name":"a","age":-1e999}"#, "A number in it is too large"),
        ("{}", "at the whole: missing properties 'name'"),
        ("[]", "at the whole: want object, but got array"),
        (r#"{"name":"A","age":1.5}"#, "at /age: want integer, but got number\nat /name: 'A' does not match"),
        (
            r#"{"name":"a","friends":[{"name":"b"},{"name":1}]}"#,
            "at /friends/1/name: want string, but got number",
        ),
        (r#"{"name":"a","b":1}"#, "additionalProperties 'b' not allowed"),
    ] {
        let problem = problem(PERSON, answer);
        assert!(problem.contains(said), "{answer}: {problem}");
        let is_text = answer.is_empty() || answer.starts_with("Here");
        assert_eq!(problem.contains("must begin with the JSON"), is_text, "{problem}");
    }
}

#[test]
fn what_is_said_of_an_answer_is_bounded() {
    let list = r#"{"items":{"type":"string","maxLength":3}}"#;
    let long = format!("[{}{:?}]", "1,".repeat(50), "x".repeat(5_000));
    let problem = problem(list, &long);
    assert!(problem.ends_with("\nand 41 more"), "{problem}");
    let enumerated = format!(r#"{{"enum":[{}"y"]}}"#, r#""xxxxxxxxxx","#.repeat(500));
    let said = super::tests::problem(&enumerated, "1");
    assert!(said.len() < 500 && said.ends_with('…'), "{said}");
}

#[test]
fn schemas_of_older_drafts_are_understood() {
    let old = r##"{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"n":{"type":"number"}},
        "items":[{"$ref":"#/definitions/n"}],"additionalItems":false}"##;
    assert_eq!((check(old), judge(old, "[1]")), (Ok(()), Verdict::Satisfied));
    assert!(problem(old, "[1,2]").contains("additionalItems"));
}

#[test]
fn what_is_wrong_with_a_schema_is_said_with_its_place() {
    for (schema, at, said) in [
        ("", Some((1, 1)), "it is not JSON (EOF while parsing a value)"),
        ("{\n  \"type\": \"object\",\n}", Some((3, 1)), "it is not JSON (trailing comma)"),
        ("[1]", Some((1, 1)), "it is no JSON Schema (want boolean or object, but got array)"),
        (
            "{\n  \"type\": \"objekt\"\n}",
            Some((2, 11)),
            "it is no JSON Schema (value must be one of 'array',",
        ),
        ("{\"properties\": {\"a\": {\"minimum\": \"x\"}}}", Some((1, 34)), "want number, but got string"),
        (
            "{\n\"$ref\": \"https://example.com/s\"}",
            Some((2, 9)),
            "it refers to https://example.com/s, and nothing",
        ),
        ("{\"$ref\": \"other.json#/a\"}", Some((1, 10)), "it refers to other.json, and nothing"),
        ("{\"$ref\": \"file:///etc/passwd\"}", Some((1, 10)), "it refers to file:///etc/passwd, and nothing"),
        (
            "{\"$schema\": \"https://example.com/own\"}",
            Some((1, 13)),
            "it refers to https://example.com/own, and",
        ),
        ("{\"$ref\": \"#/$defs/x\"}", Some((1, 10)), "it refers to #/$defs/x, which is not there"),
        ("{\"$ref\": \"#x\"}", Some((1, 10)), "it refers to #x, which is not there"),
        ("{\"pattern\": \"(?=a)\"}", Some((1, 13)), "look-around"),
        ("{\"$id\": \"://x\"}", Some((1, 9)), "it is no JSON Schema ('://x' is not valid"),
    ] {
        let fault = fault_of(schema);
        assert_eq!(fault.at, at, "{schema}: {}", fault.message);
        assert!(fault.message.contains(said) && !fault.message.contains('\n'), "{schema}: {}", fault.message);
    }
    let long = format!("{{\"description\":{:?}}}", "x".repeat(SCHEMA_BYTES));
    assert_eq!(fault_of(&long).message, "it is longer than 64 KiB");
}

#[test]
fn an_answer_is_not_judged_by_a_schema_that_cannot_be_used() {
    for schema in ["{", r#"{"type":"objekt"}"#, r#"{"$ref":"https://example.com/s"}"#] {
        assert!(matches!(judge(schema, "{}"), Verdict::Undecided(text) if text.ends_with('.')), "{schema}");
    }
}

#[test]
fn a_schema_that_goes_round_in_circles_comes_to_an_end() {
    // A circle through a schema with a name of its own is found only when an answer is looked at.
    let circle = r##"{"$defs":{"a":{"$id":"b","$ref":"#"}},"$ref":"#/$defs/a"}"##;
    assert_eq!(check(circle), Ok(()));
    assert!(matches!(judge(circle, "{}"), Verdict::Undecided(why) if why.contains("refers to itself")));
    let tower = format!("{}{}", "[".repeat(100), "]".repeat(100));
    assert_eq!(judge(r##"{"items":{"$ref":"#"}}"##, &tower), Verdict::Satisfied);
    assert!(problem("{}", &format!("{}{}", "[".repeat(1_000), "]".repeat(1_000))).contains("recursion"));
}

#[test]
fn references_that_lead_on_and_on_have_room() {
    let mut schema = String::from("{\"$ref\":\"#/$defs/0\",\"$defs\":{");
    let mut nth = 0;
    while schema.len() < SCHEMA_BYTES - 100 {
        schema.push_str(&format!("\"{nth}\":{{\"$ref\":\"#/$defs/{}\"}},", nth + 1));
        nth += 1;
    }
    schema.push_str(&format!("\"{nth}\":{{\"type\":\"object\"}}}}}}"));
    assert!(nth > 1_500, "{nth}");
    assert_eq!(judge(&schema, "{}"), Verdict::Satisfied);
    assert!(problem(&schema, "1").contains("want object"));
}

#[test]
fn a_schema_by_which_nothing_can_be_decided_is_refused_with_its_place() {
    for (schema, at, said) in [
        (r##"{"$ref":"#"}"##, (1, 9), r##""#" leads back to itself"##),
        (r##"{"allOf":[{"$ref":"#"}]}"##, (1, 19), "leads back"),
        (
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}"##,
            (1, 86),
            "leads back",
        ),
        (
            r##"{"properties":{"x":{"$ref":"#/$defs/a~1b%20c"}},"$defs":{"a/b c":{"if":{"$ref":"#/$defs/a~1b%20c"}}}}"##,
            (1, 80),
            "leads back",
        ),
        (r##"{"items":{"$anchor":"me","dependentSchemas":{"x":{"$ref":"#me"}}}}"##, (1, 58), "leads back"),
        (
            r#"{"properties":{"price":{"multipleOf":0.01}}}"#,
            (1, 38),
            "multiples of \"0.01\" cannot be told exactly",
        ),
        (
            r#"{"maximum":9007199254740993}"#,
            (1, 12),
            r#"as large as "9007199254740993" cannot be told exactly"#,
        ),
        (r#"{"items":{"exclusiveMinimum":-9007199254740992}}"#, (1, 30), "leave exclusiveMinimum out"),
        (r#"{"multipleOf":1e300}"#, (1, 15), "leave multipleOf out"),
        (
            "{\"type\":\"object\",\n\"type\":\"array\"}",
            (2, 1),
            r#"the name "type" stands twice in one object"#,
        ),
    ] {
        let fault = fault_of(schema);
        assert!(fault.at == Some(at) && fault.message.contains(said), "{schema}: {fault:?}");
    }
    for large in [
        r#"{"pattern":"((a{1,1000}){1,1000}){1,1000}"}"#,
        r#"{"patternProperties":{"((a{1,1000}){1,1000}){1,1000}":{}}}"#,
    ] {
        let fault = fault_of(large);
        assert!(
            fault.at.is_some() && fault.message.ends_with("is too large when it is written out"),
            "{fault:?}"
        );
    }
}

#[test]
fn what_is_a_schema_is_told_by_the_keyword_above_it_and_not_by_its_name() {
    // Properties may be called like keywords, and schemas may stand where only a reference finds them.
    for schema in [
        r#"{"properties":{"enum":{"multipleOf":0.01}}}"#,
        r#"{"properties":{"default":{"maximum":9007199254740993}}}"#,
        r##"{"$dynamicRef":"#/mine/0","mine":[{"multipleOf":0.01}]}"##,
        r##"{"$ref":"#/mine/0","mine":[{"pattern":"((a{1,1000}){1,1000}){1,1000}"}]}"##,
        r#"{"prefixItems":[{},{"items":[{"multipleOf":0.3}]}],"dependencies":{"a":["b"]}}"#,
    ] {
        assert!(fault_of(schema).at.is_some(), "{schema}");
    }
    // What says nothing about values is no schema, whatever it looks like.
    for schema in [
        r#"{"default":{"multipleOf":0.01}}"#,
        r#"{"enum":[{"maximum":9007199254740993}]}"#,
        r#"{"x-note":{"multipleOf":0.01},"properties":{"multipleOf":{"const":{"multipleOf":0.01}}}}"#,
    ] {
        assert_eq!(check(schema), Ok(()), "{schema}");
    }
}

#[test]
fn only_digits_follow_a_percent_sign_in_a_reference() {
    let schema = r##"{"$ref":"#/$defs/%+9","$defs":{"%+9":{"$ref":"#/$defs/%+9"}}}"##;
    let fault = fault_of(schema);
    assert!(fault.message.contains("leads back") || fault.message.contains("no JSON Schema"), "{fault:?}");
}

#[test]
fn a_schema_that_refers_to_itself_about_what_is_inside_is_like_any_other() {
    for schema in [
        r##"{"properties":{"next":{"$ref":"#"}}}"##,
        r##"{"items":{"anyOf":[{"$ref":"#"},{"type":"string"}]}}"##,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/a"}},"b":{"$ref":"#/$defs/a"}}}"##,
        r##"{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"$defs":{"a":{}}}"##,
        r##"{"const":{"$ref":"#/const"}}"##,
        r##"{"enum":[{"multipleOf":0.01}]}"##,
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"$ref":"#/definitions/b","not":{"$ref":"#/definitions/a"}},"b":{}}}"##,
        r#"{"multipleOf":0.25}"#,
        r#"{"minimum":-9007199254740991,"maximum":9007199254740991,"exclusiveMinimum":0.1}"#,
        r#"{"const":{"maximum":1e300},"properties":{"maximum":{"const":1e300}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","maximum":5,"exclusiveMaximum":true}"#,
        "\u{feff}{\"multipleOf\":100}",
    ] {
        assert_eq!(check(schema), Ok(()), "{schema}");
    }
}

#[test]
fn an_answer_says_each_name_once() {
    let problem = problem("{}", r#"[{"a":1,"b":{"c":1,"\u0063":2}}]"#);
    assert_eq!(problem, r#"The name "c" stands twice in the same object."#);
    assert_eq!(judge("{}", r#"{"a":{"a":1},"b":{"a":1}}"#), Verdict::Satisfied);
}

#[test]
fn that_there_is_no_room_is_not_said_to_be_the_fault_of_the_schema() {
    let error = with_room(usize::MAX / 4, || ()).unwrap_err();
    assert!(error.contains("no room in memory"), "{error}");
    assert_eq!(with_room(1 << 20, || 7), Ok(7));
}
