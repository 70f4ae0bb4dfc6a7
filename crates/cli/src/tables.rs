//! The user's tuning tables: one for each architecture, in the configuration directory.
//!
//! `WARPMP_TUNING` names a table to be used instead, or `none`.

use std::{env, ffi::OsString, io, path::PathBuf};

use warpmp::tuning::{self, Table, TableError};

use crate::{
    console, engine,
    error::{Error, FAILED, Result, USAGE},
    io::error::plain,
};

/// The variable that takes another table, or none.
const VARIABLE: &str = "WARPMP_TUNING";

/// A tuning table of the user that cannot be found or used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TablesError {
    #[error("neither XDG_CONFIG_HOME nor HOME says where your configuration is: give --output FILE")]
    NoConfiguration,
    #[error("{}\n  `warpmp tune` measures a new table; with WARPMP_TUNING=none the program uses the shipped one", fault(.0))]
    Table(#[from] TableError),
}

impl TablesError {
    /// The exit code that this error gives the program.
    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::NoConfiguration => USAGE,
            Self::Table(_) => FAILED,
        }
    }
}

/// The fault of a table, without Rust's number of a system's error.
fn fault(error: &TableError) -> String {
    match error {
        TableError::Read { path, source } => format!("{}: {}", path.display(), plain(source)),
        TableError::Syntax { path, source } => format!("{}: not a tuning table: {source}", path.display()),
        other => other.to_string(),
    }
}

/// Where the table for an architecture belongs.
///
/// # Errors
/// [`TablesError::NoConfiguration`].
pub(crate) fn path(architecture: u32) -> Result<PathBuf> {
    let directory = configuration(|name| env::var_os(name)).ok_or(TablesError::NoConfiguration)?;
    Ok(directory.join("warpmp").join("tuning").join(format!("sm_{architecture}.json")))
}

/// The directory for configuration. What is not an absolute path does not count, as the XDG specification
/// has it.
fn configuration(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let directory = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || directory("HOME").map(|home| home.join(".config"));
    let windows = || directory("APPDATA").filter(|_| cfg!(windows));
    directory("XDG_CONFIG_HOME").or_else(windows).or_else(home)
}

/// The table that the user has for GPUs of this architecture; none if there is none. A table in the configuration directory that the
/// system does not let the program read is none, too, with a warning.
///
/// # Errors
/// [`TablesError::Table`] if a table that was read or named cannot be used.
pub(crate) fn of_user(architecture: u32) -> Result<Option<Table>> {
    let named = env::var_os(VARIABLE).filter(|name| !name.is_empty());
    match named {
        Some(name) if name == "none" => Ok(None),
        Some(name) => Ok(Some(Table::read(&PathBuf::from(name), &engine::register()).map_err(TablesError::from)?)),
        None => match path(architecture).ok().map(|path| Table::read(&path, &engine::register())).transpose() {
            // Nobody named this table, so the work does not need it.
            Err(TableError::Read { path, source }) => {
                if !matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
                    let reason = plain(&source);
                    console::note(&format!("warning: {}: {reason}; the shipped tuning table is used", path.display()));
                }
                Ok(None)
            }
            table => Ok(table.map_err(TablesError::from)?),
        },
    }
}

/// Which table decides on GPUs of this architecture, in words.
pub(crate) fn describe(architecture: u32) -> String {
    let user = match of_user(architecture) {
        Err(Error::Tables(TablesError::Table(fault))) => return format!("unusable tuning {fault}"),
        user => user.ok().flatten(),
    };
    let table = user.unwrap_or_else(|| (*tuning::shipped(architecture)).clone());
    if table.architecture == architecture {
        return format!("tuning {table}");
    }
    format!("tuning {table}, the nearest to sm_{architecture} (`warpmp tune` measures one)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_configuration_is() {
        let found = |xdg: Option<&str>, home: Option<&str>| {
            configuration(|name| match name {
                "XDG_CONFIG_HOME" => xdg.map(OsString::from),
                "HOME" => home.map(OsString::from),
                _ => None,
            })
        };
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(found(Some("/x"), Some("/home/u")), path("/x"));
        assert_eq!(found(None, Some("/home/u")), path("/home/u/.config"));
        assert_eq!(found(Some("relative"), Some("/home/u")), path("/home/u/.config"));
        assert_eq!(found(Some(""), Some("")), None);
        assert_eq!(found(None, None), None);
    }
}
