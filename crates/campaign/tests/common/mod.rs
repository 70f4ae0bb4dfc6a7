//! A small kind of work: sums of squares of blocks of numbers.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};
use warpmp_campaign::{Campaign, Damage, Work};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Squares {
    pub(crate) blocks: u64,
    pub(crate) size: u64,
    pub(crate) program: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Squared {
    pub(crate) format: u32,
    pub(crate) program: String,
    pub(crate) block: u64,
    pub(crate) size: u64,
    pub(crate) sum: u64,
    pub(crate) device: String,
}

impl Squares {
    pub(crate) fn new(blocks: u64, size: u64) -> Self {
        Self { blocks, size, program: Self::PROGRAM.into() }
    }

    pub(crate) fn make(&self, block: u64) -> Squared {
        let numbers = block * self.size..(block + 1) * self.size;
        let (size, device) = (self.size, format!("process {}", std::process::id()));
        Squared { format: 3, program: Self::PROGRAM.into(), block, size, sum: numbers.map(|n| n * n).sum(), device }
    }
}

impl Work for Squares {
    type Unit = u64;
    type Certificate = Squared;

    const PROGRAM: &'static str = "squares 1.0";
    const FORMAT: u32 = 3;

    fn units(&self) -> u128 {
        self.blocks.into()
    }

    fn unit(&self, number: u128) -> Option<u64> {
        u64::try_from(number).ok().filter(|block| *block < self.blocks)
    }

    fn number(&self, block: &u64) -> Option<u128> {
        (*block < self.blocks).then_some(u128::from(*block))
    }

    fn name(block: &u64) -> String {
        format!("{block:06}")
    }

    fn named(name: &str) -> Option<u64> {
        name.parse().ok()
    }

    fn unit_of(sum: &Squared) -> u64 {
        sum.block
    }

    fn check(&self) -> Result<(), Damage> {
        if self.program == Self::PROGRAM { Ok(()) } else { Err(Damage::foreign("program", &self.program)) }
    }

    fn check_certificate(sum: &Squared) -> Result<(), Damage> {
        if sum.format == Self::FORMAT { Ok(()) } else { Err(Damage::foreign("format", sum.format.to_string())) }
    }

    fn fits(&self, sum: &Squared) -> Result<(), Damage> {
        if sum.size == self.size { Ok(()) } else { Err(Damage::Misplaced { what: format!("size {}", sum.size) }) }
    }

    fn extends(&self, found: &Self) -> bool {
        self.size == found.size && self.blocks > found.blocks
    }

    fn agree(one: &Squared, other: &Squared) -> bool {
        one.sum == other.sum
    }

    fn describe(&self) -> String {
        format!("{} blocks of {}", self.blocks, self.size)
    }

    fn describe_certificates(sums: &[Squared]) -> String {
        format!("up to block {}", sums.iter().map(|sum| sum.block).max().unwrap_or(0))
    }
}

/// The names in a directory.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Nothing but whole certificates of the right sums, one for each block.
pub(crate) fn complete(folder: &Path, work: &Squares) {
    let contents = Campaign::<Squares>::open(folder).unwrap().contents().unwrap();
    assert_eq!((&contents.damaged, &contents.others, &contents.disputed), (&Vec::new(), &Vec::new(), &Vec::new()));
    assert_eq!(contents.done.len() as u64, work.blocks);
    for (block, sum) in (0..).zip(&contents.done) {
        assert_eq!((sum.block, sum.sum), (block, work.make(block).sum));
    }
}
