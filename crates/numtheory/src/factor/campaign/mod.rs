//! Curves on integers as a campaign: a directory that a kill and a power cut do not harm.
//!
//! ```text
//! specification   integers, bounds, curves, and the units into which they are cut
//! work            the units that are missing, one after the other; what all certificates tell together
//! ```
//!
//! A unit has some integers and some curves. It makes each curve on each composite part that is known when it begins. Its
//! certificate, `DIR/nINTEGER-cCURVE.json`, has the divisors that it found, with their sigmas.

mod specification;
#[cfg(test)]
mod tests;
mod work;

pub use warpmp_campaign::{Aside, Error as FolderError, Mode, Part, Restored};

pub use specification::{Certificate, Found, Specification, Unit};
pub use work::{Known, Opened, Status};

/// A campaign's directory.
pub type Campaign = warpmp_campaign::Campaign<Specification>;
/// The traces of a campaign in a directory.
pub type Begun = warpmp_campaign::Begun<Specification>;
/// The files of a directory.
pub type Contents = warpmp_campaign::Contents<Specification>;
