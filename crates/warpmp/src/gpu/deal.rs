//! The chunks of an operation, dealt to the workers of one GPU or of several.
//!
//! A worker takes the next chunk when it has done one, so a faster GPU does more of them. A chunk brings the memory of its
//! results along, so results are in order, whoever does it.
//!
//! A GPU that fails at a chunk gives it back and gets no other one: the other GPUs do it. Only if no GPU is left the operation
//! fails.

use std::slice::ChunksMut;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::lock;
use super::pipeline::Pipeline;
use super::slot::Slot;
use crate::error::{Error, Result};
use crate::memory::HostBuffer;

/// A GPU made ready for an operation.
pub(super) struct Hand<'p> {
    pub(super) pipeline: Pipeline<'p>,
    pub(super) slots: Vec<Slot>,
}

/// The dealt chunks.
#[derive(Debug, Default)]
pub(super) struct Dealt {
    /// Time of all kernels.
    pub(super) kernel: Duration,
    /// The GPUs that failed, in this order, by their place among the hands.
    pub(super) failed: Vec<(usize, Error)>,
}

/// The number of a chunk, and the memory for its results.
type Chunk<'w> = (usize, Vec<&'w mut [u32]>);

/// The chunks that are left, and what the finished ones have brought.
struct Work<'w> {
    /// Of each result, those that nobody has taken.
    chunks: Vec<ChunksMut<'w, u32>>,
    next: usize,
    /// Those that were given back.
    returned: Vec<Chunk<'w>>,
    dealt: Dealt,
}

impl<'w> Work<'w> {
    /// The next chunk for a GPU; none if all are taken, or the GPU has failed.
    fn take(&mut self, hand: usize) -> Option<Chunk<'w>> {
        if self.dealt.has_failed(hand) {
            return None;
        }
        if let Some(chunk) = self.returned.pop() {
            return Some(chunk);
        }
        let results: Vec<_> = self.chunks.iter_mut().filter_map(Iterator::next).collect();
        let number = self.next;
        self.next += 1;
        (results.len() == self.chunks.len()).then_some((number, results))
    }

    fn is_done(&self) -> bool {
        self.returned.is_empty() && self.chunks[0].len() == 0
    }
}

impl Dealt {
    pub(super) fn has_failed(&self, hand: usize) -> bool {
        self.failed.iter().any(|(failed, _)| *failed == hand)
    }
}

/// Runs all chunks of so many lanes. The slots of the GPUs that did not fail go back to their engines.
pub(super) fn deal(mut hands: Vec<Hand<'_>>, chunk: usize, out: &mut [HostBuffer]) -> Result<Dealt> {
    let limbs = hands[0].pipeline.result_limbs().collect::<Vec<_>>();
    let chunks = out.iter_mut().zip(limbs).map(|(out, limbs)| out.as_mut_slice().chunks_mut(chunk * limbs)).collect();
    let work = Mutex::new(Work { chunks, next: 0, returned: Vec::new(), dealt: Dealt::default() });
    // Workers end when no chunk is left, also if a chunk is given back later.
    while !lock(&work).is_done() {
        run(&mut hands, chunk, &work);
        let mut work = lock(&work);
        if !work.is_done() && work.dealt.failed.len() == hands.len() {
            return Err(work.dealt.failed.swap_remove(0).1);
        }
    }
    let dealt = work.into_inner().unwrap_or_else(PoisonError::into_inner).dealt;
    for (i, hand) in hands.into_iter().enumerate() {
        if !dealt.has_failed(i) {
            hand.pipeline.keep(hand.slots);
        }
    }
    Ok(dealt)
}

/// A worker for each slot.
fn run(hands: &mut [Hand<'_>], chunk: usize, work: &Mutex<Work<'_>>) {
    if let [Hand { pipeline, slots }] = hands
        && let [slot] = &mut **slots
    {
        return worker(pipeline, 0, chunk, slot, work);
    }
    thread::scope(|scope| {
        for (i, Hand { pipeline, slots }) in hands.iter_mut().enumerate() {
            let pipeline = &*pipeline;
            for slot in slots {
                scope.spawn(move || worker(pipeline, i, chunk, slot, work));
            }
        }
    });
}

/// Takes chunks until none is left, or the GPU has failed.
fn worker(pipeline: &Pipeline<'_>, hand: usize, chunk: usize, slot: &mut Slot, work: &Mutex<Work<'_>>) {
    loop {
        let Some((number, mut out)) = lock(work).take(hand) else { return };
        let done = pipeline.chunk(slot, number * chunk, &mut out);
        let mut work = lock(work);
        match done {
            Ok(kernel) => work.dealt.kernel += kernel,
            Err(error) => {
                work.returned.push((number, out));
                if !work.dealt.has_failed(hand) {
                    work.dealt.failed.push((hand, error));
                }
            }
        }
    }
}
