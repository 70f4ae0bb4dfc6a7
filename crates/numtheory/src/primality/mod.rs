//! Which integers are prime.
//!
//! ```text
//! the caller's thread                                          engine's thread
//! chunk ─► trial division ─► candidates gathered by width ─ bin ─►  strong tests
//!          verdicts of whole chunks, in order             ◄─ verdicts ┘
//!
//! trial.rs    small factors, on the cores: most integers end here
//! gather.rs   candidates of several chunks, by width
//! bases.rs    the bases of an integer's tests, and the cases in which they are a proof
//! strong.rs   strong tests on the engine
//! board.rs    verdicts on their way back to their places
//! line.rs     the two threads, and the way of the integers between them
//! lucas.rs    strong Lucas tests on the engine
//! next.rs     the next primes after many integers
//! bpsw.rs     the test of Baillie, Pomerance, Selfridge and Wagstaff for single integers
//! ```
//!
//! ```
//! use warpmp::{Batch, Session};
//! use warpmp_numtheory::primality::{Bases, Tester};
//!
//! let session = Session::cpu();
//! let mut tester = Tester::new(&session, Bases::new(33), &());
//! // 341550071728321 is the least strong pseudoprime to the first seven primes together.
//! let numbers = Batch::from_u64s(&[0, 1, 2, 97, 341_550_071_728_321, 18_446_744_073_709_551_557]);
//! assert_eq!(tester.test(&numbers)?, [false, false, true, true, false, true]);
//! # Ok::<(), warpmp_numtheory::Error>(())
//! ```

use std::thread;

use warpmp::{Batch, Session};

pub use bases::Bases;
pub use bpsw::{is_bpsw_prime, passes_strong_lucas_test, passes_strong_test};
pub use next::next_primes;
pub use strong::Cost;
pub use trial::{TrialDivision, trial_division};

use crate::{
    error::{Error, Result},
    watch::Watch,
};
use board::Board;
use gather::Gather;
use line::{Engine, Line};
use strong::{Further, Strong};
use trial::Trial;

mod bases;
mod board;
mod bpsw;
mod gather;
mod line;
mod lucas;
mod next;
mod strong;
mod trial;

/// Lanes of a piece of a large batch. The watch hears of each piece.
const PIECE_LANES: usize = 1 << 16;

/// Integers that arrive together. Their widths may differ from batch to batch.
#[derive(Debug)]
pub struct Chunk<'b, T> {
    /// The integers.
    pub batches: Vec<Batch<'b>>,
    /// Comes back with the verdicts.
    pub tag: T,
}

/// Tests integers of up to 65536 bits for primality on an engine.
pub struct Tester<'s> {
    strong: Strong<'s>,
    session: &'s Session,
    watch: &'s dyn Watch,
    trial: Trial,
    candidates: u64,
}

impl<'s> Tester<'s> {
    /// Trial division, a strong test to base 2, and strong tests to further bases.
    ///
    /// `false` is a proof. So is `true` below 3317044064679887385961981 if the bases suffice, and 13 always do. Above,
    /// a composite passes with a probability of at most `4^(1−K)` for `K` bases.
    pub fn new(session: &'s Session, bases: Bases, watch: &'s dyn Watch) -> Self {
        Self::with(session, Further::Bases(Box::new(bases)), watch)
    }

    /// Trial division, a strong test to base 2, and a strong Lucas test: on the engine where many integers take it, else on the cores.
    ///
    /// `false` is a proof, and so is `true` below 2⁶⁴. Nobody knows a composite that passes.
    ///
    /// ```
    /// use warpmp::{Batch, Session};
    /// use warpmp_numtheory::primality::Tester;
    ///
    /// let session = Session::cpu();
    /// let verdicts = Tester::bpsw(&session, &()).test(&Batch::from_u64s(&[42_799, 65_537]))?;
    /// assert_eq!(verdicts, [false, true]);
    /// # Ok::<(), warpmp_numtheory::Error>(())
    /// ```
    pub fn bpsw(session: &'s Session, watch: &'s dyn Watch) -> Self {
        Self::with(session, Further::Lucas, watch)
    }

    fn with(session: &'s Session, further: Further, watch: &'s dyn Watch) -> Self {
        Self { strong: Strong::new(session, watch, further), session, watch, trial: Trial::new(), candidates: 0 }
    }

    /// Is each lane prime? Reports the share of the lanes that are done to the watch.
    ///
    /// # Errors
    /// [`Error::Stopped`]; [`Error::Threads`]; [`Error::Engine`].
    pub fn test(&mut self, numbers: &Batch) -> Result<Vec<bool>> {
        let watch = self.watch;
        let lanes = numbers.lanes();
        let piece = |first: usize| {
            let batches = vec![numbers.slice(first..(first + PIECE_LANES).min(lanes))];
            Ok(Chunk { batches, tag: () })
        };
        let mut found = Vec::with_capacity(lanes);
        self.test_chunks((0..lanes).step_by(PIECE_LANES).map(piece), |(), verdicts| {
            found.extend(verdicts.into_iter().flatten());
            watch.progress(found.len() as f64 / lanes as f64);
            Ok::<(), Error>(())
        })?;
        Ok(found)
    }

    /// Tests chunk after chunk, and delivers each chunk's tag with its verdicts: a list for each batch, a verdict for
    /// each lane. Chunks leave in the order in which they arrive. Candidates of several chunks fill the engine together,
    /// so a chunk may leave long after it arrives.
    ///
    /// The first error ends the work: of the chunks, of `deliver`, or of a test.
    ///
    /// # Errors
    /// The errors of the chunks and of `deliver`; [`Error::Stopped`]; [`Error::Threads`]; [`Error::Engine`].
    pub fn test_chunks<'b, T, E: From<Error>>(
        &mut self,
        chunks: impl IntoIterator<Item = Result<Chunk<'b, T>, E>>,
        deliver: impl FnMut(T, Vec<Vec<bool>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let gather = Gather::new(self.session.engine().kind);
        let (trial, candidates) = (&self.trial, &mut self.candidates);
        let strong = &mut self.strong;
        thread::scope(|scope| {
            let engine = Engine::spawn(scope, strong)?;
            let mut line =
                Line { session: self.session, trial, gather, candidates, engine, board: Board::new(), deliver };
            for chunk in chunks {
                line.take(chunk?)?;
            }
            line.finish()
        })
    }

    /// Integers that trial division left to the engine so far.
    pub fn candidates(&self) -> u64 {
        self.candidates
    }

    /// The strong tests to base 2 so far.
    pub fn base_2_tests(&self) -> Cost {
        self.strong.base_2
    }

    /// All other tests after trial division so far: to further bases, or Lucas tests.
    pub fn further_tests(&self) -> Cost {
        self.strong.others
    }
}
