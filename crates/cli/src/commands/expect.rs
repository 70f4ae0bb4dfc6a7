//! `--expect FILE`: every product compared with a published one.

use rayon::prelude::*;
use warpmp::operation::MUL_MAX_BITS;

use super::check::head;
use crate::{
    error::{Error, Result},
    io::{
        source::{Raw, Source},
        text::Digits,
    },
    numbers::Numbers,
};

/// The widest product.
const LIMIT: usize = 2 * MUL_MAX_BITS;

/// The file of expected products, read as far as products were compared.
pub(crate) struct Expected {
    source: Source,
    lanes: u64,
}

impl Expected {
    /// Opens the file called `name`.
    pub(crate) fn open(name: &str) -> Result<Self> {
        Ok(Self { source: Source::open(name, LIMIT)?, lanes: 0 })
    }

    /// Compares the next products.
    ///
    /// # Errors
    /// [`Error::NotExpected`] names the first that differs, [`Error::ExpectedCount`] says that the
    /// file has fewer numbers; what reading the file gives.
    pub(crate) fn compare(&mut self, products: &Numbers) -> Result<()> {
        let mut raw = self.source.empty();
        while raw.lanes() < products.lanes() {
            if !self.source.push(&mut raw)? {
                let found = self.lanes + raw.lanes() as u64;
                return Err(Error::ExpectedCount { path: self.source.name().into(), found, more: true });
            }
        }
        let name = self.source.name();
        let difference = (0..products.lanes()).into_par_iter().find_map_first(|lane| {
            let expected = match limbs(&raw, lane, name) {
                Ok(limbs) => limbs,
                Err(error) => return Some(error),
            };
            let product = products.lane(lane);
            if trimmed(product) == trimmed(&expected) {
                return None;
            }
            let line = match &raw {
                Raw::Text(text) => text.line(lane),
                Raw::Rows(_) => self.lanes + lane as u64,
            };
            Some(Error::NotExpected { path: name.into(), line, expected: head(&expected), found: head(product) })
        });
        self.lanes += products.lanes() as u64;
        difference.map_or(Ok(()), Err)
    }

    /// There are no more products: are there no more numbers either?
    pub(crate) fn finish(&mut self) -> Result<()> {
        match self.source.count_rest()? {
            0 => Ok(()),
            rest => {
                Err(Error::ExpectedCount { path: self.source.name().into(), found: self.lanes + rest, more: false })
            }
        }
    }
}

fn limbs(raw: &Raw, lane: usize, name: &str) -> Result<Vec<u32>> {
    match raw {
        Raw::Rows(rows) => Ok(rows.row(lane).collect()),
        Raw::Text(text) => {
            let problem = |problem| Error::Line { path: name.into(), line: text.line(lane), problem };
            let digits = Digits::check(text.get(lane), LIMIT).map_err(problem)?;
            let mut limbs = vec![0; digits.limbs_bound()];
            digits.write(&mut limbs).map_err(problem)?;
            Ok(limbs)
        }
    }
}

/// Without the zeros at the top.
fn trimmed(limbs: &[u32]) -> &[u32] {
    &limbs[..limbs.iter().rposition(|limb| *limb != 0).map_or(0, |top| top + 1)]
}
