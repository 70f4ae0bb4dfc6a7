//! The modulus of an RSA key in DER: a public key by itself or in a `SubjectPublicKeyInfo`, a certificate, or a request.
//!
//! Source: RFC 8017, appendix A.1.1; RFC 5280, 4.1; RFC 2986, 4.1.

use der::{
    Decode as _, Reader as _, SliceReader, Tag, Tagged as _,
    asn1::{AnyRef, BitStringRef, ObjectIdentifier, UintRef},
};
use num_bigint::BigUint;

use super::{DAMAGED, OTHER};

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const RSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");

/// The modulus of a structure.
///
/// # Errors
/// Why there is none.
pub(super) fn modulus(bytes: &[u8]) -> Result<BigUint, &'static str> {
    let structure = items(bytes).filter(|items| items.len() == 1).and_then(|items| sequence(&items[0]));
    let parts = structure.ok_or(DAMAGED)?;
    match parts.iter().map(der::Tagged::tag).collect::<Vec<_>>()[..] {
        [Tag::Integer, Tag::Integer] => integer(&parts[0]).ok_or(DAMAGED),
        [Tag::Sequence, Tag::BitString] => key_info(&parts).ok_or(DAMAGED)?,
        // A certificate or a request: what is signed, the algorithm, the signature.
        [Tag::Sequence, Tag::Sequence, Tag::BitString] => {
            let signed = sequence(&parts[0]).ok_or(DAMAGED)?;
            let infos = signed.iter().filter_map(|part| key_info(&sequence(part)?));
            infos.into_iter().next().ok_or(DAMAGED)?
        }
        _ => Err(DAMAGED),
    }
}

/// The key in a `SubjectPublicKeyInfo`; none if the parts are none.
fn key_info(parts: &[AnyRef<'_>]) -> Option<Result<BigUint, &'static str>> {
    let [algorithm, key] = parts else { return None };
    let algorithm = sequence(algorithm)?.first()?.decode_as::<ObjectIdentifier>().ok()?;
    let key = key.decode_as::<BitStringRef<'_>>().ok()?;
    if algorithm != RSA && algorithm != RSA_PSS {
        return Some(Err(OTHER));
    }
    let key = items(key.as_bytes()?)?;
    Some(integer(sequence(key.first()?)?.first()?).ok_or(DAMAGED))
}

fn integer(part: &AnyRef<'_>) -> Option<BigUint> {
    Some(BigUint::from_bytes_be(part.decode_as::<UintRef<'_>>().ok()?.as_bytes()))
}

/// The parts of a sequence.
fn sequence<'b>(part: &AnyRef<'b>) -> Option<Vec<AnyRef<'b>>> {
    if part.tag() == Tag::Sequence { items(part.value()) } else { None }
}

/// Parts that follow one another.
fn items(bytes: &[u8]) -> Option<Vec<AnyRef<'_>>> {
    let mut reader = SliceReader::new(bytes).ok()?;
    let mut items = Vec::new();
    while !reader.is_finished() {
        items.push(AnyRef::decode(&mut reader).ok()?);
    }
    Some(items)
}
