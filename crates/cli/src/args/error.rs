//! Arguments that are well-formed one by one and do not fit together.

use warpmp::Operation;

use crate::error::plural;

/// Arguments that do not fit the operation, or each other.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArgsError {
    #[error("more than one file is '-': standard input can be read only once")]
    BothStdin,
    #[error("{operation} has {}", files(*operation, "-o"))]
    Outputs { operation: Operation },
    #[error("{operation} has {}", files(*operation, "--expect"))]
    Expectations { operation: Operation },
    #[error("the results of {operation} depend on the width of its operands: give --bits R")]
    WidthNeeded { operation: Operation },
    #[error("{operation} takes {} operand{}: {option} has no meaning", operation.arity(), plural(operation.arity() as u64))]
    NoSuchOperand { operation: Operation, option: &'static str },
    #[error("the operands of {operation} have no widths of their own: {option} has no meaning")]
    BoundWidths { operation: Operation, option: &'static str },
    #[error("{option} is for the campaign of a directory: give {needed} DIR")]
    NoDirectory { option: &'static str, needed: &'static str },
}

/// How many files an operation's results may have.
fn files(operation: Operation, option: &str) -> String {
    match operation.result_names().len() {
        1 => format!("1 result: give 1 {option}"),
        results => format!("{results} results: give {results} {option}, or a single text file for all"),
    }
}
