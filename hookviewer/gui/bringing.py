"""Bringing inputs into the window: asked for, dropped, pasted, made by hand, or next in their folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from PySide6.QtCore import QMimeData, QObject
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog, QWidget

from hookviewer.errors import HookViewerError
from hookviewer.gui import dropping, recent
from hookviewer.gui.arguments_dialog import ArgumentsDialog
from hookviewer.gui.dialogs import ShapeDialog
from hookviewer.gui.recipe_dialog import RecipeDialog
from hookviewer.gui.runner import Job
from hookviewer.gui.session import Session
from hookviewer.gui.state import InputItem, Message, Offer
from hookviewer.inputs import entries, guess, in_folder, picture_input, suffixes
from hookviewer.inputs.places import file_and_options
from hookviewer.leaves import input_leaves

if TYPE_CHECKING:
    from hookviewer.gui.opening import Opening


class Bringing(QObject):
    """What ends in `session.open_inputs`, and what a drop or a paste does."""

    def __init__(self, session: Session, opening: Opening, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._opening, self._window = session, opening, window
        self._numbers: frozenset[int] = frozenset()
        session.inputs_changed.connect(self._on_inputs_changed)
        session.arguments_asked.connect(self.ask_arguments)
        session.recipe_asked.connect(self.ask_recipe)
        session.shape_asked.connect(self.ask_other_shape)

    def _on_inputs_changed(self) -> None:
        """Remember what came new, where it can be opened again."""
        items = self._session.inputs
        for item in items:
            if item.number not in self._numbers and item.input.spec:
                recent.remember_input(_lasting(item))
        self._numbers = frozenset(item.number for item in items)

    # -- asking ---------------------------------------------------------------------------------------------

    def ask_inputs(self) -> None:
        """Ask for pictures and arrays."""
        ends = " ".join(f"*{end}" for end in sorted(suffixes()))
        words = self.tr("Pictures and arrays ({});;All files (*)").format(ends)
        paths, _ = QFileDialog.getOpenFileNames(self._window, self.tr("Add input"), "", words)
        if paths:
            self.add([Path(path) for path in paths])

    def ask_folder(self) -> None:
        """Ask for a folder of pictures and arrays."""
        path = QFileDialog.getExistingDirectory(self._window, self.tr("Add a folder of inputs"), "")
        if path:
            self.add_folder(Path(path))

    def ask_shape(self, kind: str) -> None:
        """Ask for the shape of a generated input; a guess stands there already."""
        shape, reason = "1x3x224x224", ""
        try:
            given = guess(self._session.model) if self._session.model is not None else None
        except HookViewerError as error:
            given, reason = None, str(error)
        found = input_leaves(given.args, given.kwargs) if given is not None else []
        if given is not None and found:
            shape = "x".join(str(size) for size in found[0][1].shape)
            reason = " ".join(given.notes)
        dialog = ShapeDialog(kind, shape, reason, self._window)
        dialog.chosen.connect(lambda spec: self._session.open_inputs([spec]))
        dialog.open()

    def ask_other_shape(self, number: int) -> None:
        """Ask for another shape of a generated input and put that in its place."""
        given = self._session.item(number).input
        kind, _, rest = given.spec.partition(":")
        reason = self.tr("The model did not take it: the code says which sizes fit.")
        dialog = ShapeDialog(kind, rest.partition("?")[0], reason, self._window)
        dialog.chosen.connect(lambda spec: self._session.exchange_input(number, spec))
        dialog.open()

    def ask_arguments(self) -> None:
        """Ask for every argument of the model's `forward`."""
        if self._session.model is None:
            return
        dialog = ArgumentsDialog(self._session.model, self._window)
        dialog.chosen.connect(lambda spec: self._session.open_inputs([spec]))
        dialog.open()

    def ask_recipe(self) -> RecipeDialog | None:
        """Show how pictures are prepared for the model, to change it."""
        if self._session.model is None:
            return None
        try:
            dialog = RecipeDialog(self._session, self._opening.recipes, self._window)
        except HookViewerError as error:  # the model takes no pictures
            self._session.tell(Message("info", self.tr("There is nothing to prepare."), str(error)))
            return None
        dialog.show()
        return dialog

    # -- adding ---------------------------------------------------------------------------------------------

    def add(self, paths: Sequence[Path]) -> None:
        """Add files: the first few ticked, the others in the list."""
        specs = [str(path) for path in paths]
        self._session.open_inputs(specs[: dropping.FIRST_OF_A_FOLDER])
        if len(specs) > dropping.FIRST_OF_A_FOLDER:
            self._session.open_inputs(specs[dropping.FIRST_OF_A_FOLDER :], ticked=False)
            what = self.tr("{} of {} inputs are ticked.").format(dropping.FIRST_OF_A_FOLDER, len(specs))
            every = Offer(self.tr("Tick all"), partial(self._session.tick_inputs, True))
            now = self.tr("Tick others in the list, or all of them.")
            self._session.tell(Message("info", what, now, offers=(every,)))

    def add_folder(self, folder: Path) -> None:
        """Add the pictures and arrays in a folder, in the order of their names."""
        try:
            found = in_folder(folder)
        except HookViewerError as error:
            self._session.tell(Message("error", self.tr("Nothing added."), str(error)))
            return
        if not found:
            what = self.tr("{} holds no pictures and no arrays.").format(folder.name)
            self._session.tell(Message("warn", what, self.tr("Choose another folder.")))
        self.add([Path(path) for path in found[: dropping.MOST_OF_A_FOLDER]])
        if len(found) > dropping.MOST_OF_A_FOLDER:
            what = self.tr("{} has {} files.").format(folder.name, len(found))
            now = self.tr("The first {} are in the list.").format(dropping.MOST_OF_A_FOLDER)
            self._session.tell(Message("warn", what, now))

    def step_in_folder(self, step: int) -> None:
        """Put the next or previous file of its folder into the place of the current input."""
        item = self._session.current_input
        path = _file_of(item) if item is not None else None
        if item is None or path is None:
            what = self.tr("This input comes from no file.")
            self._session.tell(Message("info", what, self.tr("Add one from a folder to step through it.")))
            return
        try:
            found = in_folder(path.parent)
        except HookViewerError as error:
            self._session.tell(Message("error", self.tr("Not exchanged."), str(error)))
            return
        place = found.index(str(path)) if str(path) in found else -1
        after = min(max(place + step, 0), len(found) - 1)
        if found and after != place:
            self._session.exchange_input(item.listed, found[after])
        else:
            end = self.tr("last") if step > 0 else self.tr("first")
            self._session.tell(Message("info", self.tr("{} is the {} in its folder.").format(path.name, end)))

    # -- dropping and pasting -------------------------------------------------------------------------------

    def drop(self, dropped: dropping.Dropped) -> None:
        """Do with dropped files what the drop zone said."""
        if dropped.models or dropped.projects:
            self._opening.open_path((*dropped.models, *dropped.projects)[0])
        elif dropped.weights:
            self._drop_tensors(dropped.weights[0])
        elif dropped.inputs and self._session.model is not None:
            self.add(dropped.inputs)
        else:
            head, text, error = dropping.words(dropped, self._model_name())
            self._session.tell(Message("warn", head, f"{text} {error}".strip()))

    def _drop_tensors(self, path: Path) -> None:
        """Load weights; a file with one tensor in it is an input."""

        def work(job: Job) -> bool:
            try:
                return len(entries(path)) == 1
            except HookViewerError:  # loading it as weights says what is wrong with it
                return False

        def told(one_tensor: bool) -> None:
            if one_tensor and self._session.model is not None:
                self.add([path])
            else:
                self._opening.load_weights(path)

        self._session.runner.submit("drop", work, on_result=told)

    def paste(self) -> None:
        """Open what is on the clipboard: files, a picture, or the name of an input."""
        data = QGuiApplication.clipboard().mimeData()
        paths = dropping.files_of(data)
        text = data.text().strip() if data.hasText() else ""
        if not paths and text and "\n" not in text and _is_there(text):
            paths = [Path(text).expanduser()]
        if paths:
            self.drop(dropping.sorted_files(paths))
        elif data.hasImage():
            self._paste_picture(data)
        elif text and "\n" not in text and len(text) < 500 and self._session.model is not None:
            self._session.open_inputs([text])
        else:
            what = self.tr("There is nothing to paste.")
            now = self.tr("Copy a picture, a file, or a line such as random:1x3x64x64.")
            self._session.tell(Message("info", what, now))

    def _paste_picture(self, data: QMimeData) -> None:
        image = QGuiApplication.clipboard().image()
        model = self._session.model
        if model is None or image.isNull():
            self._session.tell(
                Message("info", self.tr("Open a model first."), self.tr("Then paste the picture."))
            )
            return
        made = partial(picture_input, self.tr("pasted picture"), _to_pillow(image), model)
        self._session.runner.submit(
            "paste", lambda job: made(), on_result=lambda given: self._session.add_inputs([given])
        )

    def _model_name(self) -> str:
        return self._session.card.name if self._session.card is not None else ""


def _file_of(item: InputItem) -> Path | None:
    spec = item.input.spec
    if not spec or spec.startswith(("demo:", "args:", "random:", "ones:", "constant:", "values:")):
        return None
    try:
        return file_and_options(spec)[0].absolute()
    except HookViewerError:
        return None


def _lasting(item: InputItem) -> str:
    """Return a spec that names the same input from every folder."""
    path, (_, mark, options) = _file_of(item), item.input.spec.partition("?")
    return item.input.spec if path is None else f"{path}{mark}{options}"


def _is_there(text: str) -> bool:
    try:
        return Path(text).expanduser().exists()
    except (OSError, ValueError, RuntimeError):
        return False


def _to_pillow(image: QImage) -> Image.Image:
    """Return an own Pillow picture with the pixels of a Qt image."""
    plain = image.convertToFormat(QImage.Format.Format_RGBA8888)
    size = (plain.width(), plain.height())
    rows = bytes(plain.constBits())
    return Image.frombuffer("RGBA", size, rows, "raw", "RGBA", plain.bytesPerLine(), 1).copy()
