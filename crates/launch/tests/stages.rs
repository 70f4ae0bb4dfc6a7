//! Operations in stages: rows that are bound to operands, results and scratch memory, one operation within another.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use warpmp_device::{Device, open_sim};
use warpmp_kernel::build::{Builder, Emit};
use warpmp_launch::{Binding, Frame, Layout, Part, Program, RowBuffer, Rows, Sequence, Signature, Spec, Stage};

/// `a + 3b`, one limb, by way of a limb of its own scratch memory if `detour` is set.
#[derive(Debug)]
struct Sum {
    detour: bool,
}

impl Spec for Sum {
    fn name(&self) -> String {
        if self.detour { "sum_detour".into() } else { "sum".into() }
    }

    fn stages(&self) -> Vec<Stage<'_>> {
        let signature = Signature::new([Rows::each(1), Rows::each(1)], [1]).with_scratch(self.scratch_limbs());
        vec![Layout::of(1).stage(self.name(), signature, |b: &mut Builder, frame: &Frame| {
            let [first, second] = [0, 1].map(|i| frame.load(b, i)[0]);
            let sum = b.mad_lo(second, 3, first);
            let sum = match frame.scratch {
                None => sum,
                Some(scratch) => {
                    frame.write(b, scratch, 1, 1, &[sum]);
                    frame.read(b, scratch, 0, 1, 1)[0]
                }
            };
            frame.store(b, 0, &[sum]);
        })]
    }

    fn scratch_limbs(&self) -> u32 {
        self.detour.into()
    }
}

fn sum(detour: bool, bindings: &[Binding]) -> Part {
    Part { spec: Box::new(Sum { detour }), bindings: bindings.to_vec() }
}

/// The results for lanes `i` with `a = i` and `b = 100 + i`.
fn run(device: &dyn Device, spec: &dyn Spec, lanes: usize) -> Vec<u32> {
    let (stream, padded) = (device.stream().unwrap(), lanes.next_multiple_of(32));
    let buffer = |first: usize| {
        let words: Vec<u32> = (first..first + padded).map(|word| word as u32).collect();
        let buffer = device.alloc(4 * padded as u64).unwrap();
        device.upload(&stream, &words, &buffer, 0).unwrap();
        buffer
    };
    let buffers = [buffer(0), buffer(100), buffer(0)];
    let scratch = device.alloc(4 * padded as u64 * u64::from(spec.scratch_limbs().max(1))).unwrap();
    let rows = buffers.each_ref().map(|buffer| RowBuffer { buffer, stride: 1 });
    let scratch = (spec.scratch_limbs() > 0).then_some(&scratch);
    Program::load(device, spec, 64).unwrap().launch(device, &stream, &rows, scratch, lanes).unwrap();
    let mut words = vec![0; lanes];
    device.download(&stream, &buffers[2], 0, &mut words).unwrap();
    words
}

/// `t = a + 3b`, then `t + 3a`: `4a + 3b`.
fn twice(detour: bool) -> Sequence {
    use Binding::{Parameter, Scratch};
    let parts = vec![
        sum(detour, &[Parameter(0), Parameter(1), Scratch(0), Scratch(1)]),
        sum(detour, &[Scratch(0), Parameter(0), Parameter(2), Scratch(1)]),
    ];
    Sequence { name: "twice".into(), rows: 3, parts, scratch: 2, whole_tiles: true }
}

#[test]
fn stages_find_their_rows() {
    let device = open_sim();
    for (lanes, detour) in [1, 31, 32, 33, 65, 200].into_iter().flat_map(|lanes| [(lanes, false), (lanes, true)]) {
        let expected: Vec<u32> = (0..lanes).map(|i| (4 * i + 3 * (100 + i)) as u32).collect();
        assert_eq!(run(&*device, &twice(detour), lanes), expected, "{lanes} lanes");
    }
}

#[test]
fn an_operation_in_stages_is_a_stage_of_another() {
    use Binding::{Parameter, Scratch};
    let device = open_sim();
    // The scratch memory of the inner operation begins after the limb of its result.
    let parts = vec![
        Part { spec: Box::new(twice(true)), bindings: vec![Parameter(1), Parameter(0), Scratch(0), Scratch(1)] },
        sum(false, &[Scratch(0), Parameter(1), Parameter(2)]),
    ];
    let outer = Sequence { name: "outer".into(), rows: 3, parts, scratch: 3, whole_tiles: true };
    assert_eq!(outer.stages().len(), 3);
    let names: Vec<String> = outer.kernels().into_iter().map(|kernel| kernel.name).collect();
    assert!(names[0].starts_with("outer_0_twice_0_sum_detour") && names[2].starts_with("outer_2_sum"), "{names:?}");
    for lanes in [1, 33, 70] {
        let expected: Vec<u32> = (0..lanes).map(|i| (4 * (100 + i) + 3 * i + 3 * (100 + i)) as u32).collect();
        assert_eq!(run(&*device, &outer, lanes), expected, "{lanes} lanes");
    }
}
