//! Every relative link in the documents leads to a file or a folder of the repository, and to a heading in it;
//! the book's contents name every chapter.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fs;
use std::path::{Path, PathBuf};

/// Markdown files under `folder`, but not in hidden folders or among build products.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !name.starts_with('.') && !name.starts_with("target") {
                documents(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// The targets of the links `[text](target)` in a document, with their lines; not those in code.
fn links(document: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut code = false;
    for (number, line) in (1..).zip(document.lines()) {
        code ^= line.trim_start().starts_with("```");
        if !code {
            let ends = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            found.extend(ends.map(|(target, _)| (number, target)));
        }
    }
    found
}

/// Does the link lead anywhere? Addresses in the net are not followed.
fn leads_somewhere(document: &Path, target: &str) -> bool {
    if target.contains("://") {
        return true;
    }
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() { document.to_path_buf() } else { document.with_file_name(path) };
    if heading.is_empty() || file.extension().is_none_or(|extension| extension != "md") {
        return file.exists();
    }
    fs::read_to_string(file).is_ok_and(|text| headings(&text).any(|found| found == heading))
}

/// The anchors of a document's headings, as GitHub and mdBook make them.
fn headings(document: &str) -> impl Iterator<Item = String> {
    let heads = document.lines().filter(|line| line.starts_with('#'));
    heads.map(|line| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

#[test]
fn relative_links_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut files = Vec::new();
    documents(&root, &mut files);
    let mut count = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for (line, target) in links(&text) {
            assert!(leads_somewhere(&file, target), "{}:{line}: {target} does not exist", file.display());
            count += 1;
        }
    }
    assert!(count > 20, "{count} links: the documents were not found");
}

#[test]
fn the_contents_name_every_chapter() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src").canonicalize().unwrap();
    let contents = fs::read_to_string(book.join("SUMMARY.md")).unwrap();
    let named: Vec<&str> = links(&contents).into_iter().map(|(_, target)| target).collect();
    let mut chapters = Vec::new();
    documents(&book, &mut chapters);
    assert!(chapters.len() > 2, "the book was not found");
    for chapter in chapters {
        let name = chapter.strip_prefix(&book).unwrap().to_str().unwrap();
        assert!(name == "SUMMARY.md" || named.contains(&name), "SUMMARY.md does not name {name}");
    }
}

#[test]
fn links_are_found_outside_of_code() {
    let text = "[a](b.md) and ([c](d#e))\n```\n[f](g)\n```\n[h](i)";
    assert_eq!(links(text), [(1, "b.md"), (1, "d#e"), (5, "i")]);
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    assert!(leads_somewhere(&here, "src/lib.rs#L1") && leads_somewhere(&here, "https://example.org"));
    assert!(!leads_somewhere(&here, "src/nothing.rs"));
    let readme = here.with_file_name("../../README.md");
    assert!(leads_somewhere(&readme, "#install") && leads_somewhere(&readme, "README.md#how-fast"));
    assert!(!leads_somewhere(&readme, "#nowhere"));
}
