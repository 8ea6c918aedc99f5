//! The pages of the book that are made from tables; `UPDATE_EXPECT=1` writes them anew.

use std::fmt::Write as _;

use crate::builtins::BUILTINS;
use crate::config::settings::{Project, SETTINGS};

#[test]
fn the_configuration_page_is_made_from_the_tables() {
    let mut page = String::from(include_str!("book/configuration.md"));
    page.push_str("\n## Settings\n\n| setting | takes | a project may | variable | meaning |\n| --- | --- | --- | --- | --- |\n");
    for setting in SETTINGS {
        let project = match setting.project {
            Project::Free => "set it",
            Project::Tighten(_) => "make it stricter",
            Project::Never => "not set it",
        };
        let (name, variable) = (setting.name(), setting.variable());
        let (takes, meaning) = (setting.kind.expected(), setting.meaning);
        writeln!(page, "| `{name}` | {takes} | {project} | `{variable}` | {meaning} |").unwrap();
    }
    page.push_str("\n## Modules\n\n| id | needs | meaning |\n| --- | --- | --- |\n");
    for builtin in BUILTINS {
        let needs: Vec<String> = builtin.needs.iter().map(|id| format!("`{id}`")).collect();
        writeln!(page, "| `{}` | {} | {} |", builtin.id, needs.join(", "), builtin.meaning)
            .unwrap();
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/CONFIGURATION.md");
    expect_test::expect_file![path].assert_eq(&page);
}
