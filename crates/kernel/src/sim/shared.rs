//! A block's shared memory, and the detection of races in it.
//!
//! Every word remembers its last write and the reads since: in which interval between barriers of
//! the block, by which warp and lane, in which tick of the warp's [`Order`]. Two accesses by different
//! lanes, one of them a write, must be ordered by `bar.sync`, or within a warp by `bar.warp.sync`;
//! a shuffle or a vote does not order memory. Of several concurrent readers in one warp the latest tick is
//! kept for all.
//!
//! A word that was written by halves has two histories, so that lanes may write its halves at the same
//! time; the next write of the whole word joins them again.

use super::fault::FaultKind;
use super::order::{Order, lanes};

/// Who makes an access.
#[derive(Clone, Copy)]
pub(super) struct Accessor<'w> {
    pub(super) warp: u32,
    pub(super) lane: usize,
    pub(super) order: &'w Order,
}

/// In place of a warp or lane number: several.
const MANY: u8 = u8::MAX;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Content {
    #[default]
    Undefined,
    Defined,
    /// An asynchronous copy to it is in flight.
    Pending,
}

/// A word and its history.
#[derive(Clone, Debug, Default)]
struct Word {
    value: u32,
    /// The interval of the last write and of the reads since; 0 is never.
    write_interval: u32,
    read_interval: u32,
    write_tick: u32,
    read_tick: u32,
    /// The lanes that read, if they are all of one warp.
    read_lanes: u32,
    read_warp: u8,
    write_warp: u8,
    write_lane: u8,
    write_atomic: bool,
    /// Has the writer executed `fence.proxy.async` since?
    fenced: bool,
    /// Pending matrix products of warpgroups that read it, once a warp.
    holders: u16,
    /// Is this the low half only, and the high half has a history of its own?
    split: bool,
    content: Content,
}

/// A block's shared memory.
#[derive(Debug)]
pub(super) struct Shared {
    words: Vec<Word>,
    /// The high halves of the words that are split; empty until one is.
    high: Vec<Word>,
    bytes: u32,
    /// Number of the interval between two barriers of the block, from 1.
    interval: u32,
}

impl Shared {
    pub(super) fn new(bytes: u32) -> Self {
        Self { words: vec![Word::default(); bytes.div_ceil(4) as usize], high: Vec::new(), bytes, interval: 1 }
    }

    /// Another block begins: all is undefined again.
    pub(super) fn reset(&mut self) {
        self.words.fill(Word::default());
        self.interval = 1;
    }

    pub(super) fn bytes(&self) -> u32 {
        self.bytes
    }

    /// All threads of the block have met: every access before is ordered before every access to come.
    pub(super) fn barrier(&mut self) {
        self.interval += 1;
    }

    /// Reads a word.
    pub(super) fn read(&mut self, index: usize, by: Accessor<'_>) -> Result<u32, FaultKind> {
        if self.words[index].split {
            return Ok(self.read_half(2 * index, by)? | self.read_half(2 * index + 1, by)? << 16);
        }
        self.words[index].read(self.interval, 4 * index as u32, by)
    }

    /// Reads a half of a word: the low one of word `half / 2` if `half` is even.
    pub(super) fn read_half(&mut self, half: usize, by: Accessor<'_>) -> Result<u32, FaultKind> {
        let (index, offset, interval) = (half / 2, 2 * half as u32, self.interval);
        if !self.words[index].split {
            let value = self.words[index].read(interval, offset, by)?;
            return Ok(value >> (16 * (half % 2)) & 0xFFFF);
        }
        self.half(half).read(interval, offset, by)
    }

    /// The history of a half of a split word.
    fn half(&mut self, half: usize) -> &mut Word {
        let histories = if half.is_multiple_of(2) { &mut self.words } else { &mut self.high };
        &mut histories[half / 2]
    }

    /// Reads a word for a matrix product of a warpgroup, which holds it until [`release`](Self::release).
    pub(super) fn hold(&mut self, index: usize, by: Accessor<'_>) -> Result<u32, FaultKind> {
        let value = self.read(index, by)?;
        for word in self.histories(index) {
            if !word.fenced {
                return Err(FaultKind::UnfencedShared { offset: 4 * index as u32 });
            }
            word.holders += 1;
        }
        Ok(value)
    }

    /// A warp has waited for a matrix product that holds the word: it has been read up to now.
    pub(super) fn release(&mut self, index: usize, by: Accessor<'_>) {
        let interval = self.interval;
        for word in self.histories(index) {
            word.holders -= 1;
            word.note_read(interval, by);
        }
    }

    /// The history of a word, or the two of a split one.
    fn histories(&mut self, index: usize) -> impl Iterator<Item = &mut Word> {
        let word = &mut self.words[index];
        let high = if word.split { self.high.get_mut(index) } else { None };
        std::iter::once(word).chain(high)
    }

    /// The lanes of the mask have executed `fence.proxy.async`.
    pub(super) fn fence(&mut self, warp: u32, mask: u32) {
        for word in self.words.iter_mut().chain(&mut self.high) {
            let lane = u32::from(word.write_lane);
            word.fenced |= u32::from(word.write_warp) == warp && lane < 32 && mask >> lane & 1 == 1;
        }
    }

    /// Writes a half of a word.
    pub(super) fn write_half(&mut self, half: usize, value: u32, by: Accessor<'_>) -> Result<(), FaultKind> {
        let index = half / 2;
        if !self.words[index].split {
            self.high.resize(self.words.len(), Word::default());
            let low = &mut self.words[index];
            let high = &mut self.high[index];
            high.clone_from(low);
            high.value >>= 16;
            low.value &= 0xFFFF;
            low.split = true;
        }
        let interval = self.interval;
        let word = self.half(half);
        word.may_write(interval, 2 * half as u32, by)?;
        word.note_write(interval, by);
        word.value = value & 0xFFFF;
        Ok(())
    }

    /// Makes a split word whole again: whoever asks is ordered after both halves' histories.
    fn join(&mut self, index: usize, by: Accessor<'_>) -> Result<(), FaultKind> {
        if !self.words[index].split {
            return Ok(());
        }
        let interval = self.interval;
        for half in [2 * index, 2 * index + 1] {
            self.half(half).may_write(interval, 2 * half as u32, by)?;
        }
        let high = self.high[index].clone();
        let word = &mut self.words[index];
        word.value |= high.value << 16;
        if high.content != Content::Defined {
            word.content = high.content;
        }
        word.split = false;
        Ok(())
    }

    /// Writes a word.
    pub(super) fn write(&mut self, index: usize, value: u32, by: Accessor<'_>) -> Result<(), FaultKind> {
        self.join(index, by)?;
        let word = &mut self.words[index];
        word.may_write(self.interval, 4 * index as u32, by)?;
        word.note_write(self.interval, by);
        word.value = value;
        Ok(())
    }

    /// Reads a word for an atomic operation, to be followed by [`write_atomic`](Self::write_atomic).
    pub(super) fn read_atomic(&mut self, index: usize, by: Accessor<'_>) -> Result<u32, FaultKind> {
        self.join(index, by)?;
        let offset = 4 * index as u32;
        let word = &self.words[index];
        word.check_content(offset)?;
        if !(word.write_atomic && word.write_interval == self.interval) {
            word.after_write(self.interval, offset, by)?;
        }
        word.after_reads(self.interval, offset, by)?;
        Ok(word.value)
    }

    /// Writes a word as part of an atomic operation: unordered atomic operations do not race.
    pub(super) fn write_atomic(&mut self, index: usize, value: u32, by: Accessor<'_>) {
        let word = &mut self.words[index];
        let joint = word.write_atomic && word.write_interval == self.interval;
        let (warp, lane, tick) = (word.write_warp, word.write_lane, word.write_tick);
        word.note_write(self.interval, by);
        word.write_atomic = true;
        word.value = value;
        if joint && warp != word.write_warp {
            word.write_warp = MANY;
        } else if joint && lane != word.write_lane && !by.order.all_known(tick) {
            word.write_lane = MANY;
        }
    }

    /// An asynchronous copy to the word is issued.
    pub(super) fn issue(&mut self, index: usize, by: Accessor<'_>) -> Result<(), FaultKind> {
        self.join(index, by)?;
        let word = &mut self.words[index];
        word.may_write(self.interval, 4 * index as u32, by)?;
        word.content = Content::Pending;
        Ok(())
    }

    /// The thread that issued an asynchronous copy has waited for it.
    pub(super) fn complete(&mut self, index: usize, value: u32, by: Accessor<'_>) {
        let word = &mut self.words[index];
        word.note_write(self.interval, by);
        word.value = value;
    }
}

impl Word {
    fn check_content(&self, offset: u32) -> Result<(), FaultKind> {
        match self.content {
            Content::Defined => Ok(()),
            Content::Undefined => Err(FaultKind::UninitialisedShared { offset }),
            Content::Pending => Err(FaultKind::PendingCopy { offset }),
        }
    }

    fn read(&mut self, interval: u32, offset: u32, by: Accessor<'_>) -> Result<u32, FaultKind> {
        self.check_content(offset)?;
        self.after_write(interval, offset, by)?;
        self.note_read(interval, by);
        Ok(self.value)
    }

    /// Is the last write ordered before this access?
    fn after_write(&self, interval: u32, offset: u32, by: Accessor<'_>) -> Result<(), FaultKind> {
        if self.write_interval != interval || self.follows_write(by) {
            return Ok(());
        }
        let known = |number: u8| (number != MANY).then_some(u32::from(number));
        let (warp, lane) = (known(self.write_warp), known(self.write_lane));
        Err(FaultKind::Race { offset, written: true, warp, lane })
    }

    fn follows_write(&self, by: Accessor<'_>) -> bool {
        if u32::from(self.write_warp) != by.warp {
            return false;
        }
        if self.write_lane == MANY {
            return by.order.all_known(self.write_tick);
        }
        by.order.before(usize::from(self.write_lane), self.write_tick, by.lane)
    }

    /// Are the reads since the last write ordered before this access?
    fn after_reads(&self, interval: u32, offset: u32, by: Accessor<'_>) -> Result<(), FaultKind> {
        if self.read_interval != interval {
            return Ok(());
        }
        let race = |warp, lane| Err(FaultKind::Race { offset, written: false, warp, lane });
        if u32::from(self.read_warp) != by.warp {
            let warp = (self.read_warp != MANY).then_some(u32::from(self.read_warp));
            let single = warp.is_some() && self.read_lanes.is_power_of_two();
            return race(warp, single.then_some(self.read_lanes.trailing_zeros()));
        }
        if by.order.all_known(self.read_tick) {
            return Ok(());
        }
        match lanes(self.read_lanes).find(|&lane| !by.order.before(lane, self.read_tick, by.lane)) {
            Some(lane) => race(Some(by.warp), Some(lane as u32)),
            None => Ok(()),
        }
    }

    fn may_write(&self, interval: u32, offset: u32, by: Accessor<'_>) -> Result<(), FaultKind> {
        if self.content == Content::Pending {
            return Err(FaultKind::PendingCopy { offset });
        }
        if self.holders != 0 {
            return Err(FaultKind::HeldByProduct { offset });
        }
        self.after_write(interval, offset, by)?;
        self.after_reads(interval, offset, by)
    }

    fn note_read(&mut self, interval: u32, by: Accessor<'_>) {
        let tick = by.order.tick();
        let bit = 1 << by.lane;
        if self.read_interval != interval {
            (self.read_interval, self.read_warp, self.read_lanes) = (interval, by.warp as u8, bit);
        } else if u32::from(self.read_warp) != by.warp {
            self.read_warp = MANY;
        } else if self.read_tick == tick {
            self.read_lanes |= bit;
        } else {
            // Forget the readers that are ordered before this one: an access ordered after this one is ordered after them.
            let concurrent = lanes(self.read_lanes).filter(|&lane| !by.order.before(lane, self.read_tick, by.lane));
            self.read_lanes = concurrent.fold(bit, |mask, lane| mask | 1 << lane);
        }
        self.read_tick = tick;
    }

    fn note_write(&mut self, interval: u32, by: Accessor<'_>) {
        self.write_interval = interval;
        self.write_tick = by.order.tick();
        self.write_warp = by.warp as u8;
        self.write_lane = by.lane as u8;
        self.write_atomic = false;
        self.fenced = false;
        self.read_interval = 0;
        self.content = Content::Defined;
    }
}
