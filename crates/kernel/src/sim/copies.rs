//! The asynchronous copies of a warp that are in flight.

use super::WARP;
use super::order::lanes;

/// A copy in flight: words that reach shared memory when their thread waits for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    pub(super) lane: u8,
    /// First word in shared memory.
    pub(super) first: u32,
    /// Its number of words.
    pub(super) words: u8,
    pub(super) data: [u32; 4],
    /// Its group: the number of groups that the thread had closed before.
    group: u32,
}

/// All copies of a warp in flight, in the order of issue.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
    flying: Vec<Copy>,
    landed: Vec<Copy>,
    /// How many groups each lane has closed.
    closed: [u32; WARP],
}

impl Copies {
    /// A lane issues a copy.
    pub(super) fn issue(&mut self, lane: usize, first: u32, words: u8, data: [u32; 4]) {
        self.flying.push(Copy { lane: lane as u8, first, words, data, group: self.closed[lane] });
    }

    /// The lanes of the mask close their groups.
    pub(super) fn commit(&mut self, mask: u32) {
        lanes(mask).for_each(|lane| self.closed[lane] += 1);
    }

    /// The lanes of the mask wait until at most this many of their groups are in flight. Returns the copies that
    /// have arrived. Without a number the lanes wait for the open group, too.
    pub(super) fn wait(&mut self, mask: u32, in_flight: Option<u32>) -> &[Copy] {
        self.landed.clear();
        let (closed, landed) = (&self.closed, &mut self.landed);
        self.flying.retain(|copy| {
            let lane = usize::from(copy.lane);
            let done = match in_flight {
                None => true,
                Some(number) => closed[lane] - copy.group > number,
            };
            let stays = mask >> lane & 1 == 0 || !done;
            if !stays {
                landed.push(*copy);
            }
            stays
        });
        landed
    }

    pub(super) fn reset(&mut self) {
        self.flying.clear();
        self.closed = [0; WARP];
    }
}
