//! `warpmp ecdlp join`: directories of several machines, brought together.

use std::path::Path;

use serde_json::json;
use warpmp_curves::campaign::{self, Joined, Opened};

use super::{args::Join, look};
use crate::{console, error::Result, interrupt};

/// Runs the command.
pub(super) fn run(args: &Join) -> Result<()> {
    // A new directory gets the campaign of the first one.
    let folder = Path::new(&args.folder);
    let specification = match campaign::begun(folder)? {
        Some(specification) => specification,
        None => look(&args.from[0])?.specification().clone(),
    };
    let opened = Opened::new(folder, &specification.problem()?, specification.settings())?;
    let mut objects = Vec::new();
    for from in &args.from {
        interrupt::check()?;
        look(from)?;
        let Joined { copied, known, points } = campaign::join(&opened, Path::new(from))?;
        objects.push(json!({"from": from, "copied": copied, "known": known, "points": points}));
        if !args.object.json {
            console::report(&format!("{from}: {copied} sessions copied, with {points} points; {known} were there\n"))?;
        }
    }
    if args.object.json { console::report_object(&objects) } else { Ok(()) }
}
