//! Deals the pieces of a search to devices, and takes the results in the order of the pieces.

use std::{
    collections::BTreeMap,
    ops::Range,
    panic,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use warpmp_device::Device;

use crate::{
    engine::Control,
    error::{Allowed, Error, Result},
};

/// A search that goes on piece by piece: results of earlier pieces help with later ones.
pub(super) trait Search: Send {
    /// The knowledge that a piece needs.
    type Known: Send;
    /// The result of a piece.
    type Found: Send;

    /// The present knowledge, from all pieces that were taken and from no other.
    fn known(&self) -> Self::Known;

    /// Takes the result of the next piece, in order.
    ///
    /// # Errors
    /// The search's own; it ends then.
    fn take(&mut self, piece: u128, found: Self::Found) -> Result<()>;
}

/// The state of the dealing.
struct Dealing<'a, S: Search> {
    search: &'a mut S,
    pieces: Range<u128>,
    /// All before this one were taken.
    taken: u128,
    /// Results that came before their turn: at most one fewer than there are devices.
    early: BTreeMap<u128, S::Found>,
}

/// Deals the pieces to the devices, one piece at a time for each: `make` prepares a device, `work` does a piece with the present
/// knowledge. A device may finish later pieces while others still work on earlier ones, so it may see knowledge that lags behind its own
/// piece.
///
/// # Errors
/// The first error of a device; the others end after their pieces. [`Error::Stopped`].
/// [`Error::Parameter`] without devices: nothing would be done.
pub(super) fn deal<S: Search, W>(
    devices: &[Arc<dyn Device>],
    pieces: Range<u128>,
    search: &mut S,
    control: &Control,
    make: impl Fn(&Arc<dyn Device>) -> Result<W> + Sync,
    work: impl Fn(&mut W, u128, &S::Known) -> Result<S::Found> + Sync,
) -> Result<()> {
    if devices.is_empty() && !pieces.is_empty() {
        return Err(Error::Parameter { name: "devices", value: 0, allowed: Allowed::AtLeast(1) });
    }
    let taken = pieces.start;
    let dealing = Mutex::new(Dealing { search, pieces, taken, early: BTreeMap::new() });
    let lock = || dealing.lock().unwrap_or_else(PoisonError::into_inner);
    let serve = |device: &Arc<dyn Device>| -> Result<()> {
        let mut worker = make(device)?;
        loop {
            control.check()?;
            let (piece, known) = {
                let mut dealing = lock();
                let Some(piece) = dealing.pieces.next() else { return Ok(()) };
                (piece, dealing.search.known())
            };
            let found = work(&mut worker, piece, &known)?;
            lock().done(piece, found)?;
        }
    };
    let serve = |device| {
        let served = serve(device);
        if served.is_err() {
            // Nothing more is dealt.
            let mut dealing = lock();
            dealing.pieces.start = dealing.pieces.end;
        }
        served
    };
    thread::scope(|scope| {
        let serving: Vec<_> = devices.iter().map(|device| scope.spawn(|| serve(device))).collect();
        let ended = serving.into_iter().map(|it| it.join().unwrap_or_else(|payload| panic::resume_unwind(payload)));
        ended.collect::<Vec<_>>().into_iter().collect()
    })
}

impl<S: Search> Dealing<'_, S> {
    /// Takes this result, and the results that were waiting for it.
    fn done(&mut self, piece: u128, found: S::Found) -> Result<()> {
        self.early.insert(piece, found);
        while let Some(found) = self.early.remove(&self.taken) {
            self.search.take(self.taken, found)?;
            self.taken += 1;
        }
        Ok(())
    }
}
