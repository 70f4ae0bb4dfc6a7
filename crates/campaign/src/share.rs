//! The units of a directory in which several processes work.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use crate::{
    campaign::{Campaign, Contents, files},
    claim::{Claim, Claims, HEARTBEAT, PATIENCE},
    error::Result,
    order::{Order, Step},
    part::{Mode, Part},
    work::Work,
};

/// Says whether the work shall go on. A process that waits asks it now and then.
pub type GoOn<'a> = &'a (dyn Fn() -> bool + Sync);

/// While a process waits, it looks so often whether it shall stop.
const LOOK: Duration = Duration::from_millis(200);

/// A unit that this process has claimed.
#[derive(Clone, Debug)]
pub struct Claimed<U> {
    /// The unit.
    pub unit: U,
    /// Given back when the last copy is dropped: store the certificate before. None in a directory of one process.
    _claim: Option<Arc<Claim>>,
}

/// The units that are left for this process, one after the other: each is claimed before it is given.
///
/// A unit that another process has claimed is looked at again later. The iterator ends when every unit has a certificate, or when the
/// work shall stop.
pub struct Shared<'a, W: Work> {
    campaign: &'a Campaign<W>,
    go_on: GoOn<'a>,
    claims: Claims,
    order: Order<W::Unit>,
}

impl<W: Work> Campaign<W> {
    /// The units of a part without a certificate, for a directory that was opened with [`Campaign::join`]. Files that are damaged are in
    /// the way of their units: [`Campaign::clear`] them before.
    ///
    /// # Errors
    /// [`crate::Error::File`].
    pub fn shared<'a>(&'a self, part: Part, go_on: GoOn<'a>) -> Result<Shared<'a, W>> {
        self.shared_with(part, go_on, HEARTBEAT, PATIENCE)
    }

    /// As [`Campaign::shared`], with other times than [`HEARTBEAT`] and [`PATIENCE`].
    ///
    /// # Errors
    /// [`crate::Error::File`].
    pub fn shared_with<'a>(
        &'a self,
        part: Part,
        go_on: GoOn<'a>,
        heartbeat: Duration,
        patience: Duration,
    ) -> Result<Shared<'a, W>> {
        let units = self.missing(&self.contents()?, part).collect();
        let claims = Claims::new(&self.folder, heartbeat, patience);
        Ok(Shared { campaign: self, go_on, claims, order: Order::new(units, seed()) })
    }

    /// The units that are left for this process: those that are missing, or, where processes share the directory, those that it claims
    /// one after the other.
    ///
    /// # Errors
    /// [`crate::Error::File`].
    pub fn units<'a>(
        &'a self,
        contents: &Contents<W>,
        mode: Mode,
        go_on: GoOn<'a>,
    ) -> Result<impl Iterator<Item = Result<Claimed<W::Unit>>> + use<'a, W>> {
        let shared = if mode.is_shared { Some(self.shared(mode.part, go_on)?) } else { None };
        let alone = (!mode.is_shared).then(|| self.missing(contents, mode.part));
        let alone = alone.into_iter().flatten().map(|unit| Ok(Claimed { unit, _claim: None }));
        Ok(alone.chain(shared.into_iter().flatten()))
    }

    /// The units of these without a certificate of any kind: names alone are read.
    fn without_files(&self, units: impl Iterator<Item = W::Unit>) -> Result<Arc<[W::Unit]>> {
        let there: HashSet<_> = files(&self.folder)?.into_iter().collect();
        Ok(units.filter(|unit| !there.contains(&self.path(unit))).collect())
    }
}

/// A number that differs from process to process, and from one order of a process to the next.
fn seed() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    let number = u64::from(std::process::id()) << 16 ^ COUNT.fetch_add(1, Ordering::Relaxed);
    (time ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd1b5_4a32_d192_ed03)
}

impl<W: Work> Shared<'_, W> {
    /// Asks for a unit.
    fn ask(&mut self, unit: W::Unit) -> Result<Option<Claimed<W::Unit>>> {
        let path = self.campaign.path(&unit);
        if path.exists() {
            self.order.done();
            return Ok(None);
        }
        // Listed again while this process works on it.
        if self.claims.holds(&W::name(&unit)) {
            return Ok(None);
        }
        let Some(claim) = self.claims.take(&W::name(&unit))? else {
            self.order.claimed(unit);
            return Ok(None);
        };
        // Its owner may have stored the certificate and given the claim back in the meantime.
        if path.exists() {
            self.order.done();
            return Ok(None);
        }
        self.order.taken();
        Ok(Some(Claimed { unit, _claim: Some(Arc::new(claim)) }))
    }

    /// Waits, unless the work shall stop.
    fn wait(&self, time: Duration) {
        let end = Instant::now() + time;
        while (self.go_on)() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            thread::sleep(left.min(LOOK));
        }
    }
}

impl<W: Work> Iterator for Shared<'_, W> {
    type Item = Result<Claimed<W::Unit>>;

    fn next(&mut self) -> Option<Self::Item> {
        while (self.go_on)() {
            match self.order.step() {
                Step::Ask(unit) => {
                    if let Some(claimed) = self.ask(unit).transpose() {
                        return Some(claimed);
                    }
                }
                Step::List => match self.campaign.without_files(self.order.units()) {
                    Ok(missing) => self.order.listed(missing),
                    Err(error) => return Some(Err(error)),
                },
                Step::Wait(time) => self.wait(time),
                Step::End => return None,
            }
        }
        None
    }
}
