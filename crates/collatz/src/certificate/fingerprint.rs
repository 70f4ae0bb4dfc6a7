//! SHA-256 of what rules and tables do, so that certificates of different rules are never taken for the same.

use std::{
    collections::BTreeMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use sha2::{Digest as _, Sha256};

use super::Scheme;
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

/// The tables that a scheme's figures depend on: for the dissertation's scheme, tables B and C (SHA-256 over both, 4 bytes an
/// entry, little-endian). The default scheme's figures depend on no table: how far a tested start jumps changes no figure.
///
/// # Errors
/// [`crate::Error::Parameter`].
pub fn tables(scheme: &Scheme) -> Result<Vec<(String, String)>> {
    let Scheme::Honda(plan) = scheme else { return Ok(Vec::new()) };
    // A campaign has thousands of certificates, and large tables take a tenth of a second.
    let mut known = BASES.lock().unwrap_or_else(PoisonError::into_inner);
    let fingerprint = match known.get(&plan.base_bits) {
        Some(fingerprint) => fingerprint.clone(),
        None => known.entry(plan.base_bits).or_insert(base(plan.base_bits)?).clone(),
    };
    Ok(vec![(format!("B, C of {} bits", plan.base_bits), fingerprint)])
}

/// Of tables B and C, by their bits.
static BASES: Mutex<BTreeMap<u32, String>> = Mutex::new(BTreeMap::new());

fn base(bits: u32) -> Result<String> {
    let base = Base::new(bits)?;
    let mut hash = Sha256::new();
    for entry in base.factors().iter().chain(base.addends()) {
        hash.update(entry.to_le_bytes());
    }
    Ok(hex(&hash.finalize()))
}

/// Lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
