"""The programs and tables of the documents."""

import pathlib
import re

import pytest
import warpmp as wp

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHAPTER = (ROOT / "book/src/python.md").read_text()


@pytest.mark.parametrize("document", ["book/src/python.md", "README.md", "crates/python/README.md"])
def test_programs(document):
    programs = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert programs
    names = {}
    for program in programs:
        exec(compile(program, document, "exec"), names)


def expressions():
    section = CHAPTER.split("## From gmpy2 and NumPy")[1].split("\n## ")[0]
    rows = [re.split(r"(?<!\\)\|", row) for row in re.findall(r"^\| `.*\|$", section, re.MULTILINE)]
    return [found for row in rows for found in re.findall(r"`([^`]+)`", row[2].replace("\\|", "|"))]


@pytest.mark.parametrize("expression", expressions())
def test_table(expression):
    a, b, m = wp.array([3**40, 5, 8, 10]), wp.array([4, 5, 6, 3]), wp.array([7, 11, 13, 101])
    assert eval(expression, {"wp": wp}, {"a": a, "b": b, "m": m}) is not None
