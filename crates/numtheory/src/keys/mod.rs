//! RSA moduli from public keys, as people have them in files.
//!
//! ```text
//! der.rs    keys, certificates and requests in DER
//! ```
//!
//! A file may hold PEM blocks (public keys, certificates, certificate requests), one DER structure, lines of OpenSSH (`ssh-rsa AAAA…`), or
//! lines `Modulus=…` as `openssl` prints them. Keys of other kinds are named, not lost.
//!
//! ```
//! use warpmp_numtheory::keys::{self, Entry};
//!
//! let text = b"Modulus=0DFB\nModulus=C5\nssh-ed25519 AAAAC3Nz someone\n";
//! assert!(keys::is_known(text));
//! let entries = keys::read("keys.txt", text);
//! assert_eq!(entries[0], Entry { label: "keys.txt:1".into(), modulus: Ok(0x0dfb_u32.into()) });
//! assert_eq!(entries[2].modulus, Err("a key that is not RSA"));
//! ```

use base64ct::{Base64, Encoding as _};
use num_bigint::BigUint;

mod der;

/// Bytes of a file that tell whether it has keys.
const HEAD_BYTES: usize = 1 << 16;
const BYTE_ORDER_MARK: char = '\u{feff}';
const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DAMAGED: &str = "damaged";
const OTHER: &str = "a key that is not RSA";
const PRIVATE: &str = "a private key; `openssl pkey -pubout` writes its public key";

/// A key in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The file's name, and the line or the number of the key if the file may have several.
    pub label: String,
    /// The modulus, or why there is none.
    pub modulus: Result<BigUint, &'static str>,
}

/// Does the file begin like one with keys?
pub fn is_known(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let text = String::from_utf8_lossy(head);
    has_keys(&text) || der::modulus(bytes) != Err(DAMAGED)
}

/// Has the text a line that begins a key?
fn has_keys(text: &str) -> bool {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.lines().map(str::trim).any(|line| line.starts_with(BEGIN) || is_line(line))
}

/// All keys of a file called `name`.
pub fn read(name: &str, bytes: &[u8]) -> Vec<Entry> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text);
    if !has_keys(text) {
        return vec![Entry { label: name.into(), modulus: der::modulus(bytes) }];
    }
    let mut entries = blocks(name, text);
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(modulus) = from_line(line.trim()) {
            entries.push(Entry { label: format!("{name}:{number}"), modulus });
        }
    }
    entries
}

/// The keys of PEM blocks. Blocks of other things than keys are left out, and private keys beside public ones.
fn blocks(name: &str, text: &str) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut has_private = false;
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        let Some(label) = line.strip_prefix(BEGIN) else { continue };
        let Some(label) = label.strip_suffix("-----") else {
            found.push(Err(DAMAGED));
            continue;
        };
        // Headers have a colon.
        let body: String =
            lines.by_ref().take_while(|line| !line.starts_with(END)).filter(|line| !line.contains(':')).collect();
        let is_key =
            label.ends_with("PUBLIC KEY") || label.ends_with("CERTIFICATE") || label.ends_with("CERTIFICATE REQUEST");
        has_private |= label.ends_with("PRIVATE KEY");
        if is_key {
            found.push(Base64::decode_vec(&body).map_err(|_| DAMAGED).and_then(|bytes| der::modulus(&bytes)));
        }
    }
    if found.is_empty() && has_private {
        found.push(Err(PRIVATE));
    }
    let is_single = found.len() == 1;
    let label = |number: usize| if is_single { name.into() } else { format!("{name}#{number}") };
    (1..).zip(found).map(|(number, modulus)| Entry { label: label(number), modulus }).collect()
}

/// Is it a line with a key?
fn is_line(line: &str) -> bool {
    line.starts_with("Modulus=") || ssh_words(line).is_some()
}

/// The modulus of a line; none if the line has no key.
fn from_line(line: &str) -> Option<Result<BigUint, &'static str>> {
    if let Some(digits) = line.strip_prefix("Modulus=") {
        // `openssl` writes words where a key is not RSA: "Wrong Algorithm type".
        let reason = if digits.starts_with("Wrong") { OTHER } else { DAMAGED };
        return Some(BigUint::parse_bytes(digits.as_bytes(), 16).ok_or(reason));
    }
    let (kind, data) = ssh_words(line)?;
    if kind != "ssh-rsa" {
        return Some(Err(OTHER));
    }
    Some(Base64::decode_vec(data).ok().and_then(|data| ssh_modulus(&data)).ok_or(DAMAGED))
}

/// The type and the data of an OpenSSH key, which options may precede.
fn ssh_words(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_ascii_whitespace();
    let kind = words.find(|word| ["ssh-", "ecdsa-sha2-", "sk-"].iter().any(|start| word.starts_with(start)))?;
    let data = words.next()?;
    data.starts_with("AAAA").then_some((kind, data))
}

/// The modulus of OpenSSH's binary form: the type, the exponent, the modulus, each with its length before it.
fn ssh_modulus(mut data: &[u8]) -> Option<BigUint> {
    let mut field = || -> Option<&[u8]> {
        let (length, rest) = data.split_first_chunk::<4>()?;
        let (field, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        data = rest;
        Some(field)
    };
    let (kind, _exponent, modulus) = (field()?, field()?, field()?);
    (kind == b"ssh-rsa" && !modulus.is_empty()).then(|| BigUint::from_bytes_be(modulus))
}

#[cfg(test)]
mod tests;
