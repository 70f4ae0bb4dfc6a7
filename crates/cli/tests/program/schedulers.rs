//! The examples for Slurm and `HyperQueue`, really run where these are installed: eight tasks, of which two are killed and come again.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::common::{Dir, wait_until};
use serde_json::Value;

/// Windows of the campaign: enough that all tasks still have some when two of them are killed, also on a fast machine.
const WINDOWS: usize = 6000;

fn examples(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name).canonicalize().unwrap()
}

/// The certificates that are there.
fn certificates(campaign: &Path) -> usize {
    let names = fs::read_dir(campaign).into_iter().flatten().flatten().map(|it| it.file_name());
    names.filter(|name| name.to_str().is_some_and(|it| it.starts_with('0') && it.ends_with(".json"))).count()
}

/// Everything is there, once, and nothing contradicts.
fn is_complete(dir: &Dir) {
    let status = dir.run(&["collatz", "status", "camp", "--complete", "--json"]);
    let status: Value = serde_json::from_str(status.ok()).unwrap();
    assert_eq!((&status["windows_done"], &status["complete"]), (&WINDOWS.into(), &true.into()), "{status}");
    for none in ["not_trusted", "disputed", "left_alone"] {
        assert_eq!(status[none], serde_json::json!([]), "{status}");
    }
}

fn text(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The summaries of a task's output: a task that came again has written one, too.
fn summary(text: &str) -> Option<Value> {
    text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).next_back()
}

/// The commands that a person would type, with two tasks requeued in the middle of their work, and the warning before the time limit
/// for a third one.
const SLURM: &str = r#"
set -euo pipefail
cd "$SCRIPTS"
id=$(sbatch --parsable --export=ALL --output="$LOGS/%a.out" collatz.sbatch)
until [ "$(find "$CAMPAIGN" -name '0*.json' 2>/dev/null | wc -l)" -gt 50 ]; do sleep 0.1; done
# The shells of all tasks have begun: they run the program.
until [ "$(pgrep --count --full "^$WARPMP collatz verify .*--output $CAMPAIGN ")" -eq 8 ]; do sleep 0.1; done
# again TASK JOB: Slurm lets a requeued task wait for two minutes, and here it begins at once. But its first run must have ended, in an
# earlier second: the node refuses a job that it has killed in the same one.
again() {
    until [ "$(squeue --noheader --jobs="${id}_$1" --format=%t)" = PD ]; do sleep 0.1; done
    while pgrep --full "slurmstepd: \[$2\." >/dev/null; do sleep 0.1; done
    sleep 2
    scontrol update JobId="${id}_$1" StartTime=now
}
for task in 2 5 6; do again $task "$(squeue --noheader --jobs="${id}_$task" --format=%A)" & done
for task in 2 5; do scontrol requeue "${id}_$task"; done
scancel --batch --signal=USR1 "${id}_6"
wait
while [ -n "$(squeue --noheader)" ]; do sleep 0.3; done
sbatch --wait --export=ALL --output="$LOGS/prime-%a.out" is-prime.sbatch
cat "$OUTPUT"/*.txt > "$LOGS/verdicts.txt"
CAMPAIGN=$CURVES sbatch --wait --array=0-1 --export=ALL --output="$LOGS/ecm-%a.out" ecm.sbatch
CAMPAIGN=$SEARCH sbatch --wait --array=0-1 --export=ALL --output="$LOGS/ecdlp-%a.out" ecdlp.sbatch
"#;

#[test]
fn an_array_of_slurm() {
    let dir = Dir::new();
    let (scripts, logs) = (examples("slurm"), dir.path("logs"));
    fs::create_dir(&logs).unwrap();
    let numbers: String = (0..999_u32).map(|n| format!("{}\n", 1_000_003 + 2 * n)).collect();
    dir.write("numbers.txt", &numbers);
    let begin = "ecm 2^251-1 --b1 300 --b2 30000 --curves 96 --unit 8 --campaign curves --part 0/12 --device cpu -q";
    dir.run(&begin.split(' ').collect::<Vec<_>>()).ok();
    let curve = include_str!("../../../curves/tests/data/curves.csv").lines().nth(9).unwrap();
    let [p, a, b, n, px, py, qx, qy, k] = curve.split(',').collect::<Vec<_>>().try_into().unwrap();
    dir.write(
        "curve.json",
        format!(r#"{{"p": {p}, "a": {a}, "b": {b}, "n": {n}, "P": [{px}, {py}], "Q": [{qx}, {qy}]}}"#),
    );
    let mut command = Command::new("bash");
    command.env("CURVES", dir.path("curves")).env("SEARCH", dir.path("search")).env("CURVE", dir.path("curve.json"));
    command.arg(scripts.join("throwaway-cluster")).arg(dir.path("cluster")).args(["8", "bash", "-c", SLURM]);
    command.env("SCRIPTS", &scripts).env("LOGS", &logs).env("CAMPAIGN", dir.path("camp"));
    command.env("FROM", "2^70").env("COUNT", format!("{WINDOWS}*2^12")).env("WINDOW", "2^12");
    command.env("INPUT", dir.path("numbers.txt")).env("OUTPUT", dir.path("verdicts"));
    command.env("WARPMP", env!("CARGO_BIN_EXE_warpmp")).env("DEVICE", "cpu").stdin(Stdio::null());
    let begin = Instant::now();
    let output = command.output().unwrap();
    if output.status.code() == Some(77) {
        eprint!("{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    assert!(output.status.success(), "{}", text(&output));
    println!("{:?}", begin.elapsed());
    is_complete(&dir);
    for task in 0..8 {
        let log = fs::read_to_string(logs.join(format!("{task}.out"))).unwrap();
        let summary = summary(&log).unwrap_or_else(|| panic!("task {task}: {log}"));
        assert_eq!(summary["missing"], "0", "task {task}: {log}");
        // A job that ends at once is requeued without a word.
        assert!(task == 6 || log.contains("REQUEUE") == [2, 5].contains(&task), "task {task}: {log}");
        assert!(task != 6 || log.contains("error: interrupted"), "task {task}: {log}");
    }
    // The shards of the lines together are the lines.
    assert_eq!(fs::read_dir(dir.path("verdicts")).unwrap().count(), 8);
    let whole = dir.run(&["is-prime", "numbers.txt", "--device", "cpu", "-q"]);
    assert_eq!(fs::read_to_string(logs.join("verdicts.txt")).unwrap(), whole.ok());
    // Both halves of the curves were made, unless the integer was factored before; both searches know the logarithm.
    let status: Value = serde_json::from_str(dir.run(&["status", "curves", "--json"]).ok()).unwrap();
    assert!(status["units_done"] == status["units"] || status["complete"] == 1, "{status}");
    for task in 0..2 {
        let [ecm, ecdlp] = ["ecm", "ecdlp"].map(|name| {
            let log = fs::read_to_string(logs.join(format!("{name}-{task}.out"))).unwrap();
            summary(&log).unwrap_or_else(|| panic!("{log}"))
        });
        assert_eq!((&ecm["op"], &ecdlp["k"]), (&"ecm".into(), &k.into()));
    }
}

/// The processes that have claimed something.
fn owners(campaign: &Path) -> BTreeSet<u64> {
    let files = fs::read_dir(campaign).into_iter().flatten().flatten().map(|it| it.path());
    let claims = files.filter(|path| path.extension().is_some_and(|it| it == "claim"));
    let owner = |path: PathBuf| {
        let claim: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
        claim["owner"]["process"].as_u64()
    };
    claims.filter_map(owner).collect()
}

#[test]
fn tasks_of_hyperqueue() {
    let python = env::var("WARPMP_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).args(["-c", "import hyperqueue"]).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        eprintln!("skipped: {python} has no package hyperqueue");
        return;
    }
    let dir = Dir::new();
    let count = format!("{WINDOWS}*2^12");
    let mut command = Command::new(&python);
    command.arg(examples("hyperqueue/collatz.py")).current_dir(dir.path(""));
    command.args(["camp", "--from", "2^70", "--count", &count, "--window", "2^12", "--tasks", "8", "--local", "8"]);
    command.args(["--device", "cpu", "--warpmp", env!("CARGO_BIN_EXE_warpmp")]).stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let campaign = dir.path("camp");
    wait_until(|| certificates(&campaign) > 50);
    let mut killed = BTreeSet::new();
    let end = Instant::now() + Duration::from_secs(30);
    while killed.len() < 2 && Instant::now() < end {
        if let Some(owner) = owners(&campaign).into_iter().find(|owner| !killed.contains(owner)) {
            // It may have ended by itself at this moment.
            if Command::new("kill")
                .args(["-KILL", &owner.to_string()])
                .stderr(Stdio::null())
                .status()
                .unwrap()
                .success()
            {
                killed.insert(owner);
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(killed.len(), 2);
    assert!(text(&output).contains("tasks failed: they are submitted again"), "{}", text(&output));
    is_complete(&dir);
}
