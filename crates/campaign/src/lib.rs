//! Campaigns: long computations in a directory, which survive a kill, a power cut and strange files.
//!
//! A campaign's work is cut into *units*. A worker does a unit and stores its *certificate*: a sealed file that other programs can
//! check. A unit is done if its certificate is there and can be trusted. So the directory alone says where to resume, whatever
//! ended the last process.
//!
//! [`Campaign::begun`] reads the specification, so that a call can resume with the directory alone. [`Campaign::create`] opens a
//! directory for one process, [`Campaign::join`] for several.
//!
//! ```text
//! DIR/campaign.json            the specification, sealed: everything that defines the campaign
//! DIR/lock                     held by the one process that works alone, or by all processes that share the directory
//! DIR/UNIT.json                the certificate of a unit, sealed
//! DIR/UNIT.claim               a process of a shared directory works on this unit
//! DIR/UNIT.json.differs        a second certificate of the unit with another result: one of both is wrong
//! DIR/NAME.aside, NAME.aside-2 files that were in the way
//! ```
//!
//! ```text
//! work      the trait of a client: units, their names, their certificates
//! campaign  the directory: created, opened, read, damaged files moved aside
//! restore   a lost specification, written again
//! seal      files with a checksum, written whole
//! unnamed   files that get a name when they are whole
//! lock      one process alone, or several that share
//! claim     the process that works on a unit, with a heartbeat
//! share     the units of a directory in which several processes work
//! part      a part of the units, and how a process takes part
//! host      the name of this machine
//! look      a map of the units, the processes at work, checksums
//! order     the order in which each of them asks for units
//! deal      units dealt to the workers of one process
//! control   stop and progress
//! records   append-only files of small records, with a checksum a block
//! ```
//!
//! Rules that every part follows: a file is whole or not there. No file that this layer has not written is deleted or overwritten:
//! a file in the way is moved aside, every other file is left alone. A claim saves work, and never decides which result is right.
//!
//! # A worker of a shared directory
//!
//! Any number of these may run at the same time, on any hosts, be killed, and be started again:
//!
//! ```
//! use std::path::Path;
//! use warpmp_campaign::{Campaign, Part, Result, Work};
//!
//! fn take_part<W: Work>(folder: &Path, work: &W, make: impl Fn(&W::Unit) -> W::Certificate) -> Result<()> {
//!     let (campaign, _lock) = Campaign::join(folder, work)?;
//!     for claimed in campaign.shared(Part::ALL, &|| true)? {
//!         let claimed = claimed?;
//!         campaign.store(&make(&claimed.unit))?;
//!     }
//!     Ok(())
//! }
//! ```
#![forbid(unsafe_code)]

mod campaign;
mod claim;
mod control;
mod deal;
mod error;
mod host;
mod lock;
mod look;
mod order;
mod part;
pub mod records;
mod restore;
mod seal;
mod share;
pub mod unnamed;
mod work;

pub use campaign::{Aside, Campaign, Contents, Stored, load, store};
pub use claim::{Claim, Claims, HEARTBEAT, PATIENCE};
pub use control::{Control, Stopped};
pub use deal::{Event, deal};
pub use error::{Damage, Error, Result};
pub use host::host;
pub use lock::Lock;
pub use look::{Cell, Checksums, OpenUnit, checksums};
pub use part::{Mode, NoPart, Part};
pub use restore::{Begun, Remains, Restored};
pub use seal::{hex, program, seal, unseal, write_whole};
pub use share::{Claimed, GoOn, Shared};
pub use work::Work;
