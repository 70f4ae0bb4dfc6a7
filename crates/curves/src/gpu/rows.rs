//! Walks between two launches, in words: how they leave a device, and how they come back.

use warpmp_device::Buffer;

use super::Engine;
use crate::error::Result;
use crate::kernels::numbers::Columns;
use crate::search::suspended_words;

/// The walks of one point of every thread.
struct Row {
    columns: Columns,
    /// `x` and `y`.
    state: Vec<u32>,
    seeds: Vec<u32>,
}

impl Row {
    /// A walk in its [words](suspended_words).
    fn walk(&self, column: u32) -> Vec<u32> {
        let i = column as usize;
        let mut words = self.seeds[2 * i..2 * i + 2].to_vec();
        words.extend(self.places(column).map(|place| self.state[place]));
        words
    }

    fn set_walk(&mut self, column: u32, walk: &[u32]) {
        let i = column as usize;
        self.seeds[2 * i..2 * i + 2].copy_from_slice(&walk[..2]);
        for (place, &word) in self.places(column).zip(&walk[2..]) {
            self.state[place] = word;
        }
    }

    /// Where the limbs of `x` and `y` lie.
    fn places(&self, column: u32) -> impl Iterator<Item = usize> + use<> {
        let columns = self.columns;
        (0..2).flat_map(move |number| (0..columns.limbs).map(move |limb| columns.word(number, column, limb)))
    }
}

impl<const W: usize> Engine<W> {
    /// Shows each walk that has a start.
    pub(super) fn show_walks(&self, each: &mut dyn FnMut(&[u32])) -> Result<()> {
        for point in 0..self.kernel.points {
            let row = self.row(point)?;
            for column in 0..self.kernel.columns().stride {
                let walk = row.walk(column);
                if walk[..2] != [u32::MAX; 2] {
                    each(&walk);
                }
            }
        }
        Ok(())
    }

    /// Sets the first walks; how many there is room for.
    pub(super) fn set_walks(&self, walks: &[u32]) -> Result<usize> {
        let columns = self.kernel.columns();
        let words = suspended_words(columns.limbs);
        let mut left = walks.chunks_exact(words);
        for point in 0..self.kernel.points {
            if left.len() == 0 {
                break;
            }
            let mut row = self.row(point)?;
            for (column, walk) in (0..columns.stride).zip(left.by_ref()) {
                row.set_walk(column, walk);
            }
            self.set_row(point, &row)?;
        }
        Ok(walks.len() / words - left.len())
    }

    /// Words of `x`, `y` and the prefix products of one point of every thread.
    pub(super) fn row_words(&self) -> usize {
        3 * (self.kernel.columns().limbs * self.kernel.columns().stride) as usize
    }

    fn row(&self, point: u32) -> Result<Row> {
        let columns = self.kernel.columns();
        let (point, stride) = (point as usize, columns.stride as usize);
        let download = |buffer: &Buffer, at: usize, words: usize| -> Result<Vec<u32>> {
            let mut data = vec![0; words];
            self.device.download(&self.stream, buffer, at, &mut data)?;
            Ok(data)
        };
        Ok(Row {
            columns,
            state: download(&self.state, point * self.row_words(), 2 * self.row_words() / 3)?,
            seeds: download(&self.seeds, point * 2 * stride, 2 * stride)?,
        })
    }

    fn set_row(&self, point: u32, row: &Row) -> Result<()> {
        let (point, stride) = (point as usize, row.columns.stride as usize);
        let upload = |data: &[u32], buffer: &Buffer, at: usize| self.device.upload(&self.stream, data, buffer, at);
        upload(&row.state, &self.state, point * self.row_words())?;
        upload(&row.seeds, &self.seeds, point * 2 * stride)?;
        Ok(())
    }
}
