//! `campaign report` and `campaign serve`: pages about campaigns of every kind, with names that nobody should trust.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use crate::common::{Dir, Run, interrupt, wait_until};

/// A host that would run a script, if a page believed it.
const HOST: &str = r#"<script>alert("1")</script>&'"#;
const ESCAPED: &str = "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;'";

fn run(dir: &Dir, args: &str) -> Run {
    dir.run_where("WARPMP_HOST", HOST, &args.split_whitespace().collect::<Vec<_>>())
}

/// The page of a campaign.
fn page(dir: &Dir, folder: &str) -> String {
    let run = run(dir, &format!("campaign report {folder} -o {folder}.html"));
    assert_eq!((run.ok(), run.stderr.as_str()), ("", ""));
    dir.text(&format!("{folder}.html"))
}

/// A campaign of eight windows, of which one is missing.
fn collatz(dir: &Dir) -> PathBuf {
    run(dir, "collatz verify --device cpu --from 2^40 --count 8*2^12 --window 2^12 -o camp -q").ok();
    let lost = dir.path("camp").join(format!("{:039}-4096.json", (1_u128 << 40) + 3 * 4096));
    fs::remove_file(&lost).unwrap();
    lost
}

/// Nothing on the page runs or loads anything, and every text is escaped.
fn is_inert(page: &str) {
    let lower = page.to_lowercase();
    for word in [
        "<script",
        "javascript:",
        "src=",
        "href=",
        "url(",
        "@import",
        "<iframe",
        "<object",
        "<link",
        "onload",
        "http://",
        "https://",
    ] {
        assert!(!lower.contains(word), "{word} in {page}");
    }
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("default-src 'none'"), "{page}");
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("width=device-width"), "{page}");
}

#[test]
fn a_page_about_collatz() {
    let dir = Dir::new();
    let lost = collatz(&dir);
    // Another program's certificate of a window, with other figures, and a broken one.
    let other = fs::read_dir(dir.path("camp")).unwrap().map(|it| it.unwrap().path());
    let mut certificates: Vec<PathBuf> =
        other.filter(|it| it.file_name().unwrap().to_str().unwrap().starts_with('0')).collect();
    certificates.sort();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    fs::write(dir.path(&format!("camp/{}.differs", name(&certificates[0]))), "{}").unwrap();
    fs::write(&certificates[1], "<b>broken</b>").unwrap();
    fs::write(dir.path("camp/<i>notes.json"), "{}").unwrap();
    let claim = r#"{"owner":{"host":"<u>host","machine":"","process":7,"started":"","number":0},"beat":1}"#;
    fs::write(lost.with_extension("claim"), claim).unwrap();
    let page = page(&dir, "camp");
    is_inert(&page);
    for words in [
        "Collatz: 32768 numbers from 1099511627776 to 1099511660543",
        "75.00 %",
        "24576 of 32768 numbers",
        "6 of 8",
        "2 alarms",
        "a second certificate of the unit with another result",
        "highest value",
        "first gap",
        ESCAPED,
        "&lt;u&gt;host",
        "&lt;i&gt;notes.json",
        "windows 3 to 3: 0 of 1 done, 1 claimed, 0 alarms",
        "windows 1 to 1: 0 of 1 done, 0 claimed, 1 alarm",
        "warpmp collatz check camp --complete",
        "numbers a second of an engine at work",
    ] {
        assert!(page.contains(words), "no {words:?} in {page}");
    }
    for (class, count) in [("all", 5), ("bad", 2), ("open", 1), ("none", 0)] {
        assert_eq!(page.matches(&format!("<rect class=\"{class}\"")).count(), count, "{class}");
    }
    // The last window, and then it is complete: no alarm, no gap.
    fs::remove_dir_all(dir.path("camp")).unwrap();
    collatz(&dir);
    run(&dir, "resume camp --device cpu -q").ok();
    let page = self::page(&dir, "camp");
    for words in ["100.00 %", ", complete", "None."] {
        assert!(page.contains(words), "no {words:?} in {page}");
    }
    assert!(!page.contains("first gap"));
}

/// The page's own command finds the page's checksum.
#[cfg(target_os = "linux")]
#[test]
fn checksums_are_found_again() {
    let dir = Dir::new();
    collatz(&dir);
    let page = page(&dir, "camp");
    let between = |begin: &str, end: &str| {
        let text = page.split_once(begin).unwrap().1.split_once(end).unwrap().0;
        text.replace("&gt;", ">").replace("&lt;", "<").replace("&quot;", "\"").replace("&amp;", "&")
    };
    let command = between("<section id=\"verify\">", "</pre>");
    let command = command.split_once("<pre>").unwrap().1;
    let output = Command::new("sh").args(["-c", command]).current_dir(dir.path("")).output().unwrap();
    let sum = between("<pre id=\"of-all\">", "</pre>");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{sum}  -\n"), "{command}");
    assert_eq!(sum.len(), 64);
}

#[test]
fn pages_about_curves_and_logarithms() {
    let dir = Dir::new();
    run(&dir, "ecm 2^128+1 --b1 2000 --curves 40 --seed 3 --unit 10 --campaign curves --device cpu -q").ok();
    let page = self::page(&dir, "curves");
    is_inert(&page);
    for words in [
        ESCAPED,
        "Elliptic curves on 340282366920938463463374607431768211457",
        "divisor",
        "59649589127497217",
        "warpmp ecm 3402",
    ] {
        assert!(page.contains(words), "no {words:?} in {page}");
    }
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/campaigns-0.1");
    for (name, words) in [
        ("ecdlp-solved", "99874876989"),
        ("ecdlp-begun", "of all searches take at most"),
        ("default", "host not known"),
    ] {
        fs::create_dir(dir.path(name)).unwrap();
        for file in fs::read_dir(stored.join(name)).unwrap().map(Result::unwrap) {
            fs::copy(file.path(), dir.path(name).join(file.file_name())).unwrap();
        }
        let page = self::page(&dir, name);
        is_inert(&page);
        assert!(page.contains(words), "no {words:?} in {page}");
    }
    run(&dir, "resume ecdlp-begun --device cpu -q").ok();
    let page = self::page(&dir, "ecdlp-begun");
    for words in [ESCAPED, "56626405374898", "100.00 %"] {
        assert!(page.contains(words), "no {words:?} in {page}");
    }
}

#[test]
fn what_no_page_can_be_made_of() {
    let dir = Dir::new();
    run(&dir, "campaign report none -o x.html").fails(1, &["none: no campaign"]);
    fs::create_dir(dir.path("broken")).unwrap();
    dir.write("broken/campaign.json", "{");
    run(&dir, "campaign report broken -o x.html").fails(1, &["broken/campaign.json"]);
    run(&dir, "campaign serve none").fails(1, &["none: no campaign"]);
    assert_eq!(dir.names(), ["broken"], "no half page");
    collatz(&dir);
    run(&dir, "campaign report camp -o none/x.html").fails(1, &["none/x.html"]);
}

/// Asks for something; the answer's head and body.
fn ask(address: &str, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(request.replace('\n', "\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

#[test]
fn a_page_that_is_served() {
    let dir = Dir::new();
    collatz(&dir);
    let mut child = dir.command(&["campaign", "serve", "camp"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().strip_suffix('/').unwrap().to_owned();
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    // A client that says nothing is in nobody's way.
    let silent = TcpStream::connect(&address).unwrap();
    let before = fs::read_dir(dir.path("camp")).unwrap().count();
    let (head, body) = ask(&address, "GET / HTTP/1.1\nHost: localhost\n\n");
    assert!(head.starts_with("HTTP/1.1 200 OK") && head.contains("frame-ancestors 'none'"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
    assert!(body.contains("87.50 %") && body.contains("http-equiv=\"refresh\""), "{body}");
    let (head, body) = ask(&address, "HEAD / HTTP/1.1\nHost: localhost\n\n");
    assert!(head.starts_with("HTTP/1.1 200") && body.is_empty(), "{head}");
    for (request, status) in [
        ("POST / HTTP/1.1\nHost: localhost\n\n", "405"),
        ("GET /campaign.json HTTP/1.1\nHost: localhost\n\n", "404"),
        ("GET / HTTP/1.1\nHost: elsewhere.example\n\n", "421"),
        ("nonsense\n\n", "400"),
    ] {
        assert!(ask(&address, request).0.starts_with(&format!("HTTP/1.1 {status}")), "{request}");
    }
    assert_eq!(fs::read_dir(dir.path("camp")).unwrap().count(), before, "read-only");
    // It is live: the page is at most some seconds old.
    run(&dir, "resume camp --device cpu -q").ok();
    wait_until(|| ask(&address, "GET / HTTP/1.1\nHost: localhost\n\n").1.contains(", complete"));
    // The port is taken.
    let port = address.split_once(':').unwrap().1;
    dir.run(&["campaign", "serve", "camp", "--port", port]).fails(1, &["127.0.0.1"]);
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(silent);
}

/// Chromium's DOM of a page, and a screenshot as on a phone; none where there is no Chromium.
fn chromium(page: &Path, picture: &Path) -> Option<String> {
    let program = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|program| {
        let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        found.is_ok_and(|status| status.success())
    })?;
    let folder = tempfile::tempdir().unwrap();
    let browse = |option: String| {
        let mut command = Command::new(program);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=390,1600"]);
        command.arg(format!("--user-data-dir={}", folder.path().display()));
        command.args(["--blink-settings=preferredColorScheme=0", &option]).arg(format!("file://{}", page.display()));
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    browse(format!("--screenshot={}", picture.display()));
    Some(browse("--dump-dom".into()))
}

#[test]
fn a_browser_shows_the_page() {
    let dir = Dir::new();
    collatz(&dir);
    page(&dir, "camp");
    let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("campaign.png");
    let _ = fs::remove_file(&picture);
    let Some(dom) = chromium(&dir.path("camp.html"), &picture) else {
        eprintln!("skipped: no Chromium");
        return;
    };
    // The host is text of a cell, and no element.
    assert!(!dom.contains("<script"), "{dom}");
    let sources = dom.split_once("<table id=\"sources\">").unwrap().1.split_once("</table>").unwrap().0;
    assert!(sources.contains(r#"<td>&lt;script&gt;alert("1")&lt;/script&gt;&amp;'</td>"#), "{sources}");
    // The browser has read every part as what it is: sections stay where they were written.
    let places: Vec<usize> = ["progress", "alarms", "map", "rates", "estimate", "finds", "checksums", "verify"]
        .into_iter()
        .map(|id| dom.find(&format!("<section id=\"{id}\">")).unwrap_or_else(|| panic!("no {id} in {dom}")))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(dom.matches("<rect class=").count(), 8);
    assert!(dom.contains("<strong id=\"share\">87.50 %</strong>") && dom.contains("<g class=\"line s0\">"), "{dom}");
    // A person can judge it: target/tmp/campaign.png.
    assert!(fs::metadata(&picture).unwrap().len() > 10_000);
}
