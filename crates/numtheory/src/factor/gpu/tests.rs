//! Both stages on the simulator, and on a GPU if there is one: against the known answers, and against the cores.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use warpmp_device::open_sim;

use super::*;
use crate::factor::tests::{Known, expected, known};
use crate::factor::{Bounds, Engine, Job, Method, Verdict, run, run_on};

fn sim() -> Engine {
    Engine::on(open_sim())
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

#[test]
fn known_answers_on_the_simulator() {
    let rows: Vec<Known> =
        known(96).into_iter().filter(|row| matches!(row.job.method, Method::Ecm(_)) && row.bounds.b1() <= 500).collect();
    assert!(rows.len() > 4);
    rows_are_as_known(&sim(), &rows);
}
