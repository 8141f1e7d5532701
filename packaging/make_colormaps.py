"""Make resources/colormaps.npz: 256 RGB colours of every colour map, as window and export use them.

Run with `python packaging/make_colormaps.py`. The maps come from the tables that pyqtgraph ships
(matplotlib's, CC0; Peter Kovesi's CET maps, CC BY 4.0). `ember` is hookviewer's own: the stops of
resources/theme.json, joined in OKLab (Björn Ottosson, https://bottosson.github.io/posts/oklab/).
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyqtgraph.colors

Colours = npt.NDArray[np.float64]

TABLES = Path(pyqtgraph.colors.__path__[0]) / "maps"
RESOURCES = Path(__file__).resolve().parent.parent / "resources"
SHIPPED = ("magma", "viridis", "inferno", "cividis", "CET-D1A", "turbo")
TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def shipped(name: str) -> Colours:
    """Return a table of pyqtgraph as 256 colours, 0 to 1."""
    lines = (TABLES / f"{name}.csv").read_text().splitlines()
    rows = [line.split(",")[-3:] for line in lines if line and line[0] not in "#;"]
    colours = np.array(rows, np.float64)
    return resampled(np.linspace(0, 1, len(colours)), colours)


def resampled(places: Colours, colours: Colours) -> Colours:
    """Return 256 colours between the given ones, component by component."""
    steps = np.linspace(0, 1, 256)
    return np.stack([np.interp(steps, places, component) for component in colours.T], axis=1)


def ember() -> Colours:
    """Return the diverging map of gradients and differences, 0 to 1."""
    theme = json.loads((RESOURCES / "theme.json").read_text(encoding="utf-8"))["colormaps"]["ember"]
    places = np.array([place for place, _ in theme])
    stops = np.array([[int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)] for _, code in theme])
    return from_oklab(resampled(places, to_oklab(stops)))


def to_oklab(colours: Colours) -> Colours:
    """Return sRGB colours [N, 3] in OKLab."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.cbrt(linear @ TO_LMS.T) @ TO_LAB.T)


def from_oklab(colours: Colours) -> Colours:
    """Return OKLab colours [N, 3] in sRGB, held to 0 … 1."""
    cones = (colours @ np.linalg.inv(TO_LAB).T) ** 3
    linear = np.clip(cones @ np.linalg.inv(TO_LMS).T, 0, 1)
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)


def main() -> None:
    """Write the tables."""
    tables = {name: shipped(name) for name in SHIPPED}
    tables["ember"] = ember()
    tables["gray"] = np.repeat(np.linspace(0, 1, 256)[:, None], 3, axis=1)
    np.savez_compressed(
        RESOURCES / "colormaps.npz",
        **{name: np.round(table * 255).astype(np.uint8) for name, table in tables.items()},
    )


if __name__ == "__main__":
    main()
