//! SHA-256 of the effect of rules and tables, so that certificates of different rules are never taken for the same.

use std::{
    collections::BTreeMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use sha2::{Digest as _, Sha256};
use warpmp_campaign::hex;

use crate::{
    dfs::{Lookahead, leaves},
    error::Result,
    rules::{FLOOR, mod9_removes},
    tables::{Base, Mandatory},
};

/// Depth at which the rules are sampled: deep enough that every rule has removed something.
const DEPTH: u32 = 14;

static RULES: LazyLock<String> = LazyLock::new(rules);

/// The rules' fingerprint: SHA-256 over, little-endian, the floor (16 bytes); the residues mod 9 that are removed (a byte each);
/// the leaves at depth 14 by ascending `c` and, within, ascending residue (`c` 4 bytes, residue and state 8 each); the look-ahead words of
/// every class of them with 14 bits; the mandatory residues mod `2^14`.
pub fn fingerprint() -> String {
    RULES.clone()
}

fn rules() -> String {
    let mut hash = Sha256::new();
    hash.update(FLOOR.to_le_bytes());
    hash.update((0..9).filter(|residue| mod9_removes(*residue)).map(|residue| residue as u8).collect::<Vec<_>>());
    for mut class in leaves(DEPTH) {
        class.leaves.sort_unstable();
        for leaf in &class.leaves {
            hash.update(class.odd_steps.to_le_bytes());
            hash.update(leaf.residue.to_le_bytes());
            hash.update(leaf.state.to_le_bytes());
        }
        let lookahead = Lookahead::new(DEPTH, class.odd_steps, DEPTH);
        for word in &lookahead.words()[..1 << (DEPTH - 6)] {
            hash.update(word.to_le_bytes());
        }
    }
    if let Ok(table) = Mandatory::new(DEPTH) {
        table.block(0).for_each(|residue| hash.update(residue.to_le_bytes()));
    }
    hex(&hash.finalize())
}

/// The fingerprint of tables B and C with these base bits: SHA-256 over both, 4 bytes an entry, little-endian.
///
/// # Errors
/// [`crate::Error::Parameter`].
pub(crate) fn base(bits: u32) -> Result<String> {
    // A campaign has thousands of certificates, and large tables take a tenth of a second.
    let mut known = BASES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(fingerprint) = known.get(&bits) {
        return Ok(fingerprint.clone());
    }
    let base = Base::new(bits)?;
    let mut hash = Sha256::new();
    for entry in base.factors().iter().chain(base.addends()) {
        hash.update(entry.to_le_bytes());
    }
    Ok(known.entry(bits).or_insert(hex(&hash.finalize())).clone())
}

/// Fingerprints of tables B and C, by their bits.
static BASES: Mutex<BTreeMap<u32, String>> = Mutex::new(BTreeMap::new());
