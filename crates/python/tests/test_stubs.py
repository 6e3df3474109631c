"""The stubs say what the extension module has, and the documented names are there."""

import ast
import inspect
from importlib import resources

import tandem
from tandem import _native

STUBS = ast.parse(resources.files("tandem").joinpath("_native.pyi").read_text())


def parameters(function):
    return [one.arg for one in function.args.args if one.arg != "self"]


def test_every_function_is_in_the_stubs_with_its_parameters():
    stubs = {one.name: parameters(one) for one in STUBS.body if isinstance(one, ast.FunctionDef)}
    real = {name: one for name, one in vars(_native).items() if inspect.isbuiltin(one)}
    assert stubs == {name: list(inspect.signature(one).parameters) for name, one in real.items()}


def test_every_class_is_in_the_stubs_with_its_members():
    stubs = {
        one.name: {inner.name for inner in one.body if isinstance(inner, ast.FunctionDef)}
        for one in STUBS.body
        if isinstance(one, ast.ClassDef) and not one.name.startswith("_")
    }
    real = {name: one for name, one in vars(_native).items() if inspect.isclass(one)}
    assert stubs.keys() == real.keys()
    for name, members in stubs.items():
        own = {member for member in vars(real[name]) if not member.startswith("__")}
        assert members - {"__init__"} == own, name


def test_the_package_is_typed_and_exports_what_it_documents():
    assert resources.files("tandem").joinpath("py.typed").is_file()
    assert all(inspect.getdoc(getattr(tandem, name)) for name in tandem.__all__ if name != "__version__")
    assert tandem.BadInput.__module__ == "tandem"


def test_a_package_shows_its_names_and_its_version(program):
    shown = {name for name in dir(tandem) if not name.startswith("__")}
    assert shown == set(tandem.__all__) - {"__version__"}
    assert program.run("--version").stdout.split()[1] == tandem.__version__
