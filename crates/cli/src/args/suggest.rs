//! Commands that a person may have meant.

use clap::{
    Command,
    error::{ContextKind, ContextValue, ErrorKind},
};

/// Words of other programs and languages, and the commands that do the same.
const SYNONYMS: [(&str, &[&str]); 35] = [
    ("%", &["reduce", "rem"]),
    ("benchmark", &["bench"]),
    ("bpsw", &["is-prime"]),
    ("compare", &["cmp"]),
    ("completion", &["completions"]),
    ("device", &["devices"]),
    ("continue", &["resume"]),
    ("divide", &["div", "div-rem"]),
    ("divmod", &["div-rem"]),
    ("dlp", &["ecdlp"]),
    ("factorize", &["factor"]),
    ("generate", &["gen"]),
    ("gpu", &["devices"]),
    ("gpus", &["devices"]),
    ("hcf", &["gcd"]),
    ("inverse", &["inv-mod"]),
    ("invert", &["inv-mod"]),
    ("isqrt", &["sqrt"]),
    ("legendre", &["jacobi"]),
    ("minus", &["sub"]),
    ("mod", &["reduce", "rem"]),
    ("modexp", &["pow-mod"]),
    ("modinv", &["inv-mod"]),
    ("modpow", &["pow-mod"]),
    ("multiply", &["mul", "product"]),
    ("plus", &["add"]),
    ("power", &["pow", "pow-mod"]),
    ("prime", &["is-prime", "next-prime"]),
    ("primes", &["is-prime", "next-prime"]),
    ("random", &["gen"]),
    ("root", &["sqrt"]),
    ("square", &["sqr"]),
    ("test", &["selftest", "strong-test"]),
    ("times", &["mul"]),
    ("total", &["sum"]),
];

/// Commands whose own commands have names that people type alone.
const FAMILIES: [&str; 2] = ["collatz", "ecdlp"];

/// The most changes of a letter between a word and a command that may have been meant.
const MOST_CHANGES: usize = 2;

/// The error without the advice to write a word after `--` that begins with a minus: an option takes no such word, and an operand no option's name.
pub(crate) fn without_wrong_advice(mut error: clap::Error) -> clap::Error {
    let is_word = |it: &ContextValue| matches!(it, ContextValue::String(word) if word.starts_with('-'));
    if error.kind() == ErrorKind::UnknownArgument && error.get(ContextKind::InvalidArg).is_some_and(is_word) {
        error.remove(ContextKind::Suggested);
    }
    error
}

/// The error for a command that does not exist, with the commands that may have been meant; none for another error.
pub(crate) fn unknown_command(error: &clap::Error, command: &Command) -> Option<String> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let hint = if word == "version" { vec!["--version".into()] } else { meant(word, command) };
    // clap knows the commands within a command.
    if hint.is_empty() && error.get(ContextKind::SuggestedSubcommand).is_some() {
        return None;
    }
    let hint = match &hint[..] {
        [] => String::new(),
        names => format!("\n\n  tip: there is {}", names.join(", ")),
    };
    Some(format!("error: unrecognized subcommand '{word}'{hint}\n\nwarpmp --help lists all commands."))
}

/// The commands that a word may mean.
fn meant(word: &str, command: &Command) -> Vec<String> {
    let names = || command.get_subcommands().map(Command::get_name);
    // The command stands alone: perhaps it was looked for within another one.
    if names().any(|name| name == word) {
        return vec![format!("warpmp {word}")];
    }
    let word = word.to_lowercase().replace('_', "-");
    if let Some((_, meant)) = SYNONYMS.iter().find(|(synonym, _)| *synonym == word) {
        return names().filter(|name| meant.contains(name)).map(str::to_owned).collect();
    }
    let within = |outer: &Command| Some(format!("{} {}", outer.get_name(), outer.find_subcommand(&word)?.get_name()));
    let families = command.get_subcommands().filter(|outer| FAMILIES.contains(&outer.get_name()));
    let within: Vec<String> = families.filter_map(within).collect();
    if !within.is_empty() {
        return within;
    }
    let plain = |name: &str| name.replace('-', "");
    let mut near: Vec<(usize, &str)> = names()
        .map(|name| (changes(&plain(&word), &plain(name)), name))
        .filter(|(changes, name)| {
            *changes <= MOST_CHANGES.min(name.len() / 2) || word.len() > 2 && name.starts_with(&word)
        })
        .collect();
    near.sort_unstable();
    let least = near.first().map_or(0, |(changes, _)| *changes);
    near.into_iter().filter(|(changes, _)| *changes == least).map(|(_, name)| name.to_owned()).collect()
}

/// How many letters are added, left out, changed, or exchanged with their neighbour.
fn changes(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let same = usize::from(from[i - 1] != to[j - 1]);
            let mut least = (rows[i - 1][j - 1] + same).min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::overview;

    #[test]
    fn words_lead_to_commands() {
        let command = overview::command();
        for (word, expected) in [
            ("gdc", &["gcd"][..]),
            ("mod", &["reduce", "rem"]),
            ("add_mod", &["add-mod"]),
            ("powmod", &["pow-mod"]),
            ("isprime", &["is-prime"]),
            ("collat", &["collatz"]),
            ("status", &["warpmp status"]),
            ("check", &["collatz check", "ecdlp check"]),
            ("verify", &["collatz verify"]),
            ("resume", &["warpmp resume"]),
            ("xyzzy", &[]),
        ] {
            let mut found = meant(word, &command);
            found.sort_unstable();
            assert_eq!(found, expected, "{word}");
        }
    }

    #[test]
    fn synonyms_are_of_commands() {
        let command = overview::command();
        for (word, names) in SYNONYMS {
            assert!(command.find_subcommand(word).is_none(), "{word}");
            for name in names {
                assert!(command.find_subcommand(name).is_some(), "{name}");
            }
        }
    }
}
