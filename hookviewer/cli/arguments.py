"""What can be written on the command line."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence

from hookviewer import __version__
from hookviewer.kinds import Kind

COMMANDS = ("open", "tree", "capture", "shot")
FORMATS = ("png", "npz")
KINDS = tuple(kind.value for kind in Kind if kind is not Kind.ATTRIBUTION)

MODEL = (
    "demo:NAME, package.module:callable?name=value, file.py:callable, a project folder, "
    "or a program of torch.export (.pt2)"
)
WEIGHTS = (
    ".safetensors, an index of several (.index.json), or .pt, .pth, .ckpt with a state dict; "
    "FILE?allow=missing,unexpected,mismatched loads what fits, FILE?key=NAME chooses one of several"
)
INPUT = (
    "demo:NAME, a picture, a .npy file, random:1x3x224x224, ones:1x3 …; "
    "several may be given, and the option may be repeated"
)

EXAMPLES = """\
hookviewer [MODEL]               opens the window; without MODEL it shows the demo
hookviewer tree MODEL            prints the module tree
hookviewer capture MODEL …       writes what modules return, and their gradients, to files
hookviewer shot MODEL …          writes a picture of the window

examples:
  hookviewer torchvision.models:resnet18 --input photo.jpg
  hookviewer tree demo:mobilenet_v2 --input demo:chelsea
  hookviewer capture net.py:Net --weights net.safetensors --input photo.jpg --layers 'conv*' --out maps
"""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the chosen command as `.run` with its options; `open` is the command when none is written."""
    words = list(arguments)
    if not words or words[0] not in (*COMMANDS, "-h", "--help", "--version"):
        words.insert(0, "open")
    chosen = _parser().parse_args(words)
    if chosen.run is _WRITE and not chosen.inputs and ".py" not in chosen.model:
        chosen.usage("the following arguments are required: --input")  # only a recipe brings its own
    return chosen


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hookviewer",
        description="Look inside PyTorch models: every feature map and every gradient.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"hookviewer {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _open(commands.add_parser("open", help="open the window"))
    _tree(commands.add_parser("tree", help="print the module tree"))
    _capture(commands.add_parser("capture", help="write recorded tensors to files"))
    _shot(commands.add_parser("shot", help="write a picture of the window"))
    return parser


def _model(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    parser.add_argument("model", metavar="MODEL", nargs="?" if optional else None, help=MODEL)
    parser.add_argument("--weights", metavar="FILE", help=WEIGHTS)
    parser.add_argument(
        "--trust", action="store_true", help="a yes to files that can run code when they are loaded"
    )


def _inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--input", dest="inputs", action="extend", nargs="+", default=[], metavar="SPEC", help=INPUT
    )


def _open(parser: argparse.ArgumentParser) -> None:
    _model(parser, optional=True)
    _inputs(parser)
    parser.set_defaults(run=_command("window", "open_window"))


def _tree(parser: argparse.ArgumentParser) -> None:
    _model(parser)
    _inputs(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_command("tree", "print_tree"))


def _capture(parser: argparse.ArgumentParser) -> None:
    _model(parser)
    _inputs(parser)
    parser.add_argument(
        "--layers", action="extend", nargs="+", required=True, metavar="PATTERN",
        help="a path, a glob such as 'features.*', or type:Conv2d; several may be given",
    )  # fmt: skip
    parser.add_argument("--out", required=True, metavar="PLACE", help="a folder, or one .npz file")
    parser.add_argument(
        "--kinds", type=_kinds, default=frozenset({Kind.OUTPUT}), metavar="KIND,…", help=", ".join(KINDS)
    )
    parser.add_argument(
        "--method", dest="methods", action="extend", nargs="+", default=[], metavar="NAME",
        help="in place of --kinds, maps of what speaks for the target: grad_cam, integrated_gradients, … "
        "(a wrong name lists them all)",
    )  # fmt: skip
    parser.add_argument(
        "--target", metavar="WHAT",
        help="where gradients start: top, sum, none, a class or its number, unit:LAYER:CHANNEL, "
        "unit:LAYER:0,CHANNEL,ROW,COLUMN, out['scores'][3], loss:cross_entropy:LABEL, dot:FILE; "
        "'… of [1]' names a tensor of an output of several",
    )  # fmt: skip
    parser.add_argument("--device", metavar="DEVICE", help="cpu, cuda:0, mps (default: where the model is)")
    parser.add_argument("--mode", choices=("eval", "train", "as is"), default="eval")
    parser.add_argument("--seed", type=int, default=0, help="of the run's random numbers (default: 0)")
    parser.add_argument(
        "--format", type=_formats, default=("png",), metavar="FORMAT,…", help=", ".join(FORMATS)
    )
    parser.add_argument("--plain", action="store_true", help="pictures without caption and colour bar")
    parser.add_argument("--force", action="store_true", help="overwrite files that are there")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_WRITE, usage=parser.error)


def _shot(parser: argparse.ArgumentParser) -> None:
    _model(parser)
    _inputs(parser)
    parser.add_argument("--layers", action="extend", nargs="+", default=[], metavar="PATTERN")
    parser.add_argument("--size", type=_size, default=(1440, 900), metavar="WIDTHxHEIGHT")
    parser.add_argument("--theme", choices=("dark", "light"), default="dark")
    parser.add_argument("--out", required=True, metavar="FILE.png")
    parser.set_defaults(run=_command("window", "take_shot"))


def _command(module: str, function: str) -> Callable[[argparse.Namespace], int]:
    """Return the command, which is imported only when it runs: `--help` needs no torch."""

    def run(chosen: argparse.Namespace) -> int:
        command = getattr(importlib.import_module(f"hookviewer.cli.{module}"), function)
        return int(command(chosen))

    return run


_WRITE = _command("capture", "write_capture")


def _kinds(text: str) -> frozenset[Kind]:
    unknown = [word for word in _words(text) if word not in KINDS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is no kind: choose from {', '.join(KINDS)}")
    return frozenset(Kind(word) for word in _words(text))


def _formats(text: str) -> tuple[str, ...]:
    unknown = [word for word in _words(text) if word not in FORMATS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is no format: choose from {', '.join(FORMATS)}")
    return tuple(dict.fromkeys(_words(text)))


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().replace("×", "x").partition("x")
    if not (
        width.isdecimal()
        and height.isdecimal()
        and 320 <= int(width) <= 16384
        and 240 <= int(height) <= 16384
    ):
        raise argparse.ArgumentTypeError(f"{text!r} is no size: write 1440x900")
    return int(width), int(height)
