//! A table as a file: JSON with a row a line, so that a difference between two tables can be read.

use super::Table;

impl Table {
    /// The text that [`Table::read`] reads.
    pub fn to_text(&self) -> String {
        let operations: Vec<String> = self
            .rows
            .iter()
            .map(|(operation, rows)| {
                let rows: Vec<String> = rows.iter().map(|row| format!("      {}", json(row))).collect();
                format!("    {}: [\n{}\n    ]", json(operation), rows.join(",\n"))
            })
            .collect();
        format!(
            "{{\n  \"architecture\": {},\n  \"measured_on\": {},\n  \"rows\": {{\n{}\n  }}\n}}\n",
            self.architecture,
            json(&self.measured_on),
            operations.join(",\n")
        )
    }
}

/// Rows and names have nothing that JSON cannot say.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
