//! `warpmp campaign shards`: what each of several tasks should do.

use std::path::Path;

use serde_json::json;
use warpmp_campaign::{Campaign, Mode, Part, Work};
use warpmp_collatz::campaign::Specification as Collatz;
use warpmp_numtheory::factor::campaign::Specification as Curves;

use super::{
    super::resume::{Kind, kind},
    args, shell,
};
use crate::{console, error::Result};

/// A task that is not there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShardsError {
    #[error("--task {task}: of {tasks} tasks the last one is {}", tasks - 1)]
    NoTask { task: u64, tasks: u64 },
}

/// What a task should do.
struct Shard {
    task: u64,
    /// Its units, and those of them that have no certificate; none if every task works on everything.
    units: Option<[u128; 2]>,
    command: String,
}

/// Runs the command.
pub(super) fn run(args: &args::Shards) -> Result<()> {
    if let Some(task) = args.task.filter(|task| *task >= args.tasks) {
        return Err(ShardsError::NoTask { task, tasks: args.tasks }.into());
    }
    let shards = match kind(&args.folder)? {
        Kind::Collatz => parts::<Collatz>(&args.folder, args.tasks)?,
        Kind::Curves => parts::<Curves>(&args.folder, args.tasks)?,
        // Every process draws starts of its own.
        Kind::Logarithm => (0..args.tasks)
            .map(|task| Shard { task, units: None, command: shell::resume(&args.folder, Mode::ALONE) })
            .collect(),
    };
    let text: String = match args.task {
        Some(task) => {
            shards.iter().filter(|shard| shard.task == task).flat_map(|shard| [shard.command.as_str(), "\n"]).collect()
        }
        None if args.object.json => {
            let object = |shard: &Shard| {
                let [units, missing] = shard.units.map_or([None, None], |units| units.map(|it| Some(it.to_string())));
                json!({"task": shard.task, "units": units, "missing": missing, "command": shard.command})
            };
            format!("{}\n", json!(shards.iter().map(object).collect::<Vec<_>>()))
        }
        None => {
            let row = |shard: &Shard| {
                let units = shard
                    .units
                    .map_or_else(|| "starts of its own".into(), |[all, missing]| format!("{missing} of {all} units"));
                vec![format!("task {}", shard.task), units, shard.command.clone()]
            };
            console::table(&shards.iter().map(row).collect::<Vec<_>>())
        }
    };
    console::print(&text)
}

/// A part of the units for each task.
fn parts<W: Work>(folder: &Path, tasks: u64) -> Result<Vec<Shard>> {
    let campaign = Campaign::<W>::open(folder)?;
    let contents = campaign.contents()?;
    let units = campaign.specification().units();
    let mut missing = vec![0_u128; tasks as usize];
    for unit in campaign.missing(&contents, Part::ALL) {
        if let Some(number) = campaign.specification().number(&unit) {
            missing[(number % u128::from(tasks)) as usize] += 1;
        }
    }
    let shard = |((task, part), missing): ((u64, Part), u128)| {
        // Numbers below `units` that leave this remainder.
        let all = (units + u128::from(tasks) - 1 - u128::from(task)) / u128::from(tasks);
        let command = shell::resume(folder, Mode { is_shared: true, part });
        Shard { task, units: Some([all, missing]), command }
    };
    Ok((0..).zip(Part::each(tasks)).zip(missing).map(shard).collect())
}
