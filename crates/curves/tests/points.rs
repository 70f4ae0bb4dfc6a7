//! Batches of points on every engine, against plain affine arithmetic.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use num_bigint::BigUint;
use warpmp_curves::affine::{Group, Point};
use warpmp_curves::points::{Curve, NotOnCurve};
use warpmp_curves::search::Engine;
use warpmp_curves::{Error, challenges};

fn engines() -> [Engine; 2] {
    [Engine::Cpu, Engine::Device(warpmp_device::open_sim())]
}

/// A curve of 32 bits with a point of order two, and points of it.
fn small() -> (Group, Vec<Point>) {
    let p = BigUint::from((1_u64 << 32) - 5);
    let (a, root) = (BigUint::from(3_u32), BigUint::from(1_000_003_u32));
    let b = (&p * &p * &p - &root * &root * &root - &a * &root) % &p;
    let group = Group { p: p.clone(), a, b };
    // p = 3 modulo 4: the power (p + 1)/4 is a square root, if there is one.
    let exponent = (&p + 1_u32) >> 2;
    let points = (1_u32..100).map(|x| {
        let x = BigUint::from(x * 77_777);
        let y = (&x * &x * &x + &group.a * &x + &group.b).modpow(&exponent, &p);
        Some((x, y))
    });
    let mut points: Vec<Point> = points.filter(|point| group.contains(point)).collect();
    points.push(Some((root, BigUint::ZERO)));
    (group, points)
}

/// Points with all exceptions among them; the last one is faulty.
fn all(group: &Group, mut points: Vec<Point>) -> Vec<Point> {
    points.truncate(14);
    let (x, y) = points[0].clone().unwrap();
    let doubled = group.add(&points[0], &points[0]);
    points.extend([group.negate(&points[0]), group.negate(&points[1]), doubled, None]);
    points.push(Some((x, y + 1_u32)));
    points
}

/// The sum, or a fault where a term is none of the curve.
fn sum(group: &Group, s: &Point, t: &Point) -> Result<Point, NotOnCurve> {
    if group.contains(s) && group.contains(t) { Ok(group.add(s, t)) } else { Err(NotOnCurve) }
}

/// Sums of all pairs, doubles and negatives.
fn sums_are_right(group: &Group, points: &[Point], engine: &Engine) {
    let curve = Curve::new(group.clone(), engine).unwrap();
    let pairs: Vec<(&Point, &Point)> = points.iter().flat_map(|s| points.iter().map(move |t| (s, t))).collect();
    let [s, t]: [Vec<Point>; 2] =
        [pairs.iter().map(|(s, _)| (*s).clone()).collect(), pairs.iter().map(|(_, t)| (*t).clone()).collect()];
    let (left, right) = (curve.points(&s), curve.points(&t));
    let found = curve.add(&left, &right).unwrap().to_affine();
    for ((s, t), found) in s.iter().zip(&t).zip(found) {
        assert_eq!(found, sum(group, s, t), "{s:?} + {t:?}, {engine:?}");
    }
    let batch = curve.points(points);
    let doubles = curve.double(&batch).unwrap().to_affine();
    let negatives = curve.negate(&batch).unwrap().to_affine();
    for ((point, double), negative) in points.iter().zip(doubles).zip(negatives) {
        assert_eq!(double, sum(group, point, point));
        assert_eq!(negative, sum(group, &group.negate(point), &None));
    }
    for lanes in [0, 1, 2] {
        let some = curve.points(&points[..lanes]);
        assert_eq!((some.len(), some.is_empty()), (lanes, lanes == 0));
        assert_eq!(curve.add(&some, &some).unwrap().to_affine(), curve.double(&some).unwrap().to_affine());
    }
}

#[test]
fn sums_in_every_case() {
    let (group, points) = small();
    let last = points.last().cloned().unwrap();
    let mut points = all(&group, points);
    points.insert(3, last);
    for engine in &engines() {
        sums_are_right(&group, &points, engine);
    }
    for name in ["secp112r1", "eccp-131"] {
        let problem = challenges::named(name).unwrap();
        let points = (1_u32..5).map(|k| problem.group.multiply(&k.into(), &problem.target)).collect();
        let points = all(&problem.group, points);
        for engine in &engines() {
            sums_are_right(&problem.group, &points, engine);
        }
    }
}

/// Multiples, and their sum.
fn multiples_are_right(group: &Group, points: &[Point], scalars: &[BigUint], engine: &Engine) {
    let curve = Curve::new(group.clone(), engine).unwrap();
    let batch = curve.points(points);
    let found = curve.multiply(&batch, scalars).unwrap().to_affine();
    let expected: Vec<Point> = points.iter().zip(scalars).map(|(point, k)| group.multiply(k, point)).collect();
    assert_eq!(found.into_iter().collect::<Result<Vec<_>, _>>().unwrap(), expected);
    let found = curve.multiply_all(&batch, &scalars[3]).unwrap().to_affine();
    for (point, found) in points.iter().zip(found) {
        assert_eq!(found, Ok(group.multiply(&scalars[3], point)));
    }
    let total = expected.iter().fold(None, |sum, point| group.add(&sum, point));
    assert_eq!(curve.sum_of_multiples(&batch, scalars).unwrap(), total);
}

/// Scalars with zero, one and equal ones among them.
fn scalars(count: usize, bits: u32) -> Vec<BigUint> {
    let most = (BigUint::from(1_u32) << bits) - 1_u32;
    let random = |i: u32| BigUint::from(0x9E37_79B9_7F4A_7C15_u64).pow(5 + i % 3) * (i + 1) % &most;
    let first = [BigUint::ZERO, 1_u32.into(), 2_u32.into(), random(1), random(1), most.clone()];
    first.into_iter().chain((0..).map(random)).take(count).collect()
}

#[test]
fn multiples_and_their_sums() {
    let (group, points) = small();
    let mut points = all(&group, points);
    points.pop();
    for engine in &engines() {
        multiples_are_right(&group, &points, &scalars(points.len(), 37), engine);
    }
    let problem = challenges::named("eccp-109").unwrap();
    let points: Vec<Point> = (1_u32..70).map(|k| problem.group.multiply(&k.into(), &problem.target)).collect();
    multiples_are_right(&problem.group, &points, &scalars(points.len(), 130), &Engine::Cpu);
    // The order of the points: every multiple is the point at infinity.
    let curve = Curve::new(problem.group.clone(), &Engine::Cpu).unwrap();
    let batch = curve.points(&points);
    assert!(curve.multiply_all(&batch, &problem.n).unwrap().to_affine().iter().all(|point| *point == Ok(None)));
    let orders = vec![problem.n.clone(); points.len()];
    assert_eq!(curve.sum_of_multiples(&batch, &orders).unwrap(), None);
}

#[test]
fn faults_stay_in_their_lanes() {
    let (group, points) = small();
    let points = all(&group, points);
    let faulty = points.len() - 1;
    for engine in &engines() {
        let curve = Curve::new(group.clone(), engine).unwrap();
        let batch = curve.points(&points);
        assert_eq!(batch.faulty_lanes().collect::<Vec<_>>(), [faulty]);
        for scalar in [0_u32, 5, 16] {
            let products = curve.multiply_all(&batch, &scalar.into()).unwrap();
            assert_eq!(products.faulty_lanes().collect::<Vec<_>>(), [faulty], "{scalar}");
        }
        let ones = vec![BigUint::from(1_u32); points.len()];
        assert!(matches!(curve.sum_of_multiples(&batch, &ones), Err(Error::Lane { lane }) if lane == faulty));
        assert!(matches!(curve.multiply(&batch, &ones[1..]), Err(Error::Lanes { .. })));
        let empty = curve.points(&[]);
        assert_eq!(curve.sum_of_multiples(&empty, &[]).unwrap(), None);
        assert!(curve.multiply(&empty, &[]).unwrap().is_empty());
        assert!(matches!(curve.add(&batch, &empty), Err(Error::Lanes { .. })));
    }
    let other = Curve::new(challenges::named("eccp-79").unwrap().group, &Engine::Cpu).unwrap();
    let curve = Curve::new(group, &Engine::Cpu).unwrap();
    assert!(matches!(other.double(&curve.points(&points)), Err(Error::OtherCurve)));
    let composite = Group { p: (1_u64 << 40).into(), a: 1_u32.into(), b: 1_u32.into() };
    assert!(matches!(Curve::new(composite, &Engine::Cpu), Err(Error::Refused(_))));
}
