//! A range of starts, verified window by window into a directory.
//!
//! [`warpmp_campaign`] has the directory, its lock and its certificates; this module defines the units. A unit is a
//! window: the range is cut at multiples of the windows' size. The certificate of a window is `DIR/FROM-COUNT.json`.
//!
//! ```text
//! specification  the parameters of a campaign: range, windows' size, scheme, rules
//! request        the campaign that suits a request, the directory and the engines
//! verify         the windows that are missing, dealt to engines
//! recheck        certificates recomputed by the independent path
//! sums           figures of many certificates together, and their rates
//! ```

mod recheck;
mod request;
mod specification;
mod sums;
mod verify;

pub use warpmp_campaign::{
    Aside, Error as FolderError, Lock, Mode, Part as UnitPart, Remains, Restored, Stored, program,
};

pub use recheck::{Verdict, recheck};
pub use request::{Request, Wanted};
pub use specification::{Extension, Part, Specification};
pub use sums::{Rate, Sums, rates};
pub use verify::{Opened, Verified, run, verify};

use crate::{certificate::Certificate, error::Error, window::Window};

/// A campaign's directory.
pub type Campaign = warpmp_campaign::Campaign<Specification>;
/// The files of a directory.
pub type Contents = warpmp_campaign::Contents<Specification>;
/// The traces of a campaign in a directory.
pub type Begun = warpmp_campaign::Begun<Specification>;
/// An event of the work on windows.
pub type Event = warpmp_campaign::Event<Window, Certificate, Error>;
