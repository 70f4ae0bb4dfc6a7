//! Small kernels against their stored texts, byte by byte. `WARPMP_BLESS=1` stores the texts anew.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::{env, fs};

use warpmp_papers::kernels::epfl::{Arithmetic, Experiment, Layout, Place, Work};

/// The EPFL report's experiments, twice executed.
fn experiments() -> [(&'static str, Experiment); 3] {
    let experiment = |work, arithmetic, bits| {
        let (place, layout, executions, turns, room) = (Place::Local, Layout::default(), 2, 1, 64);
        Experiment { work, arithmetic, place, layout, bits, executions, turns, room }
    };
    let in_memory = Experiment { place: Place::Global, ..experiment(Work::AddMod, Arithmetic::Flag, 64) };
    [
        ("epfl_add_mod_64_global", in_memory),
        ("epfl_school_67_flag", experiment(Work::School, Arithmetic::Flag, 67)),
        ("epfl_karatsuba_67_wide", experiment(Work::Karatsuba, Arithmetic::Wide, 67)),
    ]
}

#[test]
fn kernels_are_as_stored() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (name, experiment) in experiments() {
        let (file, text) = (folder.join(format!("{name}.ptx")), experiment.build().to_string());
        if env::var_os("WARPMP_BLESS").is_some() {
            fs::write(&file, &text).unwrap();
        }
        let stored = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let line = stored.lines().zip(text.lines()).position(|(stored, now)| stored != now);
        assert!(stored == text, "{name} differs in line {:?}\nIf that is meant: WARPMP_BLESS=1", line.map(|it| it + 1));
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), experiments().len(), "a stored text of no kernel");
}
