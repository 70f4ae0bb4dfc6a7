//! A range of starts, verified window by window into a directory.
//!
//! The directory, its lock and its certificates are those of [`warpmp_campaign`]; this module says what the units are. A unit is a
//! window: the range is cut at multiples of the windows' size. The certificate of a window is `DIR/FROM-COUNT.json`.
//!
//! ```text
//! specification  what a campaign is about: range, windows' size, scheme, rules
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

pub use warpmp_campaign::{Aside, Error as FolderError, Lock, Remains, Restored, Stored};

pub use recheck::{Verdict, recheck};
pub use request::{Request, Wanted};
pub use specification::Specification;
pub use sums::{Rate, Sums, rates};
pub use verify::{Opened, run, verify};

use crate::{certificate::Certificate, error::Error, window::Window};

/// A campaign's directory.
pub type Campaign = warpmp_campaign::Campaign<Specification>;
/// What a directory holds.
pub type Contents = warpmp_campaign::Contents<Specification>;
/// What a directory has of a campaign.
pub type Begun = warpmp_campaign::Begun<Specification>;
/// What happens while windows are worked on.
pub type Event = warpmp_campaign::Event<Window, Certificate, Error>;
