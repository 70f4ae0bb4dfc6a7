//! The simulated device's global memory: allocations far apart, every word defined or not.

use super::fault::{Fault, FaultKind};

/// Where the first allocation lies: above 4 GiB, so that a truncated address points nowhere.
const FIRST_ADDRESS: u64 = 0x7_0000_0000;
/// Alignment of an allocation.
const ALIGNMENT: u64 = 256;
/// Bytes between two allocations that belong to none.
const GUARD_GAP: u64 = 1 << 20;
/// Bytes of a sector, the unit of traffic with global memory.
pub(super) const SECTOR: u64 = 32;

/// The device cannot serve an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{required_bytes} B asked for, {available_bytes} B free")]
pub struct OutOfMemory {
    /// Bytes asked for.
    pub required_bytes: u64,
    /// Bytes free.
    pub available_bytes: u64,
}

/// The simulated device's global memory.
///
/// Every allocation is surrounded by addresses that belong to none, and an address is never given
/// out twice: a stray access, also one after [`free`](Self::free), is a fault.
#[derive(Debug)]
pub struct Memory {
    capacity: u64,
    used: u64,
    next_address: u64,
    /// By address, ascending.
    allocations: Vec<Allocation>,
}

/// One allocation.
#[derive(Debug)]
pub(super) struct Allocation {
    start: u64,
    bytes: u64,
    words: Vec<u32>,
    defined: BitSet,
    /// Words written in the launch that runs.
    written: BitSet,
    /// Words read through the read-only path in the launch that runs.
    read_only: BitSet,
    /// Sectors loaded and stored in the launch that runs.
    loaded: BitSet,
    stored: BitSet,
}

/// A set of small numbers that takes no space before the first is put in.
#[derive(Debug, Default)]
struct BitSet(Vec<u64>);

impl BitSet {
    fn insert(&mut self, index: usize, size: usize) {
        if self.0.is_empty() {
            self.0 = vec![0; size.div_ceil(64)];
        }
        self.0[index / 64] |= 1 << (index % 64);
    }

    /// Puts a run of numbers in.
    fn insert_run(&mut self, start: usize, end: usize, size: usize) {
        let mut index = start;
        while index < end {
            if index.is_multiple_of(64) && end - index >= 64 {
                self.insert(index, size);
                self.0[index / 64] = u64::MAX;
                index += 64;
            } else {
                self.insert(index, size);
                index += 1;
            }
        }
    }

    fn contains(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|bits| bits >> (index % 64) & 1 == 1)
    }

    fn len(&self) -> u64 {
        self.0.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }

    fn clear(&mut self) {
        self.0 = Vec::new();
    }
}

/// Where a word lies: the allocation's number and the word's number within it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    allocation: usize,
    word: usize,
}

/// How a load reaches the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// Coherent.
    Plain,
    /// The read-only path.
    ReadOnly,
    /// As the first half of an atomic operation. Only its store counts as traffic.
    Atomic,
}

impl Memory {
    /// An empty memory of this many bytes.
    pub fn new(capacity_bytes: u64) -> Self {
        Self { capacity: capacity_bytes, used: 0, next_address: FIRST_ADDRESS, allocations: Vec::new() }
    }

    /// Allocates memory and gives its address, a multiple of 256. The content is undefined.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the memory has fewer bytes left.
    pub fn alloc(&mut self, bytes: u64) -> Result<u64, OutOfMemory> {
        let available = self.free_bytes();
        let refused = OutOfMemory { required_bytes: bytes, available_bytes: available };
        let rounded = bytes.checked_next_multiple_of(ALIGNMENT).ok_or(refused)?;
        if bytes > available {
            return Err(refused);
        }
        let start = self.next_address;
        self.next_address = start.checked_add(rounded + GUARD_GAP).ok_or(refused)?;
        self.used += bytes;
        self.allocations.push(Allocation {
            start,
            bytes,
            words: vec![0; bytes.div_ceil(4) as usize],
            defined: BitSet::default(),
            written: BitSet::default(),
            read_only: BitSet::default(),
            loaded: BitSet::default(),
            stored: BitSet::default(),
        });
        Ok(start)
    }

    /// Places a kernel's table and gives its address; 0 if it is empty. A module's constants take no memory from the
    /// capacity.
    pub(super) fn lend(&mut self, table: &[u64]) -> u64 {
        if table.is_empty() {
            return 0;
        }
        let bytes = 8 * table.len() as u64;
        self.capacity = self.capacity.saturating_add(bytes);
        let Ok(address) = self.alloc(bytes) else { return 0 };
        let words: Vec<u32> = table.iter().flat_map(|&bits| [bits as u32, (bits >> 32) as u32]).collect();
        if let Some(allocation) = self.allocations.last_mut() {
            allocation.words.copy_from_slice(&words);
            allocation.define(0, words.len());
        }
        address
    }

    /// Removes a table that was [lent](Self::lend).
    pub(super) fn take_back(&mut self, address: u64, table: &[u64]) {
        if !table.is_empty() {
            self.free(address);
            self.capacity -= 8 * table.len() as u64;
        }
    }

    /// Frees the allocation at this address; an address that is none is ignored.
    pub fn free(&mut self, address: u64) {
        if let Ok(index) = self.allocations.binary_search_by_key(&address, |a| a.start) {
            self.used -= self.allocations.remove(index).bytes;
        }
    }

    /// Makes the content of the allocation at this address undefined again; an address that is none is ignored.
    pub fn forget(&mut self, address: u64) {
        if let Ok(index) = self.allocations.binary_search_by_key(&address, |a| a.start) {
            self.allocations[index].defined.clear();
        }
    }

    /// Bytes not allocated.
    pub fn free_bytes(&self) -> u64 {
        self.capacity.saturating_sub(self.used)
    }

    /// Bytes in all.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Writes words from the host.
    ///
    /// # Errors
    /// [`FaultKind::GlobalOutOfBounds`] or [`FaultKind::Misaligned`]; nothing was written.
    pub fn write(&mut self, address: u64, words: &[u32]) -> Result<(), Fault> {
        let Some(place) = self.span(address, words.len())? else { return Ok(()) };
        let allocation = &mut self.allocations[place.allocation];
        allocation.words[place.word..][..words.len()].copy_from_slice(words);
        allocation.define(place.word, words.len());
        Ok(())
    }

    /// Reads words to the host.
    ///
    /// # Errors
    /// [`FaultKind::GlobalOutOfBounds`], [`FaultKind::Misaligned`], or
    /// [`FaultKind::UninitialisedGlobal`] for the first word that nothing has written.
    pub fn read(&self, address: u64, words: &mut [u32]) -> Result<(), Fault> {
        let Some(place) = self.span(address, words.len())? else { return Ok(()) };
        let allocation = &self.allocations[place.allocation];
        let undefined = (0..words.len()).find(|i| !allocation.defined.contains(place.word + i));
        if let Some(i) = undefined {
            return Err(FaultKind::UninitialisedGlobal { address: address + 4 * i as u64 }.into());
        }
        words.copy_from_slice(&allocation.words[place.word..][..words.len()]);
        Ok(())
    }

    /// Sets words to one value from the host.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn fill(&mut self, address: u64, value: u32, words: usize) -> Result<(), Fault> {
        let Some(place) = self.span(address, words)? else { return Ok(()) };
        let allocation = &mut self.allocations[place.allocation];
        allocation.words[place.word..][..words].fill(value);
        allocation.define(place.word, words);
        Ok(())
    }

    /// The place of a run of words for the host; none if the run is empty.
    fn span(&self, address: u64, words: usize) -> Result<Option<Place>, FaultKind> {
        if words == 0 {
            return Ok(None);
        }
        if !address.is_multiple_of(4) {
            return Err(FaultKind::Misaligned { address, bytes: 4 });
        }
        let bytes = 4 * words as u64;
        self.locate(address, bytes, 0).map(Some).ok_or(FaultKind::GlobalOutOfBounds { address, bytes })
    }

    /// The place of an aligned access, if it lies within one allocation. The hint is the number of
    /// the allocation it probably lies in.
    pub(super) fn locate(&self, address: u64, bytes: u64, hint: usize) -> Option<Place> {
        let inside = |a: &Allocation| {
            address >= a.start && address - a.start <= a.bytes && a.bytes - (address - a.start) >= bytes
        };
        let allocation = if self.allocations.get(hint).is_some_and(inside) {
            hint
        } else {
            let next = self.allocations.partition_point(|a| a.start <= address);
            next.checked_sub(1).filter(|&index| inside(&self.allocations[index]))?
        };
        let word = ((address - self.allocations[allocation].start) / 4) as usize;
        Some(Place { allocation, word })
    }

    /// Forgets the words that a launch touched. It is called before and after each launch.
    pub(super) fn begin_launch(&mut self) {
        for a in &mut self.allocations {
            for set in [&mut a.written, &mut a.read_only, &mut a.loaded, &mut a.stored] {
                set.clear();
            }
        }
    }

    /// The number of different sectors loaded and stored since the launch began.
    pub(super) fn distinct_sectors(&self) -> (u64, u64) {
        let sum = |set: fn(&Allocation) -> &BitSet| self.allocations.iter().map(|a| set(a).len()).sum();
        (sum(|a| &a.loaded), sum(|a| &a.stored))
    }

    /// A kernel's load of `N` words.
    pub(super) fn load<const N: usize>(&mut self, place: Place, path: Path) -> Result<[u32; N], FaultKind> {
        let a = &mut self.allocations[place.allocation];
        let count = a.words.len();
        for word in place.word..place.word + N {
            if !a.defined.contains(word) {
                return Err(FaultKind::UninitialisedGlobal { address: a.address(word) });
            }
            if path == Path::ReadOnly {
                if a.written.contains(word) {
                    return Err(FaultKind::NotReadOnly { address: a.address(word) });
                }
                a.read_only.insert(word, count);
            }
        }
        if path != Path::Atomic {
            a.loaded.insert(place.word / 8, count.div_ceil(8));
        }
        Ok(std::array::from_fn(|i| a.words[place.word + i]))
    }

    /// A kernel's load of this many words, at most four.
    pub(super) fn load_words(&mut self, place: Place, count: usize) -> Result<[u32; 4], FaultKind> {
        let mut words = [0; 4];
        for (i, target) in words.iter_mut().enumerate().take(count) {
            [*target] = self.load::<1>(Place { word: place.word + i, ..place }, Path::Plain)?;
        }
        Ok(words)
    }

    /// A kernel's store of words.
    pub(super) fn store(&mut self, place: Place, words: &[u32]) -> Result<(), FaultKind> {
        let a = &mut self.allocations[place.allocation];
        let count = a.words.len();
        for (word, &value) in (place.word..).zip(words) {
            if a.read_only.contains(word) {
                return Err(FaultKind::NotReadOnly { address: a.address(word) });
            }
            a.words[word] = value;
            a.defined.insert(word, count);
            a.written.insert(word, count);
        }
        a.stored.insert(place.word / 8, count.div_ceil(8));
        Ok(())
    }
}

impl Allocation {
    fn address(&self, word: usize) -> u64 {
        self.start + 4 * word as u64
    }

    fn define(&mut self, word: usize, words: usize) {
        self.defined.insert_run(word, word + words, self.words.len());
    }
}

impl Place {
    pub(super) fn hint(self) -> usize {
        self.allocation
    }
}
