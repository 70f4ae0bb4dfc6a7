//! Commands that there are for every operation: one subcommand each, made from the library's table.

use std::ffi::OsString;

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand, error::ErrorKind, value_parser};
use warpmp::{Operation, operation::Role};

use super::{Apply, BenchRows, Explain, values::within};

/// A subcommand that is called as an operation, and its options.
#[derive(Debug)]
pub(crate) struct PerOperation<T> {
    pub(crate) operation: Operation,
    /// The names of the operands' files, if it takes any.
    pub(crate) operands: Vec<OsString>,
    /// Is the first result the only one that is wanted?
    pub(crate) is_first_alone: bool,
    pub(crate) options: T,
}

/// Options of such a subcommand.
pub(crate) trait Options: Args {
    /// Does it take files of operands?
    const TAKES_FILES: bool;

    /// The subcommand without what has no meaning for the operation.
    fn fit(command: Command, _: Operation) -> Command {
        command
    }
}

impl Options for Apply {
    const TAKES_FILES: bool = true;

    fn fit(command: Command, operation: Operation) -> Command {
        let takes_residues = operation.operands().iter().any(|operand| operand.role == Role::Reduced);
        command
            .mut_arg("strict", |arg| arg.hide(!operation.has_status()))
            .mut_arg("reduced", |arg| arg.hide(!takes_residues))
    }
}

impl Options for BenchRows {
    const TAKES_FILES: bool = false;
}

impl Options for Explain {
    const TAKES_FILES: bool = false;

    fn fit(command: Command, operation: Operation) -> Command {
        let others = ["bits_b", "bits_c"].into_iter().skip(operation.arity() - 1);
        others.fold(command, |command, id| command.mut_arg(id, |arg| arg.hide(true)))
    }
}

const FILES: &str = "\
Input is text or .npy. Text: one integer a line, decimal or 0x hexadecimal, up to 16,777,216 bits, each as \
long as it likes; lines that start with # and blank lines at the end are skipped. A minus is taken where \
the operation has a use for it; a line - is a lane without a result, and stays one. .npy: little-endian \
uint32 or uint64, an element an integer, or in two dimensions a row an integer, least significant limb \
first; rows of int32 or int64 are two's complements. A file with a single integer serves every integer of the others.
In place of a file there may be a number: 65537, 0xff, 2^127-1, (10^9+7)*3. A file of that name comes first.
Files larger than memory are read, worked on and written in chunks.

Several results stand in one line, with tabs between them; negative ones have a minus. Output .npy \
has A's element type (that of the first .npy if A is text, uint32 if none is), and of results with signs \
the signed type of that length: int32, int64.

The summary goes to standard error. --json prints it as one object instead: on standard output if \
the results go to -o, else on standard error. Its rates are end to end.";

const EXAMPLES: &str = "

Examples:
  warpmp mul p.txt q.txt                      products on standard output
  warpmp mul p.txt q.txt -o n.txt --json      products to n.txt, what it cost as JSON
  warpmp mul p.txt q.txt --expect n.txt       compared with known products
  warpmp mul a.npy b.npy -o c.npy             NumPy arrays of limbs
  warpmp mul p.txt 2^64-1                     every number times 2^64-1
  seq 1 1000000 | warpmp mul - seven.txt      every number times the one in seven.txt";

/// Examples for an operation other than a product.
fn examples(operation: Operation, name: &str) -> String {
    let file = |name: &str| format!("{name}.txt");
    let operands: Vec<String> = operation.operands().iter().map(|operand| file(operand.name)).collect();
    let constant = operation.constant_role().map(|role| format!(" --{} 3", role.option())).unwrap_or_default();
    let width = if operation.depends_on_widths() { " --bits 1024" } else { "" };
    let options = format!("{constant}{width}");
    let piped = [vec!["-".to_owned()], operands[1..].to_vec()].concat().join(" ");
    format!(
        "\n\nExamples:\n  warpmp {name} {}{options} -o out.txt\n  warpmp gen --bits 1000 --count 5 | warpmp {name} {piped}{options}",
        operands.join(" "),
    )
}

/// The help for an operand's file.
fn help(role: Role, is_first: bool) -> &'static str {
    if is_first {
        return if role == Role::Candidate {
            "Integers to be tested: a file, or - for standard input"
        } else {
            "First operands: a file, or - for standard input"
        };
    }
    match role {
        Role::Modulus => "Moduli: as many as the other files have, or a single one",
        Role::OddModulus => "Odd moduli: as many as the other files have, or a single one",
        Role::Candidate => "Integers to be tested: as many as the other files have, or a single one",
        Role::Exponent => "Exponents: as many as the other files have, or a single one",
        Role::Integer | Role::Bit | Role::Divisor | Role::Reduced | Role::ReducedProduct => {
            "As many integers as the other files have, or a single one"
        }
    }
}

/// A command for the first result of an operation alone.
const DIV: &str = "div";

fn command<T: Options>(operation: Operation, name: String) -> Command {
    let examples = if operation == Operation::Mul { EXAMPLES.into() } else { examples(operation, &name) };
    let mut command = T::fit(T::augment_args(Command::new(name)), operation);
    command = command.about(operation.summary());
    if T::TAKES_FILES {
        for (i, operand) in operation.operands().iter().enumerate() {
            let id = operand.name.to_uppercase();
            let order = Arg::new(id.clone()).value_name(id).required(true).index(i + 1);
            let order = order.value_parser(value_parser!(OsString)).allow_negative_numbers(true);
            command = command.arg(order.help(help(operand.role, i == 0)));
        }
        let status = if operation.has_status() {
            "\n\nA lane whose data are at fault has - for its results in text, zeros in .npy. A warning counts these lanes and\n\
             names the first; with --strict it is an error."
        } else {
            ""
        };
        let takes_residues = operation.operands().iter().any(|operand| operand.role == Role::Reduced);
        let residues = if takes_residues {
            "\n\nThe program reduces operands modulo m first. With --reduced it does not: an operand from m on is a fault of its lane."
        } else {
            ""
        };
        command = command.after_help(format!("{FILES}{residues}{status}{examples}"));
    }
    if let (Some(usual), Some(constant)) = (operation.constant(), operation.constant_role()) {
        let arg = Arg::new(constant.option()).long(constant.option()).value_name("N");
        let is_needed = T::TAKES_FILES && !constant.has_usual();
        let summary = constant.summary();
        let help = if is_needed { summary.into() } else { format!("{summary}; {usual} without this") };
        command = command.arg(arg.value_parser(within(0, u32::MAX)).required(is_needed).help(help));
    }
    command
}

impl<T: Options> Subcommand for PerOperation<T> {
    fn augment_subcommands(parent: Command) -> Command {
        Operation::ALL.iter().fold(parent, |parent, operation| {
            let parent = parent.subcommand(command::<T>(*operation, operation.to_string()));
            if *operation != Operation::DivRem || !T::TAKES_FILES {
                return parent;
            }
            parent.subcommand(command::<T>(*operation, DIV.into()).about("the quotient, rounded down"))
        })
    }

    fn augment_subcommands_for_update(parent: Command) -> Command {
        Self::augment_subcommands(parent)
    }

    fn has_subcommand(name: &str) -> bool {
        name == DIV && T::TAKES_FILES || !name.contains('_') && Operation::named(name).is_some()
    }
}

impl<T: Options> FromArgMatches for PerOperation<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let missing = || Error::raw(ErrorKind::MissingSubcommand, "an operation is needed");
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let is_first_alone = name == DIV;
        let operation = if is_first_alone { Some(Operation::DivRem) } else { Operation::named(name) };
        let mut operation = operation.ok_or_else(missing)?;
        if let Some(role) = operation.constant_role()
            && let Some(constant) = matches.get_one::<u32>(role.option())
        {
            operation = operation.with_constant(*constant);
        }
        let file = |name: &str| matches.get_one::<OsString>(&name.to_uppercase()).cloned().unwrap_or_default();
        let operands = operation.operands().iter().filter(|_| T::TAKES_FILES).map(|operand| file(operand.name));
        Ok(Self { operation, operands: operands.collect(), is_first_alone, options: T::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
