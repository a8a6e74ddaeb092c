//! Rules and questions as they are written, shown and read again.

use super::*;

#[test]
fn rules_are_written_and_read() {
    for (text, shown) in [
        ("bash", "bash"),
        ("mcp_github_search", "mcp_github_search"),
        ("bash(git push*)", "bash(git push*)"),
        (" bash( echo (a) ) ", "bash(echo (a))"),
        ("view(/etc/**)", "read(/etc/**)"),
        ("edit(src/**)", "write(src/**)"),
        ("path(.env)", "path(.env)"),
        ("read(~/.ssh/**)", "read(/home/me/.ssh/**)"),
        ("host(Example.COM)", "host(example.com)"),
    ] {
        let subject = Subject::parse(text, Some("/home/me")).unwrap();
        assert_eq!(subject.to_string(), shown);
        assert_eq!(Subject::parse(shown, None).as_ref(), Ok(&subject));
    }
    for (text, problem) in [
        ("", "is not a rule"),
        ("git push", "is not a rule"),
        ("read", "is not a rule"),
        ("bash(rm", "is not a rule"),
        ("bsh", "did you mean \"bash\"?"),
        ("Bash", "did you mean \"bash\"?"),
        ("Write(src/**)", "did you mean \"write(src/**)\"?"),
        ("Bash(git log:*)", "did you mean \"bash(git log *)\"?"),
        ("shell", "no tool named \"shell\""),
        ("rm(x)", "what stands in parentheses"),
        ("todo(x)", "what stands in parentheses"),
        ("bash()", "nothing between"),
        ("bash(git:*)", "write a space before its last *"),
        ("host(https://x.com/)", "a name alone"),
        ("read(~/.ssh)", "~ is not known"),
        ("read(~you/.ssh)", "~ is not known"),
        ("read(../x)", "goes up with .."),
    ] {
        let problem_found = Subject::parse(text, None).unwrap_err().to_string();
        assert!(problem_found.contains(problem), "{text}: {problem_found}");
    }
}

#[test]
fn a_grant_is_what_the_command_begins_with_where_that_says_enough() {
    for (command, granted) in [
        ("git status", "bash(git status *)"),
        ("git commit -m x", "bash(git commit *)"),
        ("git -C x log", "bash(git -C x log)"),
        ("git config alias.x !sh", "bash(git config alias.x '!sh')"),
        ("git stash pop", "bash(git stash pop *)"),
        ("npm run build --fast", "bash(npm run build *)"),
        ("npm run", "bash(npm run)"),
        ("cargo", "bash(cargo)"),
        ("ls", "bash(ls *)"),
        ("rm -r x", "bash(rm -r x)"),
        ("./x *", r"bash(./x '\*')"),
    ] {
        let Verdict::Ask(ask) = judge("bash", &intent(&alloc::format!("$ {command}")), Interactive, &[])
        else {
            panic!("{command}")
        };
        let grants: Vec<_> = ask.grants.iter().map(|rule| rule.subject.to_string()).collect();
        assert_eq!(grants, [granted], "{command}");
    }
}

#[test]
fn a_path_can_be_granted_with_its_directory() {
    let Verdict::Ask(ask) = judge("write", &intent("> /w/a/b*"), Interactive, &[]) else { panic!() };
    assert_eq!(ask.grants, rules(&[r"allow write(/w/a/b\*)"]));
    assert_eq!(ask.by_directory(), rules(&["allow write(/w/a/**)"]));
}

#[test]
fn what_was_written_down_is_read_again() {
    let Verdict::Ask(ask) = judge("bash", &intent("$ ls; ! x; > /x; @ h; ~ /y; ?"), Interactive, &[]) else {
        panic!()
    };
    let text = serde_json::to_string(&ask).unwrap();
    assert_eq!(serde_json::from_str::<Ask>(&text).unwrap(), ask);
    let older: Intent =
        serde_json::from_str(r#"{"commands":[],"reads":[],"writes":[],"hosts":[],"complete":true}"#).unwrap();
    assert_eq!(older, Intent { complete: true, ..Intent::default() });
}

#[test]
fn a_rule_that_could_never_match_is_refused_or_written_as_paths_are() {
    for (written, meant) in [
        ("read(secret//**)", "read(secret/**)"),
        ("read(./secret/./**)", "read(./secret/**)"),
        ("read(//etc///ssl/.)", "read(/etc/ssl/)"),
        ("read(**//key)", "read(**/key)"),
        (r"read(\{a,b}/**)", r"read(\{a,b}/**)"),
        ("read({{name}}/**)", "read({{name}}/**)"),
        (r#"read(\"a")"#, r#"read(\"a")"#),
        (r#"read(a "b" c)"#, r#"read(a "b" c)"#),
        ("bash('a b' 'c d')", "bash('a b' 'c d')"),
    ] {
        assert_eq!(Subject::parse(written, None).unwrap().to_string(), meant);
    }
    for (written, says) in [
        (r#"read("secret/**")"#, "leave out the quotes"),
        ("read('secret/**')", "leave out the quotes"),
        (r#"bash("git log *")"#, "leave out the quotes"),
        (r#"host("example.com")"#, "leave out the quotes"),
        ("read({secret,x}/**)", "a rule for each choice"),
        ("write(a/b{1..3})", "a rule for each choice"),
        ("read({a{b},c}/**)", "a rule for each choice"),
    ] {
        let said = Subject::parse(written, None).unwrap_err().to_string();
        assert!(said.contains("would never apply") && said.contains(says), "{written}: {said}");
    }
}

#[test]
fn what_is_forbidden_by_the_name_of_a_link_is_forbidden_where_it_leads() {
    let lead = |path: &str| match path {
        "lnk" => Some("/w/re*al".to_owned()),
        "/x/lnk/a" => Some("/y/a".to_owned()),
        "top" => Some("/".to_owned()),
        _ => None,
    };
    let behind = |action, text: &str| {
        let rule = Rule::parse(action, text, None).unwrap();
        rule.behind(lead).map(|rule| rule.to_string())
    };
    for (text, expected) in [
        ("read(lnk/**)", Some(r"deny read(/w/re\*al/**)")),
        ("path(lnk)", Some(r"deny path(/w/re\*al)")),
        ("write(lnk/)", Some(r"deny write(/w/re\*al)")),
        ("read(/x/lnk/a/*.txt)", Some("deny read(/y/a/*.txt)")),
        ("read(top/*/b)", Some("deny read(/*/b)")),
        ("read(top)", Some("deny read(/)")),
        ("read(**/lnk)", None),
        ("read(*)", None),
        ("read(./*)", None),
        ("bash(lnk)", None),
        ("view", None),
    ] {
        assert_eq!(behind(Action::Deny, text).as_deref(), expected, "{text}");
    }
    assert_eq!(behind(Action::Ask, "read(lnk/**)").as_deref(), Some(r"ask read(/w/re\*al/**)"));
    // What is allowed by the name of a link is not allowed where somebody may have led it.
    assert_eq!(behind(Action::Allow, "read(lnk/**)"), None);
}
