//! Tables of operation counts: ours are counted on the simulator, while it multiplies.

use std::sync::Arc;

use warpmp::{
    Operation, Options, Session, Shape,
    device::{self, Device},
};
use warpmp_oracle::{
    check,
    pattern::{self, Pattern},
};

use crate::kernels::MULTIPLICATIONS;
use crate::{
    error::{Error, Result},
    line::{Count, Figure, Outcome},
    tables::{CountRow, Counts, Entry, Polynomial},
    watch::Settings,
};

/// Lanes of a tile: kernels by one thread work on as many products at a time.
const LANES: usize = 32;

/// The section of a kernel by one thread that holds its arithmetic, without what arranges operands and results.
const BY_THREAD: &str = "arithmetic";
/// Sections of Toom-k with products of limbs, and the one of them that holds the products at the points.
const TOOM: &[&str] = &["evaluate", "multiply", "signs", "interpolate"];
const TOOM_POINTS: &str = "multiply";

/// What one product takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counted {
    /// Products of two words, without those that make addresses.
    multiplications: u64,
    /// Those of Toom-k at the points alone.
    at_points: Option<u64>,
    /// Words of global memory.
    reads: u64,
    writes: u64,
}

/// Counts every row of the table.
///
/// # Errors
/// Those of [`Error`].
pub fn reproduce(entry: &Entry, counts: &Counts, settings: Settings<'_>) -> Result<Outcome> {
    let mut outcome = Outcome::new(entry);
    let total: usize = counts.rows.iter().map(|row| row.words.len()).sum();
    for row in &counts.rows {
        for &words in &row.words {
            settings.check()?;
            let counted = count(&row.algorithm, words)?;
            for figure in figures(row, words, counted) {
                outcome.push(&row.method, 32 * words, figure);
            }
            settings.watch.progress(outcome.lines.len() as u64 / 3, total as u64, "counts");
        }
    }
    outcome.notes.push(
        "Ours are counted on the simulator: products of two words without those that make addresses, words of global \
         memory without those that arrange operands and results of the algorithms by one thread."
            .into(),
    );
    Ok(outcome)
}

fn figures(row: &CountRow, words: usize, counted: Counted) -> [Figure; 3] {
    let count = |polynomial: &Polynomial, ours: u64, at_points| Count {
        paper: polynomial.at(words),
        formula: polynomial.to_string(),
        algorithm: row.algorithm.clone(),
        ours: ours as f64,
        at_points,
    };
    [
        Figure::Multiplications(count(&row.multiplications, counted.multiplications, counted.at_points)),
        Figure::WordsRead(count(&row.reads, counted.reads, None)),
        Figure::WordsWritten(count(&row.writes, counted.writes, None)),
    ]
}

/// Multiplies a tile by the algorithm on a simulator of its own, checks the products, and counts.
fn count(algorithm: &str, words: usize) -> Result<Counted> {
    let device = device::open_sim();
    let session = Session::with_device(Arc::clone(&device))?.with_algorithms(Operation::Mul, MULTIPLICATIONS);
    let shape = Shape::new(LANES, 32 * words);
    let a = pattern::operands(Pattern::Carry, shape, 0, 1)?;
    let b = pattern::operands(Pattern::Carry, shape, 0, 2)?;
    let (products, _) = session.apply(Operation::Mul, &[&a, &b], Options::new().algorithm(algorithm))?;
    for lane in 0..LANES {
        let row = |batch| check::lane_of(batch, lane);
        check::compare(Operation::Mul, lane as u64, &[row(&a), row(&b)], &[row(&products[0])])?;
    }
    tally(device.as_ref(), algorithm).ok_or_else(|| Error::NoSection { kernel: algorithm.into() })
}

/// Reads the counters, which tell instructions by the section of the kernel's text; none if the kernel does not have
/// the sections of its kind.
fn tally(device: &dyn Device, algorithm: &str) -> Option<Counted> {
    let counters = device.counters()?;
    // Instructions of a section (none: of all), weighted by their name in the text, a product.
    let sum = |section: Option<&str>, weight: &dyn Fn(&str) -> u64| -> Option<u64> {
        let counters = section.map_or(Some(&counters), |name| counters.section(name))?;
        let sum: u64 = counters.ops().iter().map(|(op, count)| weight(&op.mnemonic()) * count.threads).sum();
        Some(sum / LANES as u64)
    };
    let read = |name: &str| words(name, "ld.global");
    let written = |name: &str| words(name, "st.global");
    let Some(k) = algorithm.strip_prefix("toom-").and_then(|k| k.parse::<u64>().ok()) else {
        let section = Some(BY_THREAD);
        // `mad.wide` makes addresses here. A product and its sum are a pair, of which only the second half is counted.
        let product = |name: &str| u64::from(name.starts_with("mul.wide") || name.starts_with("madc.hi"));
        let multiplications = sum(section, &product)?;
        return Some(Counted {
            multiplications,
            at_points: None,
            reads: sum(section, &read)?,
            writes: sum(section, &written)?,
        });
    };
    let product = |name: &str| u64::from(name.starts_with("mul.wide") || name.starts_with("mad.wide"));
    let mut multiplications = 0;
    for section in TOOM {
        multiplications += sum(Some(section), &product)?;
    }
    // A warp a point; each thread makes the address of its part of both operands.
    let addresses = (2 * k - 1) * 32 * 2;
    Some(Counted {
        multiplications: multiplications.checked_sub(addresses)?,
        at_points: Some(sum(Some(TOOM_POINTS), &product)?),
        reads: sum(None, &read)?,
        writes: sum(None, &written)?,
    })
}

/// Words that an instruction of this name moves; 0 if it does not begin with `kind`.
fn words(name: &str, kind: &str) -> u64 {
    match name.strip_prefix(kind) {
        None => 0,
        Some(rest) if rest.contains(".v4") => 4,
        Some(rest) if rest.contains(".v2") => 2,
        Some(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use warpmp::{Plan, tuning::shipped};

    use super::*;

    fn counted(algorithm: &str, words: u64) -> [u64; 3] {
        let counted = count(algorithm, words as usize).unwrap();
        [counted.multiplications, counted.reads, counted.writes]
    }

    /// The closed forms of the documentation, which the library's own tests hold.
    #[test]
    fn algorithms_by_one_thread() {
        for w in [32, 64] {
            assert_eq!(counted("school", w), [w * w, 2 * w * w, w * w + w]);
            assert_eq!(counted("comba", w), [w * w, 2 * w * w, 2 * w]);
            assert_eq!(counted("karatsuba", w), [3 * w * w / 4, 3 * w * w / 2 + 8 * w, 7 * w]);
            assert_eq!(counted("karatsuba2", w), [9 * w * w / 16, 9 * w * w / 8 + 20 * w, 29 * w / 2]);
        }
    }

    #[test]
    fn toom() {
        let info = device::open_sim();
        for k in [2, 3, 9] {
            let (m, w) = (32, 32 * k);
            let points = 2 * k - 1;
            let shape = Shape::new(1, 32 * w as usize);
            let name = format!("toom-{k}");
            let plan = Plan::new(Operation::Mul, &[shape; 2], info.info(), &shipped(90), Some(&name)).unwrap();
            let products = plan.wide_products();
            let (reads, writes) = (points * (2 * w + 4 * m + 3) - 1, points * (4 * m + 3) + 2 * w);
            assert_eq!(counted(&name, w), [products, reads, writes], "toom-{k}");
            assert_eq!(count(&name, w as usize).unwrap().at_points, Some(points * m * m));
        }
    }

    #[test]
    fn words_of_an_instruction() {
        let loads = |name| words(name, "ld.global");
        assert_eq!([loads("ld.global.nc.v4.u32"), loads("ld.global.v2.u32"), loads("ld.global.u32")], [4, 2, 1]);
        assert_eq!([loads("ld.shared.v4.u32"), loads("st.global.u32"), loads("add.u32")], [0; 3]);
    }
}
