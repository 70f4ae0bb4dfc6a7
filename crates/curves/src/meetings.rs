//! Distinguished points by their hash: two walks that meet end at one point.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use num_bigint::BigUint;

/// A distinguished point that a walk has reached. The start alone is enough to make the walk again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Distinguished {
    /// A hash of the residue of `x`.
    pub hash: u64,
    /// The walk's start.
    pub start: u64,
}

/// What two reports of one hash tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// The logarithm, checked.
    Solved(BigUint),
    /// Two walks met, and both points have equal multiples of `Q`: this tells nothing.
    Useless,
    /// One walk was reported twice.
    Repeated,
    /// Two different points have one hash.
    Coincidence,
    /// The walk of this start does not lead to the point that was reported.
    Wrong {
        /// The number of the start.
        start: u64,
    },
}

/// Points in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    starts: HashMap<u64, u64, BuildHasherDefault<Plain>>,
}

/// The keys are hashes already.
#[derive(Clone, Copy, Debug, Default)]
struct Plain(u64);

impl Hasher for Plain {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl Table {
    /// Bytes of memory a place. While the table grows, the old half is there too; sorted points take less.
    const PLACE_BYTES: u64 = 34;

    /// How many points fit into so much memory. The number of places is a power of two, of which seven eighths are used.
    pub(crate) fn points_of(memory_bytes: u64) -> usize {
        let places = (memory_bytes / Self::PLACE_BYTES).max(16);
        (1_usize << places.ilog2()) / 8 * 7
    }

    /// Adds a point. If a point of its hash is there, that one stays, and both are returned.
    pub(crate) fn insert(&mut self, point: Distinguished) -> Option<[Distinguished; 2]> {
        match self.starts.entry(point.hash) {
            Entry::Occupied(first) => Some([Distinguished { start: *first.get(), ..point }, point]),
            Entry::Vacant(place) => {
                place.insert(point.start);
                None
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// All points by their hashes.
    pub(crate) fn sorted(&self) -> Vec<Distinguished> {
        let mut points: Vec<Distinguished> =
            self.starts.iter().map(|(&hash, &start)| Distinguished { hash, start }).collect();
        points.sort_unstable();
        points
    }

    /// Forgets all points, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.starts.clear();
    }
}
