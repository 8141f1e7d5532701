"""The dialog for every target there is: its kinds, what each needs, and what it comes to on the last run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QComboBox, QDialog, QListWidget, QListWidgetItem, QStackedWidget, QWidget

from hookviewer.errors import HookViewerError
from hookviewer.gui import target_names
from hookviewer.gui.choices import Choice
from hookviewer.gui.dialogs import field
from hookviewer.gui.numbers import number, shape
from hookviewer.gui.parts import button, column, frame, label, row
from hookviewer.gui.session import Session
from hookviewer.gui.state import Guess
from hookviewer.gui.target_classes import class_names
from hookviewer.gui.target_pages import (
    ClassPage,
    LossPage,
    OutputPage,
    Page,
    PlainPage,
    UnitPage,
    VectorPage,
)
from hookviewer.gui.theme import font, scaled
from hookviewer.recording import Recording
from hookviewer.target_choice import TargetChoice, float_leaf

RULES = ("class", "top", "sum", "output", "unit", "loss", "dot", "none")


class TargetDialog(QDialog):
    """Kinds at the left, what the chosen one needs at the right, its sentence and value below."""

    chosen = Signal(object)
    """The `TargetChoice`."""

    def __init__(self, session: Session, parent: QWidget | None = None, *, rule: str = "class") -> None:
        super().__init__(parent)
        self.setObjectName("target_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Target: where gradients start"))
        self._session = session
        item = session.current_input
        self._given = item.input.name if item is not None else ""
        run = session.runs.get(item.number) if item is not None else None
        self._recording = run.recording if run is not None else Recording({})
        self.names = class_names(session)
        self._floats = target_names.float_leaves(self._recording.output)
        self.pages = self._made_pages(run.guesses if run is not None else ())
        self._make_parts()
        self._lay_out()
        self._connect()
        current = session.settings.target
        self.show_choice(current if current.rule not in ("top", "sum", "none") else TargetChoice(rule))
        session.model_changed.connect(self.reject)

    def _made_pages(self, guesses: Sequence[Guess]) -> dict[str, Page]:
        session = self._session
        paths = [node.path for node in session.tree.walk()] if session.tree is not None else []
        selection = session.selection
        return {
            "class": ClassPage(self.names, guesses[:5]),
            "top": PlainPage("top", self.tr("Whichever class scores highest, for each sample its own.")),
            "sum": PlainPage("sum", self.tr("All numbers of the output together.")),
            "output": OutputPage(self._recording.output, self.names),
            "unit": UnitPage(paths, selection.path, selection.channel),
            "loss": LossPage(self.names, guesses[0].index if guesses else 0),
            "dot": VectorPage(),
            "none": PlainPage("none", self.tr("A run is then a forward pass only: faster, and smaller.")),
        }

    def _make_parts(self) -> None:
        titles = {
            "class": self.tr("A class"),
            "top": self.tr("Top class"),
            "sum": self.tr("Sum of the output"),
            "output": self.tr("Part of the output"),
            "unit": self.tr("Unit in a layer"),
            "loss": self.tr("Loss"),
            "dot": self.tr("Vector"),
            "none": self.tr("No gradients"),
        }
        self.kinds = QListWidget()
        self.kinds.setObjectName("class_list")
        self.kinds.setAccessibleName(self.tr("Kinds of target"))
        self.kinds.setFont(font("ui", 12))
        self.kinds.setFixedWidth(scaled(150))
        self.stack = QStackedWidget()
        for rule in RULES:
            item = QListWidgetItem(titles[rule], self.kinds)
            item.setSizeHint(QSize(0, scaled(28)))
            self.stack.addWidget(self.pages[rule])
        self.leaf: QComboBox = Choice("target_leaf", "", self.tr("Tensor of the output"))
        usual = float_leaf(self._recording.output)
        for leaf, tensor in self._floats:
            data = None if leaf == usual else leaf
            self.leaf.addItem(f"{leaf or self.tr('output')}   {shape(tuple(tensor.shape))}", data)
        self.leaf.setCurrentIndex(max(self.leaf.findData(None), 0))
        self.sentence, self.value = label("", "strong"), label("", "second", 12, mono=True)
        for text in (self.sentence, self.value):
            text.setWordWrap(True)
        self.go = button(self.tr("Use it"), "primary")
        self.go.setDefault(True)

    def _lay_out(self) -> None:
        cancel = button(self.tr("Cancel"))
        cancel.clicked.connect(self.reject)
        self._of = field(self.tr("Tensor"), self.leaf, QWidget())
        right = frame(column(self._of, 8, self.stack))
        self.sentence.setFixedHeight(scaled(36))
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.value.setFixedHeight(scaled(34))
        self.value.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.setLayout(
            column(
                row(self.kinds, 8, right),
                *(14, self.sentence, 2, self.value, 8, row(None, cancel, self.go, spacing=8)),
                margins=(20, 18, 20, 18),
            )
        )
        self.resize(scaled(620), scaled(520))

    def _connect(self) -> None:
        self.kinds.currentRowChanged.connect(self._on_kind)
        self.leaf.currentIndexChanged.connect(self._on_leaf)
        for page in self.pages.values():
            page.changed.connect(self.refresh)
            page.accepted.connect(self.accept)
        self.go.clicked.connect(self.accept)

    # -- what stands in it -----------------------------------------------------------------------------------

    @property
    def page(self) -> Page:
        """The page of the kind that is chosen."""
        return self.pages[RULES[max(self.kinds.currentRow(), 0)]]

    def show_choice(self, choice: TargetChoice) -> None:
        """Show a target: its kind, its tensor and what it was told."""
        place = self.leaf.findData(choice.leaf) if choice.rule != "unit" else -1
        if place >= 0:
            self.leaf.setCurrentIndex(place)
        self._on_leaf()
        self.kinds.setCurrentRow(RULES.index(choice.rule))
        if choice == self._session.settings.target:
            self.page.show_choice(choice)
        self.refresh()

    def _on_kind(self) -> None:
        self.stack.setCurrentWidget(self.page)
        self._of.setVisible(self.page.of_a_leaf and self._leaves_matter())
        self.refresh()

    def _leaves_matter(self) -> bool:
        return len(self._floats) > 1 or self.page is self.pages["output"]

    def _on_leaf(self) -> None:
        page, place = self.pages["output"], self.leaf.currentIndex()
        if isinstance(page, OutputPage) and 0 <= place < len(self._floats):
            page.show_leaf(self._floats[place][0])
        self.refresh()

    def choice(self) -> TargetChoice:
        """Return the target as it stands; raise `HookViewerError` for what lacks."""
        made = self.page.choice(self.leaf.currentData())
        if made.rule == "output" and made.leaf is None and self._floats:
            leaf = self._floats[self.leaf.currentIndex()][0]
            made = dataclasses.replace(made, leaf=leaf or None)
        return made

    def refresh(self) -> None:
        """Say what is chosen, and what it comes to."""
        try:
            made = self.choice()
        except HookViewerError as error:
            self._say("", str(error), can=False)
            return
        sentence = target_names.sentence(made, self.names)
        try:
            value = target_names.value_on(made, self._recording) if made.rule != "none" else None
        except HookViewerError as error:
            self._say(sentence, str(error) if self._recording.output is not None else "", can=True)
            return
        said = "" if value is None else self.tr("On {} it is {}.").format(self._given, number(value))
        self._say(sentence, said, can=True)

    def _say(self, sentence: str, value: str, *, can: bool) -> None:
        self.sentence.setText(sentence)
        self.value.setText(value)
        self.go.setEnabled(can)

    def accept(self) -> None:
        self.refresh()
        if self.go.isEnabled():
            self.chosen.emit(self.choice())
            super().accept()
