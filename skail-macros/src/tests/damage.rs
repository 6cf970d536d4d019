//! Half-written code, as an editor hands it over: nothing panics, and the function never vanishes.

use proc_macro2::{Group, TokenStream, TokenTree};

use super::{expand, idents, take_attribute};

const COMMAND: &str = r#"
    #[skail_command(
        retry_count = 8, timeout = "10s", name = "charge", idempotency_key = "charge-{invoice}",
        backoff(base = "1s", factor = 2, cap = "30s", jitter = "full")
    )]
    #[cfg(all())]
    pub(crate) async fn charge_card(
        #[state] gateway: &Gateway,
        mut invoice: Option<Vec<u8>>,
        amount: i64,
    ) -> Result<Charge, Error> {
        #[skail(allow_nondeterminism)]
        let id = Uuid::new_v4();
        if amount > 1 { gateway.charge(invoice, amount, id).await } else { Err(Error) }
    }
"#;

const FUNCTION: &str = r#"
    #[skail_function(retry_count = LIMIT)]
    async fn process(invoice: u64) -> anyhow::Result<()> {
        #[skail(allow_nondeterminism)]
        log(SystemTime::now());
        tokio::select! { biased; a = charge_card(invoice) => a?, b = other() => b? };
        Ok(())
    }
"#;

/// Every stream that differs from `tokens` by one missing token tree, at any depth.
fn with_one_missing(tokens: &TokenStream) -> Vec<TokenStream> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut all = Vec::new();
    for (at, tree) in trees.iter().enumerate() {
        let around = |middle: TokenStream| {
            let (before, after) = (trees.iter().take(at), trees.iter().skip(at + 1));
            before
                .cloned()
                .chain(middle)
                .chain(after.cloned())
                .collect()
        };
        all.push(around(TokenStream::new()));
        if let TokenTree::Group(group) = tree {
            for inside in with_one_missing(&group.stream()) {
                let group = Group::new(group.delimiter(), inside);
                all.push(around(TokenTree::Group(group).into()));
            }
        }
    }
    all
}

fn has_ident(tokens: TokenStream, name: &str) -> bool {
    let mut words = Vec::new();
    idents(tokens, &mut words);
    words.iter().any(|word| word == name)
}

#[test]
fn any_missing_token_leaves_the_function() {
    for (code, name) in [(COMMAND, "charge_card"), (FUNCTION, "process")] {
        let (kind, options, item) = take_attribute(code.parse().expect("it lexes"));
        let mut cases = 0;
        for damaged in with_one_missing(&item) {
            let output = crate::attribute(kind, options.clone(), damaged.clone());
            assert!(!output.is_empty());
            let kept = !has_ident(damaged.clone(), name) || has_ident(output.clone(), name);
            assert!(kept, "{damaged}\nbecame\n{output}");
            cases += 1;
        }
        for damaged in with_one_missing(&options) {
            let output = crate::attribute(kind, damaged, item.clone());
            assert!(has_ident(output, name));
            cases += 1;
        }
        assert!(cases > 50, "{cases}");
    }
}

#[test]
fn an_unfinished_body_is_passed_on_as_it_is() {
    for body in [
        "charge.",
        "if 1",
        "let x = ;",
        "match { }",
        "foo(,)",
        "#",
        "#[",
        "a ::",
        "use x::",
    ] {
        let Ok(body) = body.trim_end_matches('[').parse::<TokenStream>() else {
            continue;
        };
        let code =
            format!("#[skail_function] async fn f(id: u64) -> anyhow::Result<()> {{ {body} }}");
        let output = expand(&code).to_string();
        assert!(output.contains(&format!("{{ {body} }}")), "{output}");
        assert!(!output.contains("compile_error"), "{output}");
    }
}

#[test]
fn an_unfinished_signature_comes_back_untouched() {
    for item in [
        "async fn f(id: ) -> anyhow::Result<()> { body() }",
        "async fn f(id: u64) -> { body() }",
        "async fn f(id: u64",
        "pub async",
        "fn",
        "",
    ] {
        let Ok(item) = item.parse::<TokenStream>() else {
            continue;
        };
        let output = crate::attribute(crate::kind::Kind::Command, TokenStream::new(), item.clone());
        assert!(
            output.to_string().starts_with(&item.to_string()),
            "{output}"
        );
        assert!(output.to_string().contains("compile_error"), "{output}");
    }
}

#[test]
fn a_wrong_option_does_not_cost_the_expansion() {
    for options in [
        "timeout",
        "timeout =",
        "= 3",
        "retry_count = -1, colour",
        "backoff(base =)",
        "1 2 3",
    ] {
        let code = format!(
            "#[skail_command({options})] async fn f(id: u64) -> anyhow::Result<()> {{ Ok(()) }}"
        );
        let output = expand(&code).to_string();
        assert!(output.contains("command_call"), "{options}: {output}");
        assert!(output.contains("compile_error"), "{options}: {output}");
    }
}

#[test]
fn our_helper_attributes_never_reach_rustc() {
    for signature in [
        "(self, #[state] db: &Db)",
        "(#[state] db: Db)",
        "(#[state] db: &Db, x: &str)",
    ] {
        let code = format!(
            "#[skail_command] #[skail_function] async fn f{signature} -> Result<(), E> {{
                #[skail(allow_nondeterminism)] now(); x(#[skail(allow_nondeterminism)] y); }}"
        );
        let output = expand(&code).to_string();
        for word in ["# [state]", "# [skail", "allow_nondeterminism)"] {
            let code = output.split("compile_error").next().unwrap_or_default();
            assert!(!code.contains(word), "{word}: {output}");
        }
    }
}
