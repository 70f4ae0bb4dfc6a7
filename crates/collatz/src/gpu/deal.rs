//! A search's pieces dealt to devices, and taken in their order.

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

/// A search that goes on piece by piece: what is known of all pieces before helps with the next ones.
pub(super) trait Search: Send {
    /// What a piece needs to know.
    type Known: Send;
    /// What a piece comes to.
    type Found: Send;

    /// What is known by now: of all pieces that were taken, and of no other.
    fn known(&self) -> Self::Known;

    /// The next piece's, in order.
    ///
    /// # Errors
    /// The search's own; it ends then.
    fn take(&mut self, piece: u128, found: Self::Found) -> Result<()>;
}

/// Where the dealing is.
struct Dealing<'a, S: Search> {
    search: &'a mut S,
    pieces: Range<u128>,
    /// All before this one were taken.
    taken: u128,
    /// Done before their turn: at most one for each device but one.
    early: BTreeMap<u128, S::Found>,
}

/// Deals the pieces to the devices, one each at a time: `make` prepares a device, `work` does a piece with what is known. A device
/// may run ahead of the others by what they are at; so what is known to it may be older than its piece.
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
    /// Takes what is done now and was waiting for it.
    fn done(&mut self, piece: u128, found: S::Found) -> Result<()> {
        self.early.insert(piece, found);
        while let Some(found) = self.early.remove(&self.taken) {
            self.search.take(self.taken, found)?;
            self.taken += 1;
        }
        Ok(())
    }
}
