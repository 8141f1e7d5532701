"""The models in a folder of Python files, found by reading the files without importing any."""

from __future__ import annotations

import ast
import dataclasses
import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from hookviewer.sources.candidates import MODULES
from hookviewer.sources.wording import shown

LARGEST = 1 << 20
"""Bytes of the largest file that is read."""

FILES = 5_000
"""Files that are read at most."""

SKIPPED = frozenset(
    ("venv", "env", "node_modules", "__pycache__", "site-packages", "build", "dist", "third_party", "wandb")
)
"""Folders that hold no code of the project's own; those with a dot in front are skipped as well."""

_MODEL_WORDS = frozenset(("model", "net", "network", "backbone", "encoder", "decoder", "classifier"))


@dataclasses.dataclass(frozen=True)
class Argument:
    """An argument of a class or function; `default` is its text, `None` where one must be given."""

    name: str
    default: str | None = None


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A class or function that makes a model. `spec` opens it. `part` is true where another class uses it."""

    file: Path
    name: str
    kind: str
    line: int
    arguments: tuple[Argument, ...]
    part: bool = False

    @property
    def spec(self) -> str:
        """What `open_model` takes."""
        return f"{self.file}:{self.name}"

    @property
    def required(self) -> tuple[str, ...]:
        """The arguments that must be given."""
        return tuple(one.name for one in self.arguments if one.default is None)

    @property
    def signature(self) -> str:
        """The call as it is written in the file: `Net(width, depth=2)`."""
        words = (one.name if one.default is None else f"{one.name}={one.default}" for one in self.arguments)
        return f"{self.name}({', '.join(words)})"


@dataclasses.dataclass(frozen=True)
class _Parsed:
    file: Path
    tree: ast.Module

    def classes(self) -> list[ast.ClassDef]:
        return [node for node in self.tree.body if isinstance(node, ast.ClassDef)]

    def functions(self) -> list[ast.FunctionDef]:
        return [node for node in self.tree.body if isinstance(node, ast.FunctionDef)]


def scan(folder: str | Path) -> tuple[Candidate, ...]:
    """Return what makes a model in a folder of Python files, or in one, whole networks before their parts.

    Nothing is imported. Files of more than a megabyte, and folders such as `.git`, `venv` and
    `node_modules`, are skipped, and so are files that do not parse.
    """
    parsed = [one for path in _files(Path(folder)) if (one := _parsed(path)) is not None]
    modules = _module_names(parsed)
    used = {name for one in parsed for node in one.classes() for name in _called_in(node)}
    found = [*_classes(parsed, modules, used), *_functions(parsed, modules)]
    return tuple(sorted(found, key=lambda one: (one.part, str(one.file), one.line)))


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_file():
        yield folder
    left = FILES
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _skipped(Path(place) / name))
        for name in sorted(names):
            path = Path(place) / name
            if not name.endswith(".py") or not path.is_file() or path.stat().st_size > LARGEST:
                continue
            left -= 1
            if left < 0:
                return
            yield path


def _skipped(folder: Path) -> bool:
    hidden = folder.name.startswith(".") or folder.name in SKIPPED
    return hidden or folder.is_symlink() or (folder / "pyvenv.cfg").exists()


def _parsed(path: Path) -> _Parsed | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the user's own string escapes
            return _Parsed(path, ast.parse(path.read_bytes()))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _module_names(parsed: Sequence[_Parsed]) -> frozenset[str]:
    """Return the names of all classes that are modules, over as many steps as they inherit each other."""
    bases = {node.name: set(map(_base, node.bases)) for one in parsed for node in one.classes()}
    known: set[str] = set(MODULES)
    while more := {name for name, above in bases.items() if above & known} - known:
        known |= more
    return frozenset(known - set(MODULES)) & frozenset(bases)


def _base(node: ast.expr) -> str:
    """Return the last name of a base class; whatever is in `nn` is a module."""
    inside_nn = isinstance(node, ast.Attribute) and _last(node.value) == "nn"
    return "Module" if inside_nn else _last(node)


def _last(node: ast.expr) -> str:
    """Return the last name of `torch.nn.Module`, also in `Base[int]`."""
    if isinstance(node, ast.Subscript):
        return _last(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _called_in(node: ast.AST) -> set[str]:
    return {_last(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}


def _classes(parsed: Sequence[_Parsed], modules: frozenset[str], used: set[str]) -> Iterator[Candidate]:
    made = {node.name: node for one in parsed for node in one.classes()}
    for one in parsed:
        for node in one.classes():
            if node.name in modules:
                arguments = _constructor(node, made, frozenset())
                yield Candidate(one.file, node.name, "class", node.lineno, arguments, node.name in used)


def _constructor(
    node: ast.ClassDef, made: dict[str, ast.ClassDef], seen: frozenset[str]
) -> tuple[Argument, ...]:
    """Return the arguments of the class's own `__init__`, or of the one that it inherits."""
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            return _arguments(one.args)[1:]
    for base in map(_last, node.bases):
        if base in made and base not in seen and base != node.name:
            return _constructor(made[base], made, seen | {node.name})
    return ()


def _functions(parsed: Sequence[_Parsed], modules: frozenset[str]) -> Iterator[Candidate]:
    for one in parsed:
        for node in one.functions():
            if not node.name.startswith("_") and _makes_model(node, modules):
                yield Candidate(one.file, node.name, "function", node.lineno, _arguments(node.args))


def _makes_model(node: ast.FunctionDef, modules: frozenset[str]) -> bool:
    """Whether a function says that it returns a module, or returns what it has built of one."""
    if node.returns is not None and _last(node.returns) in modules | MODULES:
        return True
    makes = {"", *modules, *MODULES}
    built = {
        target.id
        for one in ast.walk(node)
        if isinstance(one, ast.Assign)
        and isinstance(one.value, ast.Call)
        and _last(one.value.func) in makes - {""}
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    returned = [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value is not None]
    firsts = [one.elts[0] if isinstance(one, ast.Tuple) and one.elts else one for one in returned]
    direct = any(isinstance(one, ast.Call) and _last(one.func) in makes - {""} for one in firsts)
    named = any(isinstance(one, ast.Name) and (one.id in built or one.id in _MODEL_WORDS) for one in firsts)
    return direct or named


def _arguments(found: ast.arguments) -> tuple[Argument, ...]:
    positional = [*found.posonlyargs, *found.args]
    without = len(positional) - len(found.defaults)
    texts = [None] * without + [_text(one) for one in found.defaults]
    keywords = [None if one is None else _text(one) for one in found.kw_defaults]
    pairs = [*zip(positional, texts, strict=True), *zip(found.kwonlyargs, keywords, strict=True)]
    return tuple(Argument(one.arg, text) for one, text in pairs)


def _text(node: ast.expr) -> str:
    return shown(ast.unparse(node), 60)
