"""How pictures become inputs of the model, to be changed with the result in sight."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from PIL import Image
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QLabel, QStyledItemDelegate, QWidget

from hookviewer.errors import HookViewerError
from hookviewer.gui import numbers
from hookviewer.gui.dialogs import field, line_edit
from hookviewer.gui.parts import Segmented, button, column, frame, label, row, rule
from hookviewer.gui.recipes import Recipes
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.session import Session
from hookviewer.gui.state import InputItem
from hookviewer.gui.theme import SEMIBOLD, font, scaled
from hookviewer.gui.thumbnails import to_image
from hookviewer.inputs import Preprocess, in_words, needed, pictures_of, prepare, preprocess_for
from hookviewer.inputs.pixels import BACKGROUNDS
from hookviewer.inputs.preprocess import FITS, INTERPOLATIONS, ORDERS, PRESETS, RANGES
from hookviewer.leaves import input_leaves

BOX = (330, 250)
DELAY_MS = 60
CUSTOM = "custom"


class Seen(NamedTuple):
    """A preview: the picture as the model sees it, and its tensor in words."""

    picture: Image.Image
    words: str


class RecipeDialog(QDialog):
    """The steps at the right, what they make of the current picture at the left."""

    def __init__(self, session: Session, recipes: Recipes, parent: QWidget | None = None) -> None:
        assert session.model is not None
        recipe, reason = preprocess_for(session.model)  # before there is a dialog: it may raise
        super().__init__(parent)
        self.setObjectName("recipe_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        name = session.card.name if session.card is not None else ""
        self.setWindowTitle(self.tr("Preprocessing for {}").format(name))
        self._session, self._recipes, self._model = session, recipes, session.model
        self.recipe, self._reason = recipe, reason
        self._later = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._later.timeout.connect(self._ask_preview)
        self._make_fields()
        self._lay_out(name)
        self.show_recipe(self.recipe)
        self._connect()
        self._read()
        session.model_changed.connect(self.close)

    def _make_fields(self) -> None:
        self.extent = line_edit("", self.tr("Size"), self.tr("its own size"))
        self.short_side = line_edit("", self.tr("Short side"), self.tr("as large as it fits"))
        self.fit = Segmented([self.tr("Crop"), self.tr("Pad"), self.tr("Stretch")])
        self.interpolation = self._combo(INTERPOLATIONS)
        self.range = Segmented([self.tr("0 to 1"), self.tr("0 to 255"), self.tr("−1 to 1")])
        self.order = Segmented(["RGB", "BGR"])
        self.preset = self._combo((*PRESETS, CUSTOM))
        self.preset.setObjectName("normalise")
        self.mean, self.std = line_edit("", self.tr("Mean")), line_edit("", self.tr("Deviation"))
        self.grey = QCheckBox(self.tr("Grey: one brightness in place of the colours"))
        self.grey.setFont(font("ui", 12))
        self.background = self._combo(BACKGROUNDS)

    def _combo(self, entries: Any) -> QComboBox:
        made = QComboBox()
        made.addItems(list(entries))
        made.setItemDelegate(QStyledItemDelegate(made))
        made.setFont(font("ui", 12))
        return made

    def _lay_out(self, name: str) -> None:
        self.picture = QLabel()
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setFixedSize(scaled(BOX[0]), scaled(BOX[1]))
        self.picture.setWordWrap(True)
        self.tensor = label("", "second", 11, mono=True)
        self.tensor.setWordWrap(True)
        self.steps = label("", "caption", 11)
        self.steps.setWordWrap(True)
        left = frame(
            column(self.picture, 10, self.tensor, 8, self.steps, None, margins=(20, 20, 20, 20)),
            "exportPreview",
        )
        left.setFixedWidth(scaled(BOX[0] + 40))
        self.problem = label(self._reason[0] if self._reason else "", "caption", 11)
        self.problem.setWordWrap(True)
        self.go, self.own = button(self.tr("Use it"), "primary"), button(self.tr("Model's own"))
        cancel = button(self.tr("Cancel"))
        cancel.clicked.connect(self.reject)
        right = column(
            *(label(self.tr("Preprocessing"), "", 16, weight=SEMIBOLD), 2),
            *(label(self.tr("for {}").format(name), "caption"), 14, self._form(), 10, self.problem, None, 12),
            row(self.own, None, cancel, self.go, spacing=8),
            margins=(24, 20, 24, 20),
        )
        self.setLayout(row(left, frame(right), spacing=0))
        self.setMinimumSize(scaled(830), scaled(560))

    def _form(self) -> QWidget:
        return frame(
            column(
                *(field(self.tr("Size"), self.extent), field(self.tr("How"), self.fit, _rest())),
                *(
                    field(self.tr("Short side"), self.short_side),
                    field(self.tr("Scaling"), self.interpolation),
                ),
                *(4, rule(), 4, field(self.tr("Values"), self.range, _rest())),
                *(field(self.tr("Channels"), self.order, _rest()), field("", self.grey), 4, rule(), 4),
                *(field(self.tr("Normalise"), self.preset), field(self.tr("Mean"), self.mean)),
                *(field(self.tr("Deviation"), self.std), 4, rule(), 4),
                field(self.tr("Behind"), self.background),
                spacing=6,
            )
        )

    def _connect(self) -> None:
        for line in (self.extent, self.short_side, self.mean, self.std):
            line.textEdited.connect(self._read)
        for segments in (self.fit, self.range, self.order):
            segments.changed.connect(self._read)
        for combo in (self.interpolation, self.background):
            combo.currentIndexChanged.connect(self._read)
        self.preset.currentTextChanged.connect(self._on_preset)
        self.grey.toggled.connect(self._read)
        self._session.selection_changed.connect(self._later.start)
        self.go.clicked.connect(self.accept)
        self.own.clicked.connect(self._on_own)

    # -- between the fields and the recipe ------------------------------------------------------------------

    def show_recipe(self, recipe: Preprocess) -> None:
        """Show a recipe in the fields."""
        size = "" if recipe.height is None else f"{recipe.height}×{recipe.width}"
        _fill(self.extent, size)
        _fill(self.short_side, "" if recipe.short_side is None else str(recipe.short_side))
        self.fit.choose(FITS.index(recipe.fit))
        self.interpolation.setCurrentText(recipe.interpolation)
        self.range.choose(list(RANGES).index(recipe.value_range))
        self.order.choose(ORDERS.index(recipe.order))
        self.grey.setChecked(recipe.grey)
        self.background.setCurrentText(recipe.background)
        self._show_numbers(recipe)

    def _show_numbers(self, recipe: Preprocess) -> None:
        self.preset.blockSignals(True)
        self.preset.setCurrentText(recipe.preset)
        self.preset.blockSignals(False)
        _fill(self.mean, _written(recipe.mean))
        _fill(self.std, _written(recipe.std))

    def _on_preset(self, name: str) -> None:
        if name != CUSTOM:
            self._show_numbers(self.recipe.normalised(name))
        self._read()

    def _read(self) -> None:
        try:
            self.recipe = self._written_recipe()
        except HookViewerError as error:
            self._say(str(error), "error")
            self.go.setEnabled(False)
            return
        self.preset.blockSignals(True)
        self.preset.setCurrentText(self.recipe.preset)
        self.preset.blockSignals(False)
        self._say(self._reason[0] if self._reason else "", "caption")
        self.go.setEnabled(True)
        self.steps.setText("\n".join(in_words(self.recipe)))
        self._later.start()

    def _written_recipe(self) -> Preprocess:
        size, short = self.extent.text().strip(), self.short_side.text().strip()
        changes: dict[str, Any] = {
            "size": size.replace("×", "x").replace(" ", "") if size else None,
            "fit": FITS[self.fit.index],
            "interpolation": self.interpolation.currentText(),
            "range": list(RANGES)[self.range.index],
            "order": ORDERS[self.order.index],
            "grey": self.grey.isChecked(),
            "background": self.background.currentText(),
            "mean": _numbers(self.mean.text()),
            "std": _numbers(self.std.text()),
        }
        changed = self.recipe.changed(changes)
        side = Preprocess().changed({"short_side": _whole(short)}).short_side if short else None
        return dataclasses.replace(changed, short_side=side, guessed=False)

    def _say(self, text: str, role: str) -> None:
        self.problem.setText(text)
        self.problem.setProperty("role", role)
        self.problem.style().unpolish(self.problem)
        self.problem.style().polish(self.problem)

    # -- the preview ----------------------------------------------------------------------------------------

    def _ask_preview(self) -> None:
        item, recipe = self._pictured(), self.recipe
        if item is None:
            self.picture.setText(self.tr("Add a picture to see what becomes of it."))
            return

        def work(job: Job) -> Seen:
            return _seen(item, recipe)

        self._session.runner.submit("recipe", work, on_result=self._on_seen, on_failure=self._on_not_seen)

    def _pictured(self) -> InputItem | None:
        """Return the current input where it is a picture, else the first one that is."""
        current = self._session.current_input
        items = [*([current] if current is not None else []), *self._session.inputs]
        return next((item for item in items if item.input.image is not None), None)

    def _on_seen(self, seen: Seen) -> None:
        ratio = self.devicePixelRatioF()
        width, height = round(scaled(BOX[0]) * ratio), round(scaled(BOX[1]) * ratio)
        scale = min(width / seen.picture.width, height / seen.picture.height)
        size = (max(round(seen.picture.width * scale), 1), max(round(seen.picture.height * scale), 1))
        way = Image.Resampling.NEAREST if scale >= 2 else Image.Resampling.LANCZOS
        made = QPixmap.fromImage(to_image(seen.picture.convert("RGB").resize(size, way)))
        made.setDevicePixelRatio(ratio)
        self.picture.setPixmap(made)
        self.tensor.setText(seen.words)

    def _on_not_seen(self, failure: Failure) -> None:
        self.picture.setText(failure.sentence)
        self.tensor.setText("")

    # -- deciding -------------------------------------------------------------------------------------------

    def accept(self) -> None:
        if self.go.isEnabled() and self._session.model is self._model:
            self._recipes.change(self.recipe)
            super().accept()

    def _on_own(self) -> None:
        self._recipes.forget()
        super().accept()


def _seen(item: InputItem, recipe: Preprocess) -> Seen:
    made = prepare(list(pictures_of(item.input, needed(recipe))), recipe)
    tensor = input_leaves(made.args, made.kwargs)[0][1]
    assert made.image is not None
    low, high, mean = float(tensor.min()), float(tensor.max()), float(tensor.mean())
    shape = numbers.shape(tuple(tensor.shape))
    words = f"{shape} {str(tensor.dtype).removeprefix('torch.')}"
    return Seen(
        made.image, f"{words}\n{numbers.number(low)} to {numbers.number(high)}, mean {numbers.number(mean)}"
    )


def _fill(line: Any, text: str) -> None:
    if line.text() != text:
        line.setText(text)


def _written(values: tuple[float, ...] | None) -> str:
    return "" if values is None else ", ".join(f"{value:.6g}" for value in values)


def _numbers(text: str) -> tuple[Any, ...] | None:
    """Return the numbers that are written, or what is written where it is no number: the recipe says so."""
    parts = [part for part in text.replace(",", " ").split() if part]
    return tuple(_number(part) for part in parts) if parts else None


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _whole(text: str) -> Any:
    return int(text) if text.isdecimal() else text


def _rest() -> QWidget:
    made = QWidget()
    made.setMinimumWidth(0)
    return made
