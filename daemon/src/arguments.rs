//! From a tool's raw JSON arguments to its typed ones, and from those types to a small schema.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::failure::Failure;

/// Reads the arguments of a tool. Unknown and ill-typed fields are refused by name.
///
/// # Errors
/// `INVALID_REQUEST` with what serde found wrong.
pub fn parse<T: DeserializeOwned>(raw: &RawValue) -> Result<T, Failure> {
    let mut json = serde_json::Deserializer::from_str(raw.get());
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let field = error.path().to_string();
        // Positions inside the arguments help nobody who did not write them as text.
        let text = error.into_inner().to_string();
        let message = text.split(" at line ").next().unwrap_or(&text);
        Failure::invalid(match field.as_str() {
            "." => message.to_owned(),
            _ if message.starts_with("unknown field") => message.to_owned(),
            field => format!("`{field}`: {message}"),
        })
    })
}

/// The JSON schema of `T`, without what only costs tokens: meta-schema, titles, number formats,
/// defaults of `null`.
pub fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    trim(&mut schema);
    schema
}

fn trim(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    for key in ["title", "format", "default"] {
        map.remove(key);
    }
    // An optional field may be left out; that it may also be null needs no saying.
    if let Some(Value::Array(kinds)) = map.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [one] = &kinds[..] {
            let one = one.clone();
            map.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(trim);
    }
    if let Some(items) = map.get_mut("items") {
        trim(items);
    }
}

/// One source, or several in order.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a string or an array of strings")]
pub enum Sources {
    /// One.
    One(String),
    /// An ordered set.
    Many(Vec<String>),
}

impl Sources {
    /// The sources in order.
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::One(source) => std::slice::from_ref(source),
            Self::Many(sources) => sources,
        }
    }
}

impl JsonSchema for Sources {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sources".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "array"], "items": {"type": "string"}})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Sample {
        /// What to read.
        path: Option<Sources>,
        /// How much.
        case_sensitive: Option<bool>,
        limit: u32,
    }

    #[test]
    fn schemas_are_small() {
        expect_test::expect![[r#"{"additionalProperties":false,"properties":{"caseSensitive":{"description":"How much.","type":"boolean"},"limit":{"minimum":0,"type":"integer"},"path":{"description":"What to read.","items":{"type":"string"},"type":["string","array"]}},"required":["limit"],"type":"object"}"#]]
        .assert_eq(&schema::<Sample>().to_string());
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| {
            let raw = RawValue::from_string(text.to_owned()).unwrap();
            parse::<Sample>(&raw).unwrap_err().message
        };
        assert_eq!(
            error(r#"{"limit":1,"pth":"x"}"#),
            "unknown field `pth`, expected one of `path`, `caseSensitive`, `limit`"
        );
        assert_eq!(error("{}"), "missing field `limit`");
        let wrong = error(r#"{"limit":-1}"#);
        assert_eq!(wrong, "`limit`: invalid value: integer `-1`, expected u32");
    }
}
