//! Kernels whose numbers are spread over groups of lanes: rows in, rows out, statuses.
//!
//! The lanes that hold a number read and write its row in global memory, each its own limbs, in the widest pieces that
//! the lengths allow. Where a row is shorter than the limbs of the lanes together, the limbs above it are zero.

use warpmp_kernel::build::{Builder, Emit, Guarded, Pred, R32, R64};
use warpmp_kernel::fragment::{Factor, Spread, select};
use warpmp_kernel::ir::{Bounds, Cmp, Kernel, Space, Special};

use crate::{Entry, GroupLane, Layout, Stage, piece, vector};

/// Factors stay in memory where a lane has at least this many limbs: there, registers are short.
const STREAMED: usize = 20;

/// The rows of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rows {
    /// Limbs a row.
    pub limbs: u32,
    /// Does one row serve every lane?
    pub common: bool,
}

impl Rows {
    /// A row for each lane.
    pub const fn each(limbs: u32) -> Self {
        Self { limbs, common: false }
    }

    /// One row for all lanes.
    pub const fn common(limbs: u32) -> Self {
        Self { limbs, common: true }
    }
}

/// The rows that a kernel reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    operands: Vec<Rows>,
    results: Vec<u32>,
    status: bool,
    scratch: u32,
}

impl Signature {
    /// Operands, and results with their limbs.
    pub fn new(operands: impl IntoIterator<Item = impl Into<Rows>>, results: impl IntoIterator<Item = u32>) -> Self {
        let operands = operands.into_iter().map(Into::into).collect();
        Self { operands, results: results.into_iter().collect(), status: false, scratch: 0 }
    }

    /// The same with a status a lane after the results: 0, or a fault.
    pub fn with_status(self) -> Self {
        Self { status: true, ..self }
    }

    /// The same with this many limbs of scratch memory a lane.
    pub fn with_scratch(self, limbs: u32) -> Self {
        Self { scratch: limbs, ..self }
    }
}

/// A kernel under construction whose numbers are spread over groups of lanes.
#[derive(Clone, Debug)]
pub struct Frame {
    /// How numbers lie in the lanes.
    pub spread: Spread,
    /// This group's lane of the batch.
    pub row: R32,
    operands: Vec<(R64, Rows)>,
    /// Addresses and limbs of the results.
    results: Vec<(R64, u32)>,
    status: Option<R64>,
    /// The address of this number's scratch memory, if the signature has any.
    pub scratch: Option<R64>,
}

impl Layout {
    /// A stage whose numbers have this layout: `body` writes its kernel.
    pub fn stage<'s>(self, name: String, signature: Signature, body: impl Fn(&mut Builder, &Frame) + 's) -> Stage<'s> {
        Stage::new(self.geometry(), move |entry| self.kernel(entry, &name, &signature, &body))
    }

    /// The same with `bytes` bytes of shared memory for each number, a multiple of four: `body` gets their address.
    pub fn stage_with_shared<'s>(
        self,
        name: String,
        signature: Signature,
        bytes: u32,
        body: impl Fn(&mut Builder, &Frame, R32) + 's,
    ) -> Stage<'s> {
        let numbers = (32 * self.warps / self.group).max(1);
        let begin = Spread::shared_bytes(self.group);
        Stage::new(self.geometry().with_shared(begin + numbers * bytes), move |entry| {
            self.kernel(entry, &name, &signature, |b, frame| {
                let base = b.shared_base();
                let base = b.add(base, begin);
                let thread = b.special(Special::Tid);
                let number = b.shr(thread, self.group.trailing_zeros());
                let address = b.mad_lo(number, bytes, base);
                body(b, frame, address);
            })
        })
    }

    fn kernel(self, entry: &Entry, name: &str, signature: &Signature, body: impl Fn(&mut Builder, &Frame)) -> Kernel {
        let Signature { operands, results, status, scratch } = signature;
        let names = ["a", "b", "c", "d"].into_iter().take(operands.len());
        let names = names.chain(["r", "s", "t"].into_iter().take(results.len())).chain(status.then_some("status"));
        let names: Vec<&str> = names.collect();
        let (mut b, ports) = entry.open(name, self.glue, &names, *scratch > 0);
        b.bounds(Bounds { max_threads: Some(32 * self.warps), ..Bounds::default() });
        let place = GroupLane::enter(&mut b, ports.lanes, self.group, self.warps);
        let spread = Spread::new(&mut b, self.group, self.length as usize, place.number);
        let mut addresses = ports.addresses.into_iter();
        let operands = operands.iter().filter_map(|&rows| Some((addresses.next()?, rows))).collect();
        let results = results.iter().filter_map(|&limbs| Some((addresses.next()?, limbs))).collect();
        let status = if *status { addresses.next() } else { None };
        let scratch = addresses.next().map(|address| b.mad_wide(place.row, 4 * *scratch, address));
        body(&mut b, &Frame { spread, row: place.row, operands, results, status, scratch });
        b.finish()
    }
}

impl Layout {
    /// The frame in a launch that takes its turn with others: its lanes begin with lane `first` of the batch, and lane 0 follows lane `lanes - 1`. Both
    /// numbers are multiples of a block's lanes. Also a word, which is 1 in the blocks that come after lane `lanes - 1`, and 0 in the others.
    /// Scratch memory stays that of the launch's own lanes.
    pub fn turned(self, b: &mut Builder, frame: &Frame, first: R32, lanes: R32) -> (Frame, R32) {
        // From the block's number, which is the same for all threads.
        let block = b.special(Special::Ctaid);
        let begin = b.mad_lo(block, self.geometry().lanes, first);
        let wraps = b.compare(Cmp::Ge, begin, lanes);
        let wrapped = b.sub(first, lanes);
        let first = b.select(wrapped, first, wraps);
        let row = b.add(frame.row, first);
        (Frame { row, ..frame.clone() }, b.select(1, 0, wraps))
    }
}

impl Frame {
    /// All limbs of an operand.
    pub fn load(&self, b: &mut Builder, operand: usize) -> Vec<R32> {
        let limbs = self.operands[operand].1.limbs;
        self.load_part(b, operand, 0, limbs)
    }

    /// The number in at most `count` limbs of an operand, from limb `start` on.
    pub fn load_part(&self, b: &mut Builder, operand: usize, start: u32, count: u32) -> Vec<R32> {
        let limbs = self.operands[operand].1.limbs;
        let count = count.min(limbs.saturating_sub(start));
        let base = self.operand_row(b, operand);
        self.read(b, base, start, count, piece(limbs))
    }

    /// The address of an operand's row.
    pub fn operand_row(&self, b: &mut Builder, operand: usize) -> R64 {
        let (address, operand) = self.operands[operand];
        if operand.common { address } else { b.mad_wide(self.row, 4 * operand.limbs, address) }
    }

    /// Reads `count` limbs of a row from limb `start` on. The row allows accesses of `width` words.
    pub fn read(&self, b: &mut Builder, row: R64, start: u32, count: u32, width: u32) -> Vec<R32> {
        let (base, width) = self.blocks(b, row, start, count, width);
        let length = self.spread.length as u32;
        let mut words = Vec::new();
        for i in (0..length).step_by(width as usize) {
            words.extend(match self.inside(b, i, width, count) {
                Inside::All => b.load_global(Space::Global, vector(width), base, 4 * i),
                Inside::None => (0..width).map(|_| b.copy(0)).collect(),
                Inside::Where(inside) => {
                    let words: Vec<R32> = (0..width).map(|_| b.copy(0)).collect();
                    b.guarded(inside, true, |g| g.load_into(Space::Global, vector(width), &words, base, 4 * i));
                    words
                }
            });
        }
        words
    }

    /// A factor of `limbs` limbs that stays in memory; none if registers should hold it. An earlier kernel or this group
    /// has written the row.
    pub fn stream(&self, row: R64, limbs: u32) -> Option<Factor<'static>> {
        // Wider accesses would hold more registers and save no time.
        let width = piece(limbs).min(piece(self.spread.length as u32)).min(2);
        self.streams().then(|| Factor::Memory(row, vector(width)))
    }

    /// An operand of `limbs` limbs as a factor that stays in memory, as [`stream`](Self::stream) has it.
    pub fn stream_operand(&self, b: &mut Builder, operand: usize, limbs: u32) -> Option<Factor<'static>> {
        // After a shorter row comes the row of another lane, not zeros.
        if !self.streams() || self.limbs(operand) != limbs {
            return None;
        }
        let row = self.operand_row(b, operand);
        self.stream(row, limbs)
    }

    /// Do factors stay in memory?
    fn streams(&self) -> bool {
        self.spread.length >= STREAMED && self.spread.group <= 32
    }

    /// Writes a number to `count` limbs of a row.
    pub fn write(&self, b: &mut Builder, row: R64, count: u32, width: u32, number: &[R32]) {
        let (base, width) = self.blocks(b, row, 0, count, width);
        for (words, i) in number.chunks(width as usize).zip((0..).step_by(width as usize)) {
            match self.inside(b, i, width, count) {
                Inside::All => b.store_global(Space::Global, words, base, 4 * i),
                Inside::None => {}
                Inside::Where(inside) => {
                    b.guarded(inside, true, |g| g.store_global(Space::Global, words, base, 4 * i));
                }
            }
        }
    }

    /// The address of a result's row.
    pub fn result_row(&self, b: &mut Builder, result: usize) -> R64 {
        let (address, limbs) = self.results[result];
        b.mad_wide(self.row, 4 * limbs, address)
    }

    /// Stores a result.
    pub fn store(&self, b: &mut Builder, result: usize, number: &[R32]) {
        let limbs = self.results[result].1;
        let row = self.result_row(b, result);
        self.write(b, row, limbs, piece(limbs), number);
    }

    /// Loads a result that an earlier stage has stored.
    pub fn load_result(&self, b: &mut Builder, result: usize) -> Vec<R32> {
        let limbs = self.results[result].1;
        let row = self.result_row(b, result);
        self.read(b, row, 0, limbs, piece(limbs))
    }

    /// The low `bits` bits of a number whose limbs above the last of these bits are zero.
    pub fn truncate(&self, b: &mut Builder, number: &[R32], bits: u32) -> Vec<R32> {
        let mut number = number.to_vec();
        if bits.is_multiple_of(32) {
            return number;
        }
        let (length, limb) = (self.spread.length as u32, bits / 32);
        let here = b.compare(Cmp::Eq, self.spread.member, limb / length);
        let mask = b.select((1 << (bits % 32)) - 1, u32::MAX, here);
        let place = &mut number[(limb % length) as usize];
        *place = b.and(*place, mask);
        number
    }

    /// Stores the results and the status. Results of a lane whose status is a fault are zero.
    pub fn finish(&self, b: &mut Builder, status: R32, results: &[&[R32]]) {
        b.section("store");
        let fine = b.compare(Cmp::Eq, status, 0);
        for (i, &result) in results.iter().enumerate() {
            let zeros: Vec<R32> = result.iter().map(|_| b.copy(0)).collect();
            let result = select(b, fine, result, &zeros);
            self.store(b, i, &result);
        }
        self.store_status(b, status);
    }

    /// Stores the status.
    pub fn store_status(&self, b: &mut Builder, status: R32) {
        let Some(address) = self.status else { return };
        let address = b.mad_wide(self.row, 4, address);
        self.by_bottom(b, |g| g.store_global(Space::Global, &[status], address, 0));
    }

    /// The lowest lane of each group executes `body`.
    pub fn by_bottom(&self, b: &mut Builder, body: impl FnOnce(&mut Guarded<'_>)) {
        let bottom = b.compare(Cmp::Eq, self.spread.member, 0);
        b.guarded(bottom, true, body);
    }

    /// Limbs of an operand.
    pub fn limbs(&self, operand: usize) -> u32 {
        self.operands[operand].1.limbs
    }

    /// The address of this lane's first limb, and the words of an access.
    fn blocks(&self, b: &mut Builder, row: R64, start: u32, count: u32, width: u32) -> (R64, u32) {
        let length = self.spread.length as u32;
        let width = width.min(piece(length)).min(piece(start)).min(piece(count));
        let row = if start == 0 { row } else { b.add64(row, u64::from(4 * start)) };
        let base = if self.spread.group == 1 { row } else { b.mad_wide(self.spread.member, 4 * length, row) };
        (base, width)
    }

    /// The lanes whose limbs `i` to `i + width` are among the first `count` limbs of a row.
    fn inside(&self, b: &mut Builder, i: u32, width: u32, count: u32) -> Inside {
        let length = self.spread.length as u32;
        if (self.spread.group - 1) * length + i + width <= count {
            return Inside::All;
        }
        if i + width > count {
            return Inside::None;
        }
        let last = (count - i - width) / length;
        Inside::Where(b.compare(Cmp::Le, self.spread.member, last))
    }
}

/// The lanes that have limbs of a row.
enum Inside {
    All,
    None,
    Where(Pred),
}
