"""Small pictures of inputs: the photograph that the net saw, or the values of a tensor in grey."""

from __future__ import annotations

import numpy as np
import torch
from PIL import Image, ImageOps
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter, QPainterPath, QPixmap

from hookviewer import arrays, render
from hookviewer.gui.remembered import remembered
from hookviewer.inputs import Input
from hookviewer.leaves import input_leaves
from hookviewer.recording import readable

WIDTH, HEIGHT = 60, 40


def picture_of(given: Input) -> Image.Image | None:
    """Return the picture of an input; None where there is none to draw (a scalar, an empty tensor)."""
    if given.image is not None:
        return given.image
    return _grey_of(given)


@remembered(1)
def _grey_of(given: Input) -> Image.Image | None:
    tensors = [tensor for _, tensor in input_leaves(given.args, given.kwargs)]
    return _grey(tensors[0]) if tensors and tensors[0].numel() else None


def _grey(tensor: torch.Tensor) -> Image.Image:
    values = np.asarray(readable(tensor.detach().cpu()), dtype=np.float64)
    while values.ndim > 2:
        values = values[0] if values.ndim > 3 or values.shape[0] not in (3,) else values.mean(axis=0)
    values = np.atleast_2d(values)
    rgba = render.to_rgba(values, arrays.levels(values, "full"), "gray")
    return Image.fromarray(np.ascontiguousarray(rgba[..., :3]))


def thumbnail(picture: Image.Image, width: int = WIDTH, height: int = HEIGHT, radius: float = 4) -> QPixmap:
    """Return a picture cut to `width` × `height` device-independent pixels, with rounded corners."""
    screen = QGuiApplication.primaryScreen()
    ratio = screen.devicePixelRatio() if screen is not None else 1.0
    box = (max(round(width * ratio), 1), max(round(height * ratio), 1))
    grows = picture.width < box[0] or picture.height < box[1]
    way = Image.Resampling.NEAREST if grows else Image.Resampling.LANCZOS
    small = ImageOps.fit(picture.convert("RGB"), box, way)
    return rounded(to_image(small), radius * ratio, ratio)


def to_image(picture: Image.Image) -> QImage:
    """Return a Pillow picture as an own Qt image."""
    rgba = picture.convert("RGBA")
    image = QImage(rgba.tobytes(), rgba.width, rgba.height, rgba.width * 4, QImage.Format.Format_RGBA8888)
    return image.copy()


def rounded(image: QImage, radius: float, ratio: float) -> QPixmap:
    """Return an image with rounded corners, `radius` in its own pixels."""
    made = QPixmap(image.size())
    made.fill(Qt.GlobalColor.transparent)
    path = QPainterPath()
    path.addRoundedRect(QRectF(0, 0, image.width(), image.height()), radius, radius)
    painter = QPainter(made)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setClipPath(path)
    painter.drawImage(0, 0, image)
    painter.end()
    made.setDevicePixelRatio(ratio)
    return made
