//! The C programs of `examples/c`, and one that misuses the interface: compiled with all warnings as errors, run, run with
//! the address sanitizer and under valgrind. What the machine lacks is said and skipped.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use num_bigint::BigUint;

const VALGRIND: &str = "under valgrind";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The folder with `libwarpmp.so` and `libwarpmp.a`: that of this test's program.
fn libraries() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().to_path_buf()
}

fn exists(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Compiles a program with the shared library, and with more options.
fn compile(source: &Path, to: &Path, options: &[&str], libraries_after: &[&str]) -> Output {
    Command::new("cc")
        .args(["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"])
        .args(options)
        .arg("-I")
        .arg(repository().join("crates/capi/include"))
        .arg(source)
        .arg("-o")
        .arg(to)
        .arg("-L")
        .arg(libraries())
        .arg(format!("-Wl,-rpath,{}", libraries().display()))
        .arg("-lwarpmp")
        .args(libraries_after)
        .output()
        .unwrap()
}

fn compiled(source: &Path, to: &Path, options: &[&str], libraries_after: &[&str]) {
    let output = compile(source, to, options, libraries_after);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a program on the CPU: no GPU driver under sanitizers.
fn run(program: &mut Command) -> Output {
    program.env("CUDA_VISIBLE_DEVICES", "").env("RAYON_NUM_THREADS", "2").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A program, compiled in each way that this machine has, and how to start it. The program with the sanitizer ends with an
/// error at the first fault and at every leak; so does valgrind.
fn ways(source: &Path, folder: &Path, after: &[&str]) -> Vec<(&'static str, Vec<PathBuf>)> {
    let [plain, sanitized] = ["plain", "sanitized"].map(|name| folder.join(name));
    compiled(source, &plain, &[], after);
    let mut ways = vec![("alone", vec![plain.clone()])];
    let sanitizer = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    if compile(source, &sanitized, &sanitizer, after).status.success() {
        ways.push(("with the address sanitizer", vec![sanitized]));
    } else {
        eprintln!("skipped: the address sanitizer is not here");
    }
    if exists("valgrind") {
        let words =
            ["valgrind", "--quiet", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite"];
        ways.push((VALGRIND, words.map(PathBuf::from).into_iter().chain([plain]).collect()));
    } else {
        eprintln!("skipped: valgrind is not here");
    }
    ways
}

fn command(way: &[PathBuf]) -> Command {
    let mut command = Command::new(&way[0]);
    command.args(&way[1..]);
    command
}

#[test]
fn products_of_gmps_integers() {
    let folder = tempfile::tempdir().unwrap();
    let probe = folder.path().join("probe.c");
    fs::write(&probe, "#include <gmp.h>\nint main(void) { mpz_t a; mpz_init(a); mpz_clear(a); return 0; }\n").unwrap();
    if !compile(&probe, &folder.path().join("probe"), &[], &["-lgmp"]).status.success() {
        eprintln!("skipped: GMP's header is not here");
        return;
    }
    let rsa = repository().join("examples/rsa");
    let published = fs::read_to_string(rsa.join("n.txt")).unwrap();
    let expected: String =
        published.lines().filter(|line| !line.starts_with('#')).fold(String::new(), |all, line| all + line + "\n");
    for (name, way) in ways(&repository().join("examples/c/mpz_products.c"), folder.path(), &["-lgmp"]) {
        let output = run(command(&way).args([rsa.join("p.txt"), rsa.join("q.txt")]));
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout), expected, "{name}");
        if name == VALGRIND {
            continue; // it reads the library for seconds; the sanitizer sees the ways to the errors
        }
        let output = run(command(&way).args([rsa.join("p.txt"), rsa.join("README.md")]));
        assert_eq!(output.status.code(), Some(1), "{name}: {}", text(&output.stderr));
    }
}

#[test]
fn signatures() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = |name| {
        let text = fs::read_to_string(repository().join("examples/rsa").join(name)).unwrap();
        text.lines().filter(|line| !line.starts_with('#')).map(|line| line.parse().unwrap()).collect::<Vec<BigUint>>()
    };
    let mut file = String::from("# modulus signature message\n");
    let one = BigUint::from(1_u32);
    for (i, (p, q)) in numbers("p.txt").into_iter().zip(numbers("q.txt")).enumerate() {
        let secret = BigUint::from(65537_u32).modinv(&((&p - &one) * (&q - &one)));
        let Some(secret) = secret else { continue };
        let n = p * q;
        let message = (BigUint::from(0x1234_5678_u32) << (300 - i)) + i;
        writeln!(file, "{n:x} {:x} {message:X}", message.modpow(&secret, &n)).unwrap();
    }
    let right = file.lines().count() - 1;
    assert!(right > 20);
    let (good, bad, broken) = (folder.path().join("good"), folder.path().join("bad"), folder.path().join("broken"));
    fs::write(&good, &file).unwrap();
    fs::write(&bad, file.clone() + "c5 2 3\n0 2 3\n").unwrap();
    fs::write(&broken, file + "c5 2 xyz\n").unwrap();
    for (name, way) in ways(&repository().join("examples/c/rsa_verify.c"), folder.path(), &[]) {
        let output = run(command(&way).arg(&good));
        assert_eq!(
            (output.status.code(), text(&output.stdout)),
            (Some(0), String::new()),
            "{name}: {}",
            text(&output.stderr)
        );
        if name == VALGRIND {
            continue;
        }
        let output = run(command(&way).arg(&bad));
        let line = right + 2;
        let expected =
            format!("{0}:{line}: the signature is wrong\n{0}:{1}: division by zero\n", bad.display(), line + 1);
        assert_eq!(
            (output.status.code(), text(&output.stdout)),
            (Some(1), expected),
            "{name}: {}",
            text(&output.stderr)
        );
        let output = run(command(&way).arg(&broken));
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(text(&output.stderr).contains(&format!("broken:{line}: ")), "{name}: {}", text(&output.stderr));
    }
}

/// Every function with wrong arguments, devices by the simulator, threads, batches without lanes.
#[test]
fn the_interface_holds() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interface.c");
    for (name, way) in ways(&source, folder.path(), &["-lpthread"]) {
        let output = run(&mut command(&way));
        assert!(output.status.success(), "{name}: {}{}", text(&output.stdout), text(&output.stderr));
    }
}

/// The same on a GPU, with pointers to its memory.
#[test]
fn a_gpu_takes_device_pointers() {
    if env::var_os("WARPMP_REQUIRE_GPU").is_none_or(|value| value != "1") {
        eprintln!("skipped: WARPMP_REQUIRE_GPU is not 1");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("interface");
    compiled(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interface.c"), &binary, &[], &["-lpthread"]);
    let output = Command::new(binary).arg("cuda").output().unwrap();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
}

/// The program of the book.
#[test]
fn the_books_program() {
    let folder = tempfile::tempdir().unwrap();
    let page = fs::read_to_string(repository().join("book/src/c.md")).unwrap();
    let (_, program) = page.split_once("```c\n").unwrap();
    let [source, binary] = ["book.c", "book"].map(|name| folder.path().join(name));
    fs::write(&source, program.split_once("```").unwrap().0).unwrap();
    compiled(&source, &binary, &[], &[]);
    assert_eq!(text(&run(&mut Command::new(binary)).stdout), "21 55\n");
}

/// `install` puts the header, the libraries and a file for `pkg-config` where programs find them.
#[test]
fn an_installed_library() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("prefix");
    let output = Command::new(repository().join("crates/capi/install"))
        .arg(&prefix)
        .env("WARPMP_BUILT", libraries())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    for file in ["include/warpmp.h", "lib/libwarpmp.so", "lib/libwarpmp.a"] {
        assert!(prefix.join(file).is_file(), "{file}");
    }
    if !exists("pkg-config") {
        eprintln!("skipped: pkg-config is not here");
        return;
    }
    let ask = |options: &[&str]| {
        let output = Command::new("pkg-config")
            .args(options)
            .arg("warpmp")
            .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).trim().to_owned()
    };
    assert_eq!(ask(&["--modversion"]), env!("CARGO_PKG_VERSION"));
    assert!(ask(&["--static", "--libs"]).contains("-ldl"));
    let (source, program) = (repository().join("crates/capi/tests/version.c"), folder.path().join("program"));
    // A shell reads the flags, as it does where people write $(pkg-config ...).
    let flags = ask(&["--cflags", "--libs"]);
    let line = format!("cc -Wall -Werror -o '{}' '{}' {flags}", program.display(), source.display());
    let output = Command::new("sh").args(["-c", &line]).output().unwrap();
    assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    let output = run(Command::new(program).env("LD_LIBRARY_PATH", prefix.join("lib")));
    assert_eq!(text(&output.stdout).trim(), env!("CARGO_PKG_VERSION"));
}

/// A C++ program includes the header, and the static library links.
#[test]
fn other_ways_to_link() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("version.cpp");
    fs::write(&source, "#include <cstdio>\n#include <warpmp.h>\nint main() { std::puts(warpmp_version()); }\n")
        .unwrap();
    for (compiler, language) in [("cc", "c"), ("c++", "c++")] {
        if !exists(compiler) {
            eprintln!("skipped: {compiler} is not here");
            continue;
        }
        let source = if language == "c" { repository().join("crates/capi/tests/version.c") } else { source.clone() };
        let program = folder.path().join(language);
        let output = Command::new(compiler)
            .args(["-Wall", "-Wextra", "-Werror", "-I"])
            .arg(repository().join("crates/capi/include"))
            .arg(source)
            .arg(libraries().join("libwarpmp.a"))
            .args(["-lpthread", "-ldl", "-lm", "-o"])
            .arg(&program)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(text(&run(&mut Command::new(program)).stdout).trim(), env!("CARGO_PKG_VERSION"));
    }
}
