//! Every relative link in the documents leads to a file or a folder of the repository, and to a heading in it;
//! the book's contents and its introduction name every chapter, and its links and pictures stay within the book.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

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

/// The pages of this repository in the net.
const PAGES: [&str; 2] = ["https://github.com/warpmp/warpmp/blob/main/", "https://github.com/warpmp/warpmp/tree/main/"];

/// Does the link lead anywhere? Of addresses in the net only this repository's own are followed, into the repository.
fn leads_somewhere(document: &Path, target: &str) -> bool {
    if let Some(path) = PAGES.iter().find_map(|page| target.strip_prefix(page)) {
        return leads_somewhere(&repository().join("README.md"), path);
    }
    // Paths of items are for rustdoc to follow.
    if target.contains("://") || target.contains("::") {
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
    let mut files = Vec::new();
    documents(&repository(), &mut files);
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
fn contents_and_introduction_name_every_chapter() {
    let book = repository().join("book/src");
    let mut chapters = Vec::new();
    documents(&book, &mut chapters);
    assert!(chapters.len() > 2, "the book was not found");
    for list in ["SUMMARY.md", "introduction.md"] {
        let text = fs::read_to_string(book.join(list)).unwrap();
        let named: Vec<&str> = links(&text).into_iter().map(|(_, target)| target).collect();
        for chapter in &chapters {
            let name = chapter.strip_prefix(&book).unwrap().to_str().unwrap();
            let is_list = matches!(name, "SUMMARY.md" | "introduction.md");
            assert!(is_list || named.contains(&name), "{list} does not name {name}");
        }
    }
}

/// A site made of the book has no other files: what is elsewhere in the repository is linked by its address in the net.
#[test]
fn links_of_the_book_stay_in_the_book() {
    let mut chapters = Vec::new();
    documents(&repository().join("book/src"), &mut chapters);
    for chapter in chapters {
        for (line, target) in links(&fs::read_to_string(&chapter).unwrap()) {
            assert!(!target.starts_with(".."), "{}:{line}: {target} is not in the book", chapter.display());
        }
    }
}

/// The book's pictures are copies of stored results.
#[test]
fn pictures_of_the_book_are_stored_results() {
    let mut results = Vec::new();
    for folder in fs::read_dir(repository().join("docs/results")).unwrap() {
        results.push(folder.unwrap().path());
    }
    let mut count = 0;
    for picture in fs::read_dir(repository().join("book/src/images")).unwrap() {
        let picture = picture.unwrap();
        let bytes = fs::read(picture.path()).unwrap();
        let stored =
            results.iter().any(|folder| fs::read(folder.join(picture.file_name())).is_ok_and(|it| it == bytes));
        assert!(stored, "{}: no stored result is this picture", picture.path().display());
        count += 1;
    }
    assert!(count > 2, "the pictures were not found");
}

#[test]
fn links_are_found_outside_of_code() {
    let text = "[a](b.md) and ([c](d#e))\n```\n[f](g)\n```\n[h](i)";
    assert_eq!(links(text), [(1, "b.md"), (1, "d#e"), (5, "i")]);
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    assert!(leads_somewhere(&here, "src/lib.rs#L1") && leads_somewhere(&here, "https://example.org"));
    let page = |path| format!("{}{path}", PAGES[0]);
    assert!(leads_somewhere(&here, &page("DESIGN.md#carries")) && !leads_somewhere(&here, &page("nothing.md")));
    assert!(!leads_somewhere(&here, "src/nothing.rs"));
    let readme = here.with_file_name("../../README.md");
    assert!(leads_somewhere(&readme, "#install") && leads_somewhere(&readme, "README.md#how-fast"));
    assert!(!leads_somewhere(&readme, "#nowhere"));
}
