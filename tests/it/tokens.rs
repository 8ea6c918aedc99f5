//! What the tool list costs a model.

use serde_json::{Value, json};

use crate::support::Daemon;

/// The whole default list, as it stands in a model's context.
const MOST_TOKENS: usize = 2_000;
const MOST_DESCRIPTION_CHARS: usize = 400;

#[test]
fn the_default_tool_list_is_small() {
    let daemon = Daemon::start();
    let workspace = daemon.workspace();
    let mut session = daemon.session(&workspace);
    let list: Value = session.request("tools/list", &json!({}));
    let tools = list["tools"].as_array().expect("a list of tools");
    assert!(tools.iter().all(|tool| tool.get("outputSchema").is_none()), "nobody asked for it");
    let tokenizer = tiktoken_rs::o200k_base().expect("the tokenizer carries its tables");
    let count = |value: &Value| tokenizer.encode_ordinary(&value.to_string()).len();
    for tool in tools {
        let description = tool["description"].as_str().expect("a description");
        assert!(description.chars().count() < MOST_DESCRIPTION_CHARS, "{description}");
        println!("{:>6} tokens  {}", count(tool), tool["name"]);
    }
    let total = count(&list["tools"]);
    println!("{total:>6} tokens in all (o200k)");
    assert!(total < MOST_TOKENS, "{total} tokens");
}
