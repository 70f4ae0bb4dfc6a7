use std::time::Instant;
use warpmp_simd::montgomery::{self, Moduli};
use warpmp_simd::divsteps::Pairs;
use warpmp_simd::{Simd, Ifma, Fma, Avx2, product};
fn best(mut f: impl FnMut()) -> f64 { let mut b = f64::MAX; for _ in 0..60 { let t = Instant::now(); for _ in 0..50 { f(); } b = b.min(t.elapsed().as_secs_f64()/50.0); } b*1e9 }
fn go<S: Simd>(s: S, name: &str) {
  for bits in [256, 512, 1024, 2048, 4096] {
    let n = montgomery::count::<S>(bits/32);
    let mut x = 12345u64;
    let mut next = || { let w: [u64;8] = std::array::from_fn(|_| { x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); (x >> 12) & S::DIGIT }); s.from_words(w) };
    let mut m: Vec<_> = (0..n).map(|_| next()).collect(); m[0] = s.or(m[0], s.splat(1)); m[n-1] = s.splat(1);
    let mut a: Vec<_> = (0..n).map(|_| next()).collect(); a[n-1] = s.zero();
    let b = a.clone(); let mut c = a.clone();
    let mut mo = Moduli::new(s, n); mo.set(&m);
    let mut scratch = vec![s.zero(); Moduli::<S>::scratch(n) + 2*n];
    let t1 = best(|| mo.multiply(&a, &b, &mut c, &mut scratch));
    let t2 = best(|| mo.square(&mut c, &mut scratch));
    let mut w = vec![s.zero(); 2*n];
    let t3 = best(|| product::mul(s, &a, &b, &mut w, &mut scratch));
    let t4 = best(|| warpmp_simd::square::sqr(s, &a, &mut w, &mut scratch));
    let t5 = { let mut p = Pairs::new(s, n); let mut bb = f64::MAX; for _ in 0..20 { p.f.copy_from_slice(&m); p.g.copy_from_slice(&b); let t = Instant::now(); p.divisors(); bb = bb.min(t.elapsed().as_secs_f64()*1e9);} bb };
    let t6 = { let mut p = Pairs::new(s, n); let mut bb = f64::MAX; for _ in 0..20 { p.f.copy_from_slice(&m); p.g.copy_from_slice(&b);  let t = Instant::now(); p.inverses(&mo); bb = bb.min(t.elapsed().as_secs_f64()*1e9);} bb };
    let l = S::LANES as f64;
    println!("{name:5} {bits:5} n {n:3}: per lane: montmul {:8.1} montsqr {:8.1} mul {:8.1} sqr {:8.1} gcd {:8.1} inv {:8.1}", t1/l, t2/l, t3/l, t4/l, t5/l, t6/l);
  }
}
fn main() {
  let k = std::env::args().nth(1).unwrap_or("fa".into());
  if k.contains('f') { go(Fma::detect().unwrap(), "fma"); }
  if k.contains('a') { go(Avx2::detect().unwrap(), "avx2"); }
  if k.contains('i') { go(Ifma::detect().unwrap(), "ifma"); }
}
