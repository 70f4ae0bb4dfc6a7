//! Where the results of an operation go: a file each, or all in the columns of one.

use std::ffi::OsStr;

use warpmp::{Operation, Shape};

use super::apply::prepare::Preparation;
use crate::{
    args::{Apply, ArgsError},
    error::Result,
    io::{
        column::Column,
        npy::{Dtype, NpyHeader},
        output::{self, Output},
        sink::{ArrayHead, Format, Sink},
    },
    numbers::Numbers,
};

/// The outputs of a command.
pub(crate) struct Results {
    /// One for each result, or one for all.
    sinks: Vec<Sink>,
    /// How many results are written, from the first on.
    shown: usize,
    on_stdout: bool,
    on_terminal: bool,
}

impl Results {
    /// Opens the outputs of the first `shown` results. `inputs`: the files that must not be written; `headers`: those of the operands.
    ///
    /// # Errors
    /// [`ArgsError::Outputs`], [`FileError::SameOutput`]; what opening gives.
    pub(crate) fn open(
        operation: Operation,
        shown: usize,
        args: &Apply,
        inputs: &[&OsStr],
        headers: &[Option<NpyHeader>],
    ) -> Result<Self> {
        let names: Vec<Option<&OsStr>> = match &args.output[..] {
            [] => vec![None],
            names => names.iter().map(|name| Some(name.as_os_str())).collect(),
        };
        let formats: Vec<Format> = names.iter().map(|name| Format::choose(args.format.format, *name)).collect();
        let columns = names.len() == 1 && formats[0] == Format::Text;
        if names.len() != shown && !columns {
            return Err(ArgsError::Outputs { operation }.into());
        }
        output::refuse_twice(&args.output)?;
        let layouts = layouts(operation, args, headers)?;
        let mut opened = Self { sinks: Vec::new(), shown, on_stdout: false, on_terminal: false };
        for ((name, format), layout) in names.into_iter().zip(formats).zip(layouts) {
            let output = Output::open(name, inputs)?;
            opened.on_stdout |= output.is_stdout();
            opened.on_terminal |= output.is_terminal();
            opened.sinks.push(Sink::new(output, format, args.hex, layout)?);
        }
        Ok(opened)
    }

    /// Does a result go to standard output?
    pub(crate) const fn on_stdout(&self) -> bool {
        self.on_stdout
    }

    /// Is that a terminal?
    pub(crate) const fn on_terminal(&self) -> bool {
        self.on_terminal
    }

    /// Appends the results of a chunk by this operation, the status last if there is one.
    pub(crate) fn write(&mut self, operation: Operation, results: &[Numbers]) -> Result<()> {
        let (mut columns, status) = columns(operation, results);
        columns.truncate(self.shown);
        if let [sink] = &mut self.sinks[..] {
            return sink.write_columns(&columns, status);
        }
        let mut pairs = self.sinks.iter_mut().zip(&columns);
        pairs.try_for_each(|(sink, column)| sink.write_columns(&[*column], status))
    }

    /// Completes the outputs: only now do files appear.
    pub(crate) fn finish(self) -> Result<()> {
        // None appears before all are complete.
        let outputs = self.sinks.into_iter().map(Sink::complete).collect::<Result<Vec<_>>>()?;
        outputs.into_iter().try_for_each(Output::finish)
    }
}

/// The results of a chunk with their signs, and the status if there is one.
pub(super) fn columns(operation: Operation, results: &[Numbers]) -> (Vec<Column<'_>>, Option<&Numbers>) {
    let (results, status) = results.split_at(operation.result_names().len());
    let column = |(i, numbers)| Column { numbers, signed: operation.is_signed(i) };
    (results.iter().enumerate().map(column).collect(), status.first())
}

/// The shapes of output arrays: known from the start if all operands are arrays.
fn layouts(operation: Operation, args: &Apply, headers: &[Option<NpyHeader>]) -> Result<Vec<ArrayHead>> {
    let dtype = headers.iter().flatten().next().map_or(Dtype::U32, |header| header.dtype.with_sign(false));
    let known = headers.iter().copied().collect::<Option<Vec<NpyHeader>>>();
    let Some(known) = known.filter(|headers| headers.iter().all(|header| header.rows > 0 && header.columns > 0)) else {
        return Ok(vec![ArrayHead::Unknown(dtype); operation.result_names().len()]);
    };
    let rows = known.iter().map(|header| header.rows).max().unwrap_or(0);
    let has_signs = known.iter().any(|header| header.dtype.is_signed());
    let asked = Preparation { operation, bits: args.bits, is_reduced: args.reduced };
    let signed = asked.operation(has_signs);
    // An operation that another one does takes a bit for the sign.
    let sign_bits = usize::from(signed != operation);
    let shape = |header: &NpyHeader| {
        let lanes = usize::try_from(header.rows).unwrap_or(usize::MAX);
        Shape::new(lanes, args.bits.unwrap_or(32 * header.row_limbs()) + sign_bits)
    };
    let shapes: Vec<Shape> = known.iter().map(shape).collect();
    let layout = |(i, result): (usize, &Shape)| {
        let dtype = dtype.with_sign(signed.is_signed(i));
        ArrayHead::Known(NpyHeader { dtype, rows, columns: result.limbs().div_ceil(dtype.limbs()) })
    };
    Ok(signed.results(&shapes)?.iter().enumerate().map(layout).collect())
}
