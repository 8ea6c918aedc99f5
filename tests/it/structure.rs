//! The shape of the code base: arrows between rooms, registries, pages that must follow the code.

use std::path::{Path, PathBuf};

/// What each package may depend on, of ours.
const ARROWS: &[(&str, &[&str])] = &[
    ("anchors", &[]),
    ("protocol", &[]),
    ("resolvers", &["anchors"]),
    ("editor", &["anchors", "resolvers"]),
    ("daemon", &["anchors", "resolvers", "editor", "protocol"]),
    ("tests", &["anchors", "protocol"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the root").to_owned()
}

fn manifest(package: &str) -> String {
    let folder = if package == "protocol" { "daemon/protocol" } else { package };
    std::fs::read_to_string(root().join(folder).join("Cargo.toml")).expect("a manifest")
}

#[test]
fn arrows_point_down_only() {
    let names: Vec<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    for (package, allowed) in ARROWS {
        let manifest = manifest(package);
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        for other in &names {
            let named = dependencies.lines().any(|line| line.starts_with(&format!("{other}.")));
            assert!(!named || allowed.contains(other), "{package} must not depend on {other}");
        }
    }
}

#[test]
fn domain_rooms_know_no_json_and_no_async() {
    for package in ["anchors", "resolvers", "editor"] {
        let manifest = manifest(package);
        for banned in ["serde", "serde_json", "tokio"] {
            let named = manifest.lines().any(|line| line.starts_with(&format!("{banned}.")));
            assert!(!named, "{package} must not depend on {banned}");
        }
    }
}

#[test]
fn every_tool_and_source_file_is_in_the_table_of_builtins() {
    let table = std::fs::read_to_string(root().join("daemon/src/builtins.rs")).expect("the table");
    for (folder, prefix) in [("daemon/src/tools", "tool"), ("resolvers/src/sources", "source")] {
        for entry in std::fs::read_dir(root().join(folder)).expect("a registry folder").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(stem) = name.strip_suffix(".rs") else { continue };
            let id = format!("\"{prefix}.{}\"", stem.replace('_', "-"));
            assert!(table.contains(&id), "{folder}/{name} is not listed as {id} in builtins.rs");
        }
    }
}

#[test]
fn the_page_of_error_codes_is_generated_from_the_table() {
    let mut page = String::from(
        "# Error codes\n\nEvery error carries one of these words. They never change their meaning.\n\
         This page is generated from `anchors/src/code.rs`.\n\n| code | meaning |\n| --- | --- |\n",
    );
    for code in anchors::ErrorCode::ALL {
        page.push_str(&format!("| `{code}` | {} |\n", code.meaning()));
    }
    expect_test::expect_file![root().join("docs/ERRORS.md")].assert_eq(&page);
}

#[test]
fn links_between_the_pages_of_the_book_hold() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("the summary");
    for link in summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(docs.join(link).is_file(), "SUMMARY.md links to {link}, which is not there");
    }
}

#[test]
fn the_binary_links_nothing_beyond_the_c_library() {
    let binary = tests::launch::binary().expect("the binary is built");
    let output = std::process::Command::new("ldd").arg(binary).output().expect("ldd runs");
    let text = String::from_utf8_lossy(&output.stdout);
    // libm is a part of the C library, libgcc_s unwinds the stack of a panic.
    let allowed = ["linux-vdso.so", "libc.so", "libm.so", "libgcc_s.so", "ld-linux"];
    for line in text.lines() {
        assert!(allowed.iter().any(|name| line.contains(name)), "{line}");
    }
}
