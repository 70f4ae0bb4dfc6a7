//! The dissertation's tables: B, C and J ([`Base`]), A ([`SmallDelays`]) and S ([`Mandatory`]).

mod base;
mod cache;
mod delays;
mod mandatory;

pub use base::Base;
pub use cache::{Loaded, open_mandatory};
pub use delays::SmallDelays;
pub use mandatory::Mandatory;
