//! Both stages on the simulator, and on a GPU if there is one: against the known answers, and against the cores.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use num_bigint::BigUint;
use warpmp_device::{
    DeviceInfo, Kind as DeviceKind, Result as DeviceResult, SimConfig, open_cuda, open_sim, open_sim_with,
};
use warpmp_kernel::ir::{Int, Op};
use warpmp_launch::At;
use warpmp_testkit::changed::{Call, Changed, Changes};
use warpmp_testkit::gpu;

use super::chunk::Chunk;
use super::kernels::mark;
use super::lanes::{Places, Run};
use super::*;
use crate::factor::exponent::Exponent;
use crate::factor::lane::{Lane, Line, Parameter, TWO};
use crate::factor::meter::Meter;
use crate::factor::pairing::BABIES;
use crate::factor::tests::{Known, expected, known};
use crate::factor::{Bounds, Engine, Family, Job, Method, Sigma, Stage, Verdict, finds_on, run, run_on};

fn sim() -> Engine {
    Engine::on(open_sim())
}

/// The rows of elliptic curves.
fn curves(bits: u64, most_b1: u64) -> Vec<Known> {
    let is_curve = |row: &Known| matches!(row.job.method, Method::Ecm(_)) && row.bounds.b1() <= most_b1;
    known(bits).into_iter().filter(is_curve).collect()
}

/// Every row in the stage that it names, with the residue that GMP-ECM saves.
fn rows_are_as_known(engine: &Engine, rows: &[Known]) {
    for row in rows {
        let verdict = |bounds| run_on(engine, std::slice::from_ref(&row.job), bounds, &()).unwrap();
        assert_eq!(verdict(row.bounds), [expected(row)], "{:?}", row.job);
        if let Some(residue) = &row.residue {
            let only_first = Bounds::new(row.bounds.b1(), 0).unwrap();
            assert_eq!(verdict(only_first), [Verdict::Nothing(residue.clone())], "{:?}", row.job);
        }
    }
}

/// The rows of P−1 and P+1.
fn sequences(bits: u64, most_b1: u64) -> Vec<Known> {
    let is_sequence = |row: &Known| matches!(row.job.method, Method::Pm1 | Method::Pp1) && row.bounds.b1() <= most_b1;
    known(bits).into_iter().filter(is_sequence).collect()
}

#[test]
fn known_answers_on_the_simulator() {
    rows_are_as_known(&sim(), &curves(80, 300));
    let rows = sequences(256, 2000);
    let count = |method: &Method| rows.iter().filter(|row| row.job.method == *method).count();
    assert!(count(&Method::Pm1) > 0 && count(&Method::Pp1) > 0);
    rows_are_as_known(&sim(), &rows);
}

/// P−1 and P+1 beside curves, in any number, from new starts and from residues: as the cores have them.
#[test]
fn powers_and_sequences() {
    let primes = [1009_u32 * 10_007, 2003 * 3001, 65_537, 99_991 * 1009].map(BigUint::from);
    let filled = [64_u32, 96, 128, 131].map(|bits| (BigUint::from(1_u32) << bits) - 1_u32);
    let known: Vec<BigUint> = sequences(200, u64::MAX).into_iter().map(|row| row.job.n).collect();
    let numbers: Vec<BigUint> = primes.into_iter().chain(filled).chain(known).collect();
    let of_number = |n: &BigUint| {
        let start = |it: u32| BigUint::from(it);
        [Job::pm1(n.clone(), start(3)), Job::pp1(n.clone(), start(5)), Job::pm1(n.clone(), n - 2_u32)]
            .into_iter()
            .chain([Job::ecm(n.clone(), "3:11".parse().unwrap()), Job::pp1(n.clone(), start(7))])
            .collect::<Vec<Job>>()
    };
    let jobs: Vec<Job> = numbers.iter().flat_map(of_number).collect();
    let mut stages = [0; 3];
    for lanes in [1, 31, 33] {
        let jobs: Vec<Job> = jobs.iter().cycle().take(lanes).cloned().collect();
        verdicts_agree(&jobs, [60, 900]);
    }
    for (job, verdict) in jobs.iter().zip(verdicts_agree(&jobs, [30, 4000])) {
        match verdict {
            Verdict::Divisor { stage: Stage::First, .. } => stages[0] += 1,
            Verdict::Divisor { stage: Stage::Second, .. } => stages[1] += 1,
            Verdict::Whole(_) => stages[2] += 1,
            Verdict::Nothing(residue) if !matches!(job.method, Method::Ecm(_)) => {
                let goes_on = Job { start: Some(residue), done: 30, ..job.clone() };
                verdicts_agree(&[goes_on], [100, 500]);
            }
            _ => {}
        }
    }
    assert!(stages.iter().all(|count| *count > 0), "{stages:?}");
    // Groups of lanes, with bits to spare and without.
    for bits in [513_u64, 640, 1024] {
        let n = (BigUint::from(1_u32) << bits) - 105_u32;
        verdicts_agree(&[Job::pm1(n.clone(), 3_u32.into()), Job::pp1(n, 5_u32.into())], [11, 100]);
    }
}

/// A GPU computes P−1 and P+1 where there are many of them together.
#[test]
fn few_sequences_stay_on_the_cores() {
    let on_gpu = |attempts: usize| {
        let device = Failing::gpu(Fault::Launch(usize::MAX));
        let jobs = vec![Job::pm1(modulus(64), 3_u32.into()); attempts];
        run_on(&Engine::on(device.clone()), &jobs, Bounds::new(5, 0).unwrap(), &()).unwrap();
        device.changes.launches.load(Ordering::SeqCst) > 0
    };
    assert!(!on_gpu(Engine::LEAST_SEQUENCES - 1) && on_gpu(Engine::LEAST_SEQUENCES));
}

/// All rows, and all curves of a launch that has many lanes of each width.
#[test]
fn known_answers_on_a_gpu() {
    let Some(device) = gpu::or_skip(open_cuda(0)) else { return };
    let engine = Engine::on(device);
    rows_are_as_known(&engine, &curves(u64::MAX, u64::MAX));
    // A GPU takes many together.
    for row in sequences(u64::MAX, 100_000) {
        let many = vec![row.job.clone(); Engine::LEAST_SEQUENCES];
        let verdicts = run_on(&engine, &many, row.bounds, &()).unwrap();
        assert!(verdicts.iter().all(|verdict| *verdict == expected(&row)), "{:?}: {:?}", row.job, verdicts[0]);
    }
    let bounds = Bounds::new(2000, 100_000).unwrap();
    let jobs: Vec<Job> = curves(u64::MAX, u64::MAX).into_iter().map(|row| row.job).collect();
    let many: Vec<Job> = jobs.iter().flat_map(|job| sigmas(job, 33)).collect();
    assert_eq!(run_on(&engine, &many, bounds, &()).unwrap(), run(&many, bounds, &()).unwrap());
}

/// Jobs on the same integer with other curves of the family.
fn sigmas(job: &Job, count: u64) -> Vec<Job> {
    let Method::Ecm(sigma) = &job.method else { return Vec::new() };
    let value = sigma.value() >> 1;
    let sigma = Sigma::new(sigma.family(), value).unwrap();
    (0..count).map(|number| Job::ecm(job.n.clone(), sigma.after(number).unwrap())).collect()
}

/// The verdicts of some jobs are those of the cores.
fn verdicts_agree(jobs: &[Job], [b1, b2]: [u64; 2]) -> Vec<Verdict> {
    let bounds = Bounds::new(b1, b2).unwrap();
    let verdicts = run_on(&sim(), jobs, bounds, &()).unwrap();
    for (job, (mine, other)) in jobs.iter().zip(verdicts.iter().zip(run(jobs, bounds, &()).unwrap())) {
        assert_eq!(*mine, other, "{job:?}");
    }
    // Finds alone are the same.
    let finds = verdicts.iter().cloned().enumerate().filter(|(_, verdict)| !matches!(verdict, Verdict::Nothing(_)));
    let finds: Vec<(usize, Verdict)> = finds.collect();
    assert_eq!(finds_on(&sim(), jobs, bounds, &()).unwrap(), finds);
    verdicts
}

/// Lanes of different integers, widths and families do not disturb each other, in any number. Some find factors in a stage, some all
/// primes at once, some nothing.
#[test]
fn lanes_in_any_number() {
    let rows: Vec<Job> = curves(131, 2000).into_iter().map(|row| row.job).collect();
    let small =
        [1009_u32 * 10_007, 2003 * 3001, 65_537, 99_991 * 1009].map(|n| Job::ecm(n.into(), "3:11".parse().unwrap()));
    let filled =
        [64_u32, 96, 128].map(|bits| Job::ecm((BigUint::from(1_u32) << bits) - 1_u32, "3:77".parse().unwrap()));
    let jobs: Vec<Job> = small.into_iter().chain(filled).chain(rows).collect();
    let mut stages = [0; 4];
    for lanes in [1, 31, 33] {
        let jobs: Vec<Job> = jobs.iter().flat_map(|job| sigmas(job, 3)).cycle().take(lanes).collect();
        for verdict in verdicts_agree(&jobs, [60, 900]) {
            match verdict {
                Verdict::Divisor { stage: Stage::First, .. } => stages[0] += 1,
                Verdict::Divisor { stage: Stage::Second, .. } => stages[1] += 1,
                Verdict::Whole(_) => stages[2] += 1,
                _ => stages[3] += 1,
            }
        }
    }
    assert!(stages.iter().all(|count| *count > 0), "{stages:?}");
    let one: Vec<Job> = sigmas(&jobs[0], 33);
    verdicts_agree(&one, [30, 200]);
}

/// Where most lanes of a chunk find something, their numbers come from the device all at once: the first stage finds 1009, the second one a prime
/// of 20 bits, or both together.
#[test]
fn many_finds_in_a_chunk() {
    let n = BigUint::from(1009_u32) * 1_000_003_u32 * 2_147_483_647_u32;
    for family in [Family::Word, Family::Suyama] {
        let first = Sigma::new(family, 1_000_000_u32.into()).unwrap();
        let jobs: Vec<Job> = (0..200).map(|number| Job::ecm(n.clone(), first.after(number).unwrap())).collect();
        let verdicts = verdicts_agree(&jobs, [40, 1500]);
        let count = |at: Stage| {
            verdicts.iter().filter(|it| matches!(it, Verdict::Divisor { stage, .. } if *stage == at)).count()
        };
        assert!(count(Stage::First) > 16 && count(Stage::Second) > 16, "{verdicts:?}");
    }
}

/// Groups of lanes: more limbs than a thread has, with bits to spare and without.
#[test]
fn long_integers() {
    for bits in [513_u64, 640, 1024] {
        let n = (BigUint::from(1_u32) << bits) - 105_u32;
        let jobs: Vec<Job> = ["3:5", "0:9"].map(|sigma| Job::ecm(n.clone(), sigma.parse().unwrap())).to_vec();
        verdicts_agree(&jobs, [11, 100]);
    }
}

/// The verdicts of all forms of a width are those of the cores, on all lines.
fn forms_agree(device: &Arc<dyn Device>, bits: u64) -> BTreeSet<Form> {
    let n = (BigUint::from(1_u32) << bits) - 105_u32;
    let curves = ["3:5", "0:9", "1:7"].map(|sigma| Job::ecm(n.clone(), sigma.parse().unwrap()));
    let sequences = [Job::pm1(n.clone(), 3_u32.into()), Job::pp1(n, 5_u32.into())];
    let count = if device.info().kind == DeviceKind::Sim { 1 } else { Engine::LEAST_SEQUENCES };
    let jobs: Vec<Job> = sequences.into_iter().cycle().take(2 * count).chain(curves).collect();
    let bounds = Bounds::new(11, 150).unwrap();
    let expected = run(&jobs, bounds, &()).unwrap();
    let forms: Vec<Form> = Form::all(bits.div_ceil(32) as u32).collect();
    for (number, form) in forms.iter().enumerate() {
        let engine = Engine::in_form(device.clone(), number);
        assert_eq!(run_on(&engine, &jobs, bounds, &()).unwrap(), expected, "{form:?}");
    }
    forms.into_iter().collect()
}

/// With bits to spare and without.
#[test]
fn forms() {
    let device = open_sim();
    let forms: BTreeSet<Form> =
        [257, 512, 513, 640, 1024].into_iter().flat_map(|bits| forms_agree(&device, bits)).collect();
    assert!(forms.len() == 6, "{forms:?}");
}

#[test]
fn forms_on_a_gpu() {
    let Some(device) = gpu::or_skip(open_cuda(0)) else { return };
    for bits in [512, 1000, 1024] {
        forms_agree(&device, bits);
    }
}

/// Few lanes take more threads each, until all schedulers are busy.
#[test]
fn few_lanes_take_more_threads() {
    let info = DeviceInfo { kind: DeviceKind::Cuda, multiprocessors: 132, ..open_sim().info().clone() };
    let threads = |limbs, lanes| form(&info, limbs, lanes).threads;
    let borders = [30_000, 16_896, 16_895, 6336, 6335, 4480, 2112, 2111, 1];
    assert_eq!(borders.map(|lanes| threads(32, lanes)), [2, 2, 4, 4, 8, 8, 8, 16, 16]);
    assert_eq!([16_896, 16_895, 8447, 4223, 1].map(|lanes| threads(16, lanes)), [1, 2, 4, 8, 8]);
    assert_eq!([1_000, 1].map(|lanes| threads(17, lanes)), [8, 8]);
    // Widths without forms for few lanes.
    for limbs in [1, 7, 8, 33, 512] {
        assert_eq!([10_000, 1].map(|lanes| form(&info, limbs, lanes)), [Form::full(limbs); 2]);
    }
    assert_eq!(form(open_sim().info(), 32, 1), Form::full(32));
}

/// Where the lanes of a chunk take turns, each gets the same numbers as in launches of all lanes.
#[test]
fn lanes_take_turns() {
    let gpu = Gpu::new(open_sim());
    let n = BigUint::from(100_003_u32) * ((BigUint::from(1_u32) << 240) - 467_u32);
    let lane = |place: usize| Lane { n: &n, parameter: Parameter::Word(7 + place as u32), x: Cow::Owned(TWO.into()) };
    let exponent = Exponent::new(1, 60);
    // Several slices of the ladder, and several blocks of giant steps.
    let pairing = Pairing::with(60, 2000, 6, 24);
    assert!(exponent.bits() > 64 && pairing.counts().giants > 300.0);
    let numbers = |form: Form, takes_turns: bool| {
        let places = places(&lane(0), Line::Curve, 90);
        let places = Places { class: Class { form, ..places.class }, ..places };
        let slots = Slots::of(Line::Curve, &pairing).all();
        let mut chunk = Chunk::new(&gpu, &places, &lane, slots).unwrap();
        assert_eq!(chunk.window < chunk.lanes, takes_turns, "{form:?}");
        // The window does not divide the lanes: launches end at all of them.
        assert!(!takes_turns || !chunk.lanes.is_multiple_of(chunk.window), "{form:?}");
        let mut left = Vec::new();
        chunk
            .ladder((&exponent.words(), exponent.bits() as u32), |bits| {
                left.push(bits);
                Ok(())
            })
            .unwrap();
        assert!(left.len() > 1 && left.is_sorted_by(|one, other| one > other) && left.ends_with(&[0]), "{left:?}");
        chunk.close().unwrap();
        chunk.second_stage(&pairing, &Meter::new(&(), 0.0, 1.0), |_| Ok(())).unwrap();
        let numbers = [&chunk.residue, &chunk.found[0], &chunk.found[1]].map(|it| chunk.numbers(it).unwrap().to_vec());
        (numbers, chunk.marks().unwrap().to_vec())
    };
    let mut forms = Form::all(n.bits().div_ceil(32) as u32);
    let expected = numbers(forms.next().unwrap(), false);
    for mark in [mark::NOTHING, mark::FIRST, mark::SECOND] {
        assert!(expected.1.iter().filter(|it| **it == mark).count() > 2, "{:?}", expected.1);
    }
    let few = forms.last().unwrap();
    assert_eq!(few.threads, 4);
    assert_eq!(numbers(few, true), expected);
}

/// The plan tells of turns.
#[test]
fn the_plan_of_few_curves() {
    let launch = |number, curves| {
        let engine = Engine::in_form(open_sim(), number);
        engine.explain(512, Bounds::new(1000, 0).unwrap(), Some(curves)).launch
    };
    assert_eq!(launch(0, 90), None);
    assert_eq!([32, 33].map(|curves| launch(3, curves)), [None, Some(32)]);
    let gpu = |info| DeviceInfo { kind: DeviceKind::Cuda, multiprocessors: 132, ..info };
    let engine = Engine::on(Arc::new(Failing::device(Fault::FreeBytes).described(gpu)));
    let launch = |curves| engine.explain(1024, Bounds::new(1000, 0).unwrap(), Some(curves)).launch;
    assert_eq!([4224, 4480, 12_000, 100_000].map(launch), [None, Some(4224), Some(8448), None]);
}

/// More baby steps than share an inversion.
#[test]
fn baby_steps_in_blocks() {
    let n = BigUint::from(1009_u32) * 1_000_003_u32 * 2_147_483_647_u32;
    let first = Sigma::new(Family::Word, 1_000_000_u32.into()).unwrap();
    let jobs: Vec<Job> = (0..64).map(|number| Job::ecm(n.clone(), first.after(number).unwrap())).collect();
    assert!(Pairing::new(210, 300_000).counts().babies > BABIES as f64);
    let verdicts = verdicts_agree(&jobs, [210, 300_000]);
    assert!(verdicts.iter().any(|it| matches!(it, Verdict::Divisor { stage: Stage::Second, .. })));
    let powers: Vec<Job> = [3_u32, 5]
        .into_iter()
        .flat_map(|start| [Job::pm1(n.clone(), start.into()), Job::pp1(n.clone(), start.into())])
        .collect();
    verdicts_agree(&powers, [210, 300_000]);
}

/// Few lanes of one kind have a chunk to themselves, if the device has room for them.
#[test]
fn lanes_that_are_alone() {
    let config = SimConfig { memory_bytes: 200_000, ..SimConfig::default() };
    let gpu = Gpu::new(open_sim_with(&config));
    let class = Class::of(256, true, true);
    let most = |alone| gpu.most(class, 20, 1.0, alone).unwrap();
    assert_eq!([None, Some(1), Some(40), Some(64)].map(most), [32, 32, 64, 64]);
    // Many lanes come in chunks, for several workers.
    assert_eq!(most(Some(1_000_000)), 32);
}

/// The families 0 and 1, at the widths of the known answers.
#[test]
fn families() {
    let jobs: Vec<Job> = curves(320, u64::MAX)
        .into_iter()
        .map(|row| row.job)
        .filter(|job| matches!(&job.method, Method::Ecm(sigma) if sigma.word().is_none()))
        .collect();
    assert!(jobs.len() > 3);
    verdicts_agree(&jobs, [20, 300]);
}

/// A factor is found by the last prime of the interval, and not by a much shorter one.
#[test]
fn the_last_pair() {
    let row = curves(64, 300).into_iter().find(|row| row.residue.is_some()).unwrap();
    // The order of the curve's group is 2^3·7·23·73·9127.
    let divisor = verdicts_agree(std::slice::from_ref(&row.job), [200, 9127]);
    assert_eq!(divisor, [expected(&row)]);
    let nothing = verdicts_agree(std::slice::from_ref(&row.job), [200, 8500]);
    assert_eq!(nothing, [Verdict::Nothing(row.residue.unwrap())]);
}

fn modulus(bits: u64) -> BigUint {
    (BigUint::from(1_u32) << bits) - 189_u32
}

/// The places of equal lanes.
fn places(lane: &Lane<'_>, line: Line, count: usize) -> Places<'static> {
    let kind = Kind::of(lane, line);
    Places { kind, class: kind.class, runs: vec![Run::of(0..count)] }
}

/// A chunk of lanes after a ladder.
fn chunk<'g>(gpu: &'g Gpu, n: &BigUint, count: usize, exponent: &Exponent) -> Chunk<'g> {
    let lane = Lane { n, parameter: Parameter::Word(7), x: Cow::Owned(TWO.into()) };
    let chunk = Chunk::new(gpu, &places(&lane, Line::Curve, count), &|_| lane.borrowed(), 0).unwrap();
    gpu.device.reset_counters();
    chunk.ladder((&exponent.words(), exponent.bits() as u32), |_| Ok(())).unwrap();
    chunk
}

/// The ends of the lanes of a chunk after a ladder.
fn marks(chunk: &Chunk<'_>) -> Vec<u32> {
    chunk.close().unwrap();
    chunk.marks().unwrap().to_vec()
}

/// A lane's word names the first reason, whatever follows it: in a thread, and in groups of lanes, whose limbs differ from 1 in any lane.
#[test]
fn ends_are_words() {
    let gpu = Gpu::new(open_sim());
    for bits in [60, 64, 96, 640] {
        let n = modulus(bits);
        let lane = Lane { n: &n, parameter: Parameter::Suyama(Cow::Owned(Sigma::suyama(5))), x: Cow::default() };
        let mut chunk = Chunk::new(&gpu, &places(&lane, Line::Curve, 64), &|_| lane.borrowed(), 0).unwrap();
        let limbs = chunk.class.limbs as usize;
        // Divisors: 1, one that differs from it in the last limb alone, N.
        let mut last = vec![0; limbs];
        [last[0], last[limbs - 1]] = [1, 1];
        let divisors = [BigUint::from(1_u32), BigUint::from_slice(&last), n.clone()];
        let mut expected = Vec::new();
        for number in 0..64 {
            let [first, second, curve, check] = [number % 3, number / 3 % 3, number / 9 % 2, number / 18 % 2];
            for (buffer, divisor) in chunk.found.iter().zip([first, second]) {
                let mut words = divisors[divisor].to_u32_digits();
                words.resize(limbs, 0);
                chunk.device.upload(&chunk.stream, &words, buffer, limbs * number).unwrap();
            }
            for (buffer, status) in [&chunk.curve, &chunk.status].into_iter().zip([curve, check]) {
                chunk.device.upload(&chunk.stream, &[status as u32], buffer, number).unwrap();
            }
            expected.push(match (curve, check, first, second) {
                (1, ..) => mark::FAULT,
                (_, 1, ..) => mark::SLIP,
                (.., 1 | 2, _) => mark::FIRST,
                (.., 1 | 2) => mark::SECOND,
                _ => mark::NOTHING,
            });
        }
        chunk.stage = Stage::Second;
        assert_eq!(*chunk.marks().unwrap(), expected[..], "{bits} bits");
    }
}

/// A slip in a number of the state of one lane of 33 is found in this lane, and in no other. The numbers have two limbs.
fn check_slip(chunk: &Chunk<'_>, slipped: usize, number: usize) {
    let word = slipped * (state::COUNT * 2) as usize + 2 * number;
    let mut kept = [0];
    chunk.device.download(&chunk.stream, &chunk.state, word, &mut kept).unwrap();
    chunk.device.upload(&chunk.stream, &[kept[0] ^ 16], &chunk.state, word).unwrap();
    let mut expected = [mark::NOTHING; 33];
    expected[slipped] = mark::SLIP;
    assert_eq!(marks(chunk), expected, "lane {slipped}, number {number}");
    chunk.device.upload(&chunk.stream, &kept, &chunk.state, word).unwrap();
}

/// A slip in any number of the state is found in its lane.
#[test]
fn a_planted_slip_is_found() {
    let gpu = Gpu::new(open_sim());
    for bits in [64, 60] {
        let n = modulus(bits);
        let chunk = chunk(&gpu, &n, 33, &Exponent::new(1, 20));
        assert_eq!(marks(&chunk), [mark::NOTHING; 33]);
        for number in 0..4 {
            // Whatever the numbers of a lane are that has slipped, the slip counts.
            check_slip(&chunk, 7 * number + 4, number);
        }
    }
}

/// The same for a sequence of Lucas.
#[test]
fn a_planted_slip_of_a_sequence_is_found() {
    let gpu = Gpu::new(open_sim());
    for bits in [64, 60] {
        let n = modulus(bits);
        let lane = Lane::new(&n, BigUint::ZERO, Cow::Owned(BigUint::from(5_u32)));
        let chunk = Chunk::new(&gpu, &places(&lane, Line::Lucas, 33), &|_| lane.borrowed(), 0).unwrap();
        let exponent = Exponent::new(1, 20);
        chunk.ladder((&exponent.words(), exponent.bits() as u32), |_| Ok(())).unwrap();
        for (slipped, number) in [(4, state::HERE), (11, state::AFTER)] {
            check_slip(&chunk, slipped, number as usize);
        }
    }
}

/// Curves of Suyama's family that do not exist modulo N, or that show a divisor before any ladder: on the device as on the cores.
#[test]
fn faults_of_suyamas_curves() {
    // 53-bit and 60-bit moduli with small primes: a parameter is 0, ±√5, … modulo some of them.
    let [p, q] = [11_u64, 3_037_000_499].map(BigUint::from);
    let n = &p * &q * 1_000_003_u32;
    let sigmas = (6..40_u64).map(|sigma| Sigma::new(Family::Suyama, sigma.into()).unwrap());
    let more = [&n * 3_u32, &n + 0_u32, &n * 5_u32 + 4_u32].map(|sigma| Sigma::new(Family::Suyama, sigma).unwrap());
    // σ = 0 and σ = 5 modulo N give no curve; the last one is −1 modulo 5N + 5.
    let five = Sigma::new(Family::Suyama, &n + 5_u32).unwrap();
    let jobs: Vec<Job> = sigmas.chain(more).chain([five]).map(|sigma| Job::ecm(n.clone(), sigma)).collect();
    let verdicts = verdicts_agree(&jobs, [10, 60]);
    let found = |verdict: &Verdict| matches!(verdict, Verdict::Divisor { stage: Stage::First, .. });
    assert!(verdicts.iter().any(found) && verdicts.contains(&Verdict::NoGroup));
}

/// Two devices share the lanes. A device that fails loses none: the other one does them.
#[test]
fn several_devices() {
    let jobs: Vec<Job> = curves(100, 2000).into_iter().flat_map(|row| sigmas(&row.job, 40)).collect();
    let bounds = Bounds::new(60, 900).unwrap();
    let expected = run(&jobs, bounds, &()).unwrap();
    let both = Engine::on_all(vec![open_sim(), open_sim()]);
    assert_eq!(run_on(&both, &jobs, bounds, &()).unwrap(), expected);
    assert!(both.lost().is_empty() && both.devices().count() == 2);
    for device in both.devices() {
        assert!(
            device.counters().is_some_and(|counters| counters.sections().count() > 0),
            "a device had nothing to do"
        );
    }
    // Its memory is too small for a chunk.
    let config = SimConfig { memory_bytes: 4096, ..SimConfig::default() };
    let small = || open_sim_with(&config);
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = {
        let told = told.clone();
        move |lost: &LostDevice| told.lock().unwrap().push(lost.error.clone())
    };
    let one_fails = Engine::telling(vec![small(), open_sim()], tell);
    for _ in 0..2 {
        assert_eq!(run_on(&one_fails, &jobs, bounds, &()).unwrap(), expected);
        assert_eq!(one_fails.lost().len(), 1);
        // It is told once, when it happens.
        assert_eq!(*told.lock().unwrap(), [one_fails.lost()[0].error.clone()]);
    }
    let all_fail = Engine::on_all(vec![small(), small()]);
    assert!(matches!(run_on(&all_fail, &jobs, bounds, &()), Err(crate::Error::Engine(_))));
}

/// A device that fails loses its work to the other one, whatever call fails; from then on it gets nothing.
#[test]
fn a_device_that_fails_gets_nothing_more() {
    let jobs: Vec<Job> = curves(64, 300).into_iter().flat_map(|row| sigmas(&row.job, 700)).collect();
    let bounds = Bounds::new(10, 60).unwrap();
    let expected = run(&jobs, bounds, &()).unwrap();
    for fault in [Fault::FreeBytes, Fault::Launch(0), Fault::Launch(9)] {
        let failing = Failing::open(fault);
        let engine = Engine::on_all(vec![failing.clone(), open_sim()]);
        assert_eq!(run_on(&engine, &jobs, bounds, &()).unwrap(), expected, "{fault:?}");
        assert_eq!(engine.lost().len(), 1, "{fault:?}");
        // Another worker may have been on its way to a chunk.
        let after = failing.changes.streams_after.load(Ordering::SeqCst);
        assert!(after < cards::WORKERS, "{after} chunks after {fault:?}");
    }
}

/// A chunk waits for its work before others get its memory.
#[test]
fn a_chunk_waits_for_its_work() {
    let device = Failing::open(Fault::Launch(2));
    let gpu = Gpu::new(device.clone());
    let n = modulus(64);
    let lane = Lane { n: &n, parameter: Parameter::Word(7), x: Cow::Owned(TWO.into()) };
    let chunk = Chunk::new(&gpu, &places(&lane, Line::Curve, 1), &|_| lane.borrowed(), 0).unwrap();
    let product = [&*chunk.constants, &chunk.state, &chunk.total].map(At::from);
    assert!(chunk.launch(kernels::Job::Product, &product).is_ok());
    assert!(chunk.invert().is_err());
    assert_ne!(device.changes.pending.load(Ordering::SeqCst), 0);
    drop(chunk);
    assert_eq!(device.changes.pending.load(Ordering::SeqCst), 0);
}

/// A call that fails once.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    FreeBytes,
    /// The launch after so many.
    Launch(usize),
}

/// The simulator, with a call that fails.
#[derive(Debug)]
struct Failing {
    fault: Fault,
    launches: AtomicUsize,
    has_failed: AtomicBool,
    /// Streams that were made after the failure.
    streams_after: AtomicUsize,
    /// Launches for which nobody has waited.
    pending: AtomicUsize,
}

impl Failing {
    fn device(fault: Fault) -> Changed<Self> {
        let [launches, streams_after, pending] = [(); 3].map(|()| AtomicUsize::new(0));
        Changed::new(open_sim(), Self { fault, launches, has_failed: AtomicBool::new(false), streams_after, pending })
    }

    fn open(fault: Fault) -> Arc<Changed<Self>> {
        Arc::new(Self::device(fault))
    }

    /// It says that it is a GPU.
    fn gpu(fault: Fault) -> Arc<Changed<Self>> {
        let gpu = |info| DeviceInfo { kind: DeviceKind::Cuda, multiprocessors: 1, ..info };
        Arc::new(Self::device(fault).described(gpu))
    }

    fn fails(&self, call: Call) -> DeviceResult<()> {
        if self.has_failed.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        Err(call.lost())
    }
}

impl Changes for Failing {
    fn before(&self, call: Call) -> DeviceResult<()> {
        match call {
            Call::FreeBytes if self.fault == Fault::FreeBytes => self.fails(call)?,
            Call::Stream => {
                let after = usize::from(self.has_failed.load(Ordering::SeqCst));
                self.streams_after.fetch_add(after, Ordering::SeqCst);
            }
            Call::Launch => {
                if self.fault == Fault::Launch(self.launches.fetch_add(1, Ordering::SeqCst)) {
                    self.fails(call)?;
                }
                self.pending.fetch_add(1, Ordering::SeqCst);
            }
            Call::Synchronize => self.pending.store(0, Ordering::SeqCst),
            Call::FreeBytes
            | Call::Alloc
            | Call::Load
            | Call::Upload
            | Call::Download
            | Call::UploadPinned
            | Call::DownloadPinned
            | Call::Copy
            | Call::Fill => {}
        }
        Ok(())
    }
}

/// A bit of P+1 takes a product and a square, a bit of P−1 a square, and a product if it is set.
#[test]
fn wide_products_of_a_bit_of_a_sequence() {
    let gpu = Gpu::new(open_sim());
    let exponent = Exponent::new(1, 30);
    let set = (0..exponent.bits()).filter(|place| exponent.bit(*place)).count() as u64;
    for bits in [64_u64, 128, 250] {
        for line in [Line::Lucas, Line::Power] {
            let n = modulus(bits);
            let lane = Lane::new(&n, BigUint::ZERO, Cow::Owned(BigUint::from(5_u32)));
            let chunk = Chunk::new(&gpu, &places(&lane, line, 32), &|_| lane.borrowed(), 0).unwrap();
            gpu.device.reset_counters();
            chunk.ladder((&exponent.words(), exponent.bits() as u32), |_| Ok(())).unwrap();
            let counters = chunk.device.counters().unwrap();
            let ladder = counters.section("ladder").unwrap();
            let wide = |op: Op| ladder.op(op).threads;
            let (layout, limbs) = (chunk.class.layout(), chunk.class.limbs);
            let products = if line == Line::Lucas { exponent.bits() as u64 } else { set };
            let all = products * layout.products(limbs) + exponent.bits() as u64 * layout.square_products(limbs);
            // And the address of the exponent's word for each bit; before them those of 1 and of the start of a sequence.
            let addresses = exponent.bits() as u64 + if line == Line::Lucas { 2 } else { 0 };
            let counted = wide(Op::MulWide(Int::U32)) + wide(Op::MadWide(Int::U32));
            assert_eq!(counted, 32 * (all + addresses), "{bits} bits, {line:?}");
        }
    }
}

/// A bit of family 3 takes four products, four squares and a row of a product by a word.
#[test]
fn wide_products_of_a_bit() {
    for bits in [64_u64, 128, 250, 544, 1000] {
        let gpu = Gpu::new(open_sim());
        let exponent = Exponent::new(1, 30);
        let chunk = chunk(&gpu, &modulus(bits), 32, &exponent);
        let counters = chunk.device.counters().unwrap();
        let ladder = counters.section("ladder").unwrap();
        let wide = |op: Op| ladder.op(op).threads;
        let layout = chunk.class.layout();
        let limbs = chunk.class.limbs;
        let row = 2 * u64::from(layout.group * layout.length);
        let bit = 4 * (layout.products(limbs) + layout.square_products(limbs)) + row;
        // The addresses are computed by each thread.
        let address = u64::from(layout.group);
        // One more is the address of the exponent's word, and one the address of the word `σ` before the first bit.
        let counted = wide(Op::MulWide(Int::U32)) + wide(Op::MadWide(Int::U32));
        assert!(exponent.bits() > 20);
        assert_eq!(counted, 32 * (exponent.bits() as u64 * (bit + address) + address), "{bits} bits");
    }
}
