use super::*;

/// A file of the example, which `openssl` and `ssh-keygen` read.
fn example(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../../examples/batch-gcd/keys/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The modulus of the certificate, as `openssl rsa -modulus` has it.
fn certified() -> BigUint {
    let digits = b"C1FDBBDB28CA12E46A1A66B46D2CDFDDB15F6706352D6EBD992322527ECAB40E676431A0CFC7301F651C9F66ED7B338801C599A8404F1AEB06A9873DC4F6E287";
    BigUint::parse_bytes(digits, 16).unwrap()
}

fn gcd(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut a, mut b) = (a.clone(), b.clone());
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

fn entry(label: &str, modulus: Result<BigUint, &'static str>) -> Entry {
    Entry { label: label.into(), modulus }
}

#[test]
fn every_form_gives_the_modulus() {
    for name in ["certificate.pem", "certificate.der", "request.pem"] {
        let bytes = example(name);
        assert!(is_known(&bytes), "{name}");
        assert_eq!(read(name, &bytes), [entry(name, Ok(certified()))], "{name}");
    }
    let public = read("p", &example("public.pem"));
    assert_eq!(public.len(), 3);
    assert_eq!(public[1..], [entry("p#2", Err(OTHER)), entry("p#3", Ok(certified()))]);
    let shared = public[0].modulus.clone().unwrap();
    // The first key shares a prime with the certificate.
    assert_eq!(gcd(&shared, &certified()).bits(), 256);
    let lines = read("a", &example("authorized_keys"));
    assert_eq!((lines[0].label.as_str(), &lines[1]), ("a:2", &entry("a:3", Err(OTHER))));
    let modulus = |number: usize| lines[number].modulus.clone().unwrap();
    // The third line has options before the key, which shares a prime with the certificate, and one with the first line.
    assert_eq!(lines[2].label, "a:4");
    assert_eq!(gcd(&modulus(2), &certified()), gcd(&shared, &certified()));
    assert_eq!(gcd(&modulus(2), &modulus(0)).bits(), 256);
    assert_eq!(read("m", &example("modulus.txt"))[0].label, "m:1");
}

#[test]
fn numbers_are_no_keys() {
    for text in [&b"15\n77\n"[..], b"# a comment\n0x15\n", b"", b"0", b"\x93NUMPY\x01\0", b"host,modulus\nx,15\n"] {
        assert!(!is_known(text), "{text:?}");
    }
}

#[test]
fn damage_is_told_and_never_a_panic() {
    let whole = example("certificate.der");
    for length in 0..whole.len() {
        assert_eq!(read("c", &whole[..length])[0].modulus, Err(DAMAGED), "{length}");
    }
    for place in 0..whole.len() {
        let mut changed = whole.clone();
        changed[place] ^= 0xff;
        let _ = read("c", &changed);
    }
    let pem = String::from_utf8(example("certificate.pem")).unwrap();
    assert_eq!(read("c", pem.replace("MIIB", "M!IB").as_bytes())[0].modulus, Err(DAMAGED));
    assert_eq!(read("c", b"ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB x\n")[0].modulus, Err(DAMAGED));
}

#[test]
fn a_private_key_alone_is_named() {
    let private = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n";
    assert!(is_known(private.as_bytes()));
    assert_eq!(read("k", private.as_bytes()), [entry("k", Err(PRIVATE))]);
    // Beside its certificate it is no news.
    let both = [private.as_bytes(), &example("certificate.pem")].concat();
    assert_eq!(read("k", &both), [entry("k", Ok(certified()))]);
}

#[test]
fn damaged_keys_are_named() {
    let reasons = |text: &str| read("k", text.as_bytes()).into_iter().map(|it| it.modulus).collect::<Vec<_>>();
    assert_eq!(reasons("Modulus=0F\nModulus=XYZ\nModulus=\n"), [Ok(15_u32.into()), Err(DAMAGED), Err(DAMAGED)]);
    assert_eq!(reasons("Modulus=Wrong Algorithm type\n"), [Err(OTHER)]);
    assert_eq!(reasons("Modulus=0F\n-----BEGIN PUBLIC "), [Err(DAMAGED), Ok(15_u32.into())]);
    assert_eq!(reasons("\u{feff}Modulus=0F\n"), [Ok(15_u32.into())]);
}
