//! The units of a directory in which several processes work.

use std::{collections::VecDeque, sync::Arc, thread, time::Duration};

use crate::{
    campaign::Campaign,
    claim::{Claim, Claims, HEARTBEAT, PATIENCE},
    control::Control,
    error::Result,
    work::Work,
};

/// The time between two looks at units that other processes have claimed.
const PAUSE: Duration = Duration::from_millis(200);

/// A unit that this process has claimed.
#[derive(Clone, Debug)]
pub struct Claimed<U> {
    /// The unit.
    pub unit: U,
    /// Given back when the last copy is dropped: store the certificate before.
    _claim: Arc<Claim>,
}

/// The units that are left for this process, one after the other: each is claimed before it is given.
///
/// A unit that another process has claimed is looked at again later. The iterator ends when every unit has a certificate, or when the
/// work shall stop.
#[derive(Debug)]
pub struct Shared<'a, W: Work> {
    campaign: &'a Campaign<W>,
    control: &'a Control,
    claims: Claims,
    open: VecDeque<W::Unit>,
    /// Claimed by others.
    later: VecDeque<W::Unit>,
}

impl<W: Work> Campaign<W> {
    /// The units without a certificate, for a directory that was opened with [`Campaign::join`]. Files that are damaged are in the way
    /// of their units: [`Campaign::clear`] them before.
    ///
    /// # Errors
    /// [`crate::Error::File`].
    pub fn shared<'a>(&'a self, control: &'a Control) -> Result<Shared<'a, W>> {
        self.shared_with(control, HEARTBEAT, PATIENCE)
    }

    /// As [`Campaign::shared`], with other times than [`HEARTBEAT`] and [`PATIENCE`].
    ///
    /// # Errors
    /// [`crate::Error::File`].
    pub fn shared_with<'a>(
        &'a self,
        control: &'a Control,
        heartbeat: Duration,
        patience: Duration,
    ) -> Result<Shared<'a, W>> {
        let mut open: VecDeque<W::Unit> = self.missing(&self.contents()?).collect();
        // Processes begin at different places, so that they seldom want the same unit.
        let place = (u64::from(std::process::id()).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        let place = place.checked_rem(open.len()).unwrap_or(0);
        open.rotate_left(place);
        let claims = Claims::new(&self.folder, heartbeat, patience);
        Ok(Shared { campaign: self, control, claims, open, later: VecDeque::new() })
    }
}

impl<W: Work> Shared<'_, W> {
    fn claim(&mut self, unit: W::Unit) -> Result<Option<Claimed<W::Unit>>> {
        let path = self.campaign.path(&unit);
        if path.exists() {
            return Ok(None);
        }
        let Some(claim) = self.claims.take(&W::name(&unit))? else {
            self.later.push_back(unit);
            return Ok(None);
        };
        // Its owner may have stored the certificate and given the claim back in the meantime.
        Ok((!path.exists()).then(|| Claimed { unit, _claim: Arc::new(claim) }))
    }
}

impl<W: Work> Iterator for Shared<'_, W> {
    type Item = Result<Claimed<W::Unit>>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.control.check().is_ok() {
            if let Some(unit) = self.open.pop_front() {
                if let Some(claimed) = self.claim(unit).transpose() {
                    return Some(claimed);
                }
            } else if self.later.is_empty() {
                return None;
            } else {
                thread::sleep(PAUSE);
                std::mem::swap(&mut self.open, &mut self.later);
            }
        }
        None
    }
}
