"""The stubs say what the native half has."""

import ast
import pathlib

import warpmp
from warpmp import _native


def test_stubs():
    stub = pathlib.Path(warpmp.__file__).with_name("_native.pyi")
    tree = ast.parse(stub.read_text())
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    (batch,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    methods = {node.name for node in batch.body if isinstance(node, ast.FunctionDef)}
    native = {name for name in dir(_native) if not name.startswith("_")}
    assert functions | {"Batch"} == native
    plain = {name for name in vars(_native.Batch) if not name.startswith("__")}
    assert {name for name in methods if not name.startswith("__")} == plain
    assert stub.with_name("py.typed").exists()


def test_names():
    assert all(hasattr(warpmp, name) for name in warpmp.__all__)
    words = dict(_native.statuses())
    assert sorted(words) == [status.value for status in warpmp.Status]
