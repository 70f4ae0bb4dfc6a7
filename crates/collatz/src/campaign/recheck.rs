//! Certificates recomputed by the independent path.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::{
    certificate::Certificate,
    engine::Control,
    error::{Error, Result},
};

/// The result of one recomputation.
#[derive(Debug)]
pub struct Verdict<'a> {
    /// The certificate.
    pub certificate: &'a Certificate,
    /// Was all of its window recomputed? If not, only its samples were.
    pub whole: bool,
    /// The figure that is wrong, if one is.
    pub wrong: Option<Error>,
}

/// Recomputes certificates by the independent path. Of a share `sample` of them, chosen at random from `seed`, it recomputes the whole
/// window, of all others the samples that they name. `each` sees every certificate.
///
/// # Errors
/// [`Error::Stopped`].
pub fn recheck(
    certificates: &[Certificate],
    sample: f64,
    seed: u64,
    control: &Control,
    mut each: impl FnMut(Verdict<'_>),
) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for certificate in certificates {
        let whole = sample >= 1.0 || random.random_range(0..1_000_000) < (sample * 1e6) as u32;
        let wrong = match certificate.recheck(whole, control) {
            Ok(()) => None,
            Err(error @ (Error::Disagreement { .. } | Error::OtherHighest { .. } | Error::NoDescent { .. })) => {
                Some(error)
            }
            Err(error) => return Err(error),
        };
        each(Verdict { certificate, whole, wrong });
    }
    Ok(())
}
