//! The program's help: commands in groups, the most used first.

use clap::{Command, CommandFactory as _};

use super::Args;

/// The groups, and their commands. A test sees to it that each has one.
const GROUPS: [(&str, &str); 11] = [
    ("Arithmetic", "mul add sub div div-rem rem sqr pow sqrt cmp neg mul-add div-exact shl shr"),
    (
        "Modular",
        "pow-mod mul-mod add-mod sub-mod inv-mod reduce sqr-mod neg-mod pow-mod-public pow-mod-sec to-mont \
         from-mont mont-mul mont-sqr redc",
    ),
    (
        "Number theory",
        "is-prime next-prime batch-gcd factor ecm pm1 pp1 as-ecm gcd gcd-ext lcm jacobi strong-test miller-rabin",
    ),
    ("One number from a whole file", "sum product gcd-all lcm-all"),
    ("Collatz", "collatz"),
    ("Discrete logarithms", "ecdlp"),
    ("Campaigns", "resume status campaign"),
    ("Bits", "and or xor not select"),
    (
        "Numbers of a fixed width (--bits R)",
        "wrapping-add wrapping-sub wrapping-neg wrapping-shl mul-lo mul-hi carrying-add borrowing-sub",
    ),
    (
        "Two's complements",
        "signed-add signed-sub signed-neg signed-mul signed-cmp sign-extend to-sign-magnitude from-sign-magnitude",
    ),
    ("Machine", "gen bench explain tune devices selftest completions man"),
];

/// Columns of a command's name in the list.
const NAME_COLUMNS: usize = 20;
/// The template of the program's help; clap's own list of commands is left out.
const TEMPLATE: &str = "{about}\n\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}";

/// The program's command line.
pub(crate) fn command() -> Command {
    let command = Args::command();
    let groups = overview(&command);
    command.help_template(TEMPLATE).before_help(groups)
}

/// The groups with their commands and a line about each.
fn overview(command: &Command) -> String {
    let about = |name: &str| {
        let about = command.find_subcommand(name).and_then(Command::get_about);
        about.map_or_else(String::new, |about| format!("  {name:NAME_COLUMNS$}{about}\n"))
    };
    let group = |(title, names)| format!("{title}:\n{}\n", str::split(names, ' ').map(about).collect::<String>());
    GROUPS.into_iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let command = command();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.split(' ')).collect();
        let mut names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        listed.sort_unstable();
        names.sort_unstable();
        assert_eq!(listed, names);
    }

    /// Every command has an example, also those within `collatz` and `bench`; `ecdlp` has its own.
    #[test]
    fn every_command_has_an_example() {
        fn check(command: &Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            if command.has_subcommands() {
                command.get_subcommands().for_each(|command| check(command, &path));
            } else {
                let after = command.get_after_help().map_or_else(String::new, ToString::to_string);
                assert!(after.contains("Example"), "{path} has no example");
            }
        }
        command()
            .get_subcommands()
            .filter(|command| !["ecdlp", "explain", "bench"].contains(&command.get_name()))
            .for_each(|command| check(command, ""));
    }
}
