"""The window of the CKA matrix: which two variants, over which layers, the matrix, and ways to keep it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QFileDialog, QProgressBar, QWidget

from hookviewer.gui import parts
from hookviewer.gui.compare_cka_lane import Asked, csv
from hookviewer.gui.compare_cka_matrix import Matrix
from hookviewer.gui.giving_way import Elided
from hookviewer.gui.keeping_files import write_picture, write_text
from hookviewer.gui.numbers import number
from hookviewer.gui.session import Session
from hookviewer.gui.theme import font, scaled

FEWEST_TICKED = 2
"""With fewer ticked layers, all layers are compared at first."""


class CkaDialog(QDialog):
    """Compares layers of A with layers of B over the ticked inputs; a click opens the two layers."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Layers alike (CKA)"))
        self._session = session
        self.a, self.b, self.layers = QComboBox(), QComboBox(), QComboBox()
        self.unbiased = QCheckBox(self.tr("unbiased"))
        self.unbiased.setToolTip(self.tr("Not too large where inputs are few; it needs 4 inputs or more."))
        self.go, self.stop = parts.button(self.tr("Compute"), "primary"), parts.button(self.tr("Stop"))
        self.progress = QProgressBar()
        self.progress.setRange(0, 1000)
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(4)
        self.matrix = Matrix()
        self.said = Elided(size=12)
        self.note = parts.label("", "second", 11)
        self.note.setWordWrap(True)
        self.copy = parts.button(self.tr("Copy picture"))
        self.picture = parts.button(self.tr("Save picture…"))
        self.table = parts.button(self.tr("Save CSV…"))
        self._lay_out()
        self._connect()
        self._fill()
        self.refresh()
        self.resize(scaled(760), scaled(720))

    @property
    def asked(self) -> Asked:
        """What is chosen."""
        variants = {one.number: one for one in self._session.variants}
        a, b = (variants.get(box.currentData(), self._session.variants[0]) for box in (self.a, self.b))
        paths = self._session.plan.paths if self.layers.currentData() == "ticked" else frozenset[str]()
        return Asked(a, b, paths, self.unbiased.isChecked())

    def refresh(self) -> None:
        """Show what is computed, or how far it is."""
        similar = self._session.similar
        result = similar.result
        self.matrix.show_result(result, self._names())
        self.matrix.say(self._hint())
        self.progress.setVisible(similar.computing)
        self.progress.setValue(round(1000 * similar.share))
        self.go.setVisible(not similar.computing)
        self.stop.setVisible(similar.computing)
        for one in (self.copy, self.picture, self.table):
            one.setEnabled(result is not None)
        self._say(self.matrix.cell)
        inputs = sum(item.ticked for item in self._session.inputs)
        if similar.computing:
            self.note.setText(self.tr("Every ticked input is run once for each of the two."))
        elif result is None:
            words = self.tr("{} inputs are ticked. 1: alike but for a rotation, 0: unrelated.")
            self.note.setText(words.format(inputs))
        else:
            words = self.tr("Over {} inputs.").format(result.inputs)
            self.note.setText(" ".join((words, *result.notes)))

    def _hint(self) -> str:
        """Return what stands in the place of a matrix that is not there."""
        similar = self._session.similar
        if similar.computing:
            return self.tr("Running …")
        return self.tr(
            "Compute compares every layer of A with every layer of B over the ticked inputs. Bright cells "
            "are layers that hold the same, whatever their channels mean. Choose what A and B differ in with "
            "Compare › What columns differ in…; without that a model is compared with itself."
        )

    def _say(self, cell: object) -> None:
        result = self._session.similar.result
        if result is None or not isinstance(cell, tuple):
            self.said.say(self.tr("Point at a cell; a click opens its layers.") if result is not None else "")
            return
        row, column = cell
        names = [keys.path or self.tr("the model") for keys in (result.rows[row], result.columns[column])]
        value = number(float(result.values[row, column]))
        self.said.say(self.tr("{} of A × {} of B: {}").format(*names, value))

    def open_pair(self, row: int, column: int) -> None:
        """Look at the layer of A, and put that of B beside it where the two can differ."""
        session, similar = self._session, self._session.similar
        result, asked = similar.result, similar.asked
        if result is None or asked is None:
            return
        own, other = result.rows[row].path, result.columns[column].path
        if asked.b != asked.a and asked.b in session.varying.variants:
            session.varying.match(asked.b, own, other)
            similar.follow(session.variants)
        session.select(path=own)

    def _fill(self) -> None:
        before = [box.currentData() for box in (self.a, self.b)]
        for place, box in enumerate((self.a, self.b)):
            blocked = box.blockSignals(True)
            box.clear()
            for one in self._session.variants:
                box.addItem(one.name or self.tr("as opened"), one.number)
            wanted = box.findData(before[place])
            box.setCurrentIndex(wanted if wanted >= 0 else min(place, box.count() - 1))
            box.blockSignals(blocked)

    def save_picture(self, path: str) -> None:
        """Write the matrix as a picture, and say so or why not."""
        write_picture(self._session, path, self.matrix.picture())

    def save_table(self, path: str) -> None:
        """Write the matrix as comma-separated values, and say so or why not."""
        result = self._session.similar.result
        if result is not None:
            write_text(self._session, path, csv(result))

    def _names(self) -> tuple[str, str]:
        """Return what the rows and the columns of the result are layers of."""
        asked, card = self._session.similar.asked, self._session.card
        own = card.name if card is not None and card.name else self.tr("as opened")
        ways = (asked.a, asked.b) if asked is not None else ()
        a, b = (way.name or own for way in ways) if ways else (own, own)
        return a, b

    # -- how it is made

    def _lay_out(self) -> None:
        for box, name in ((self.a, "A"), (self.b, "B"), (self.layers, self.tr("Layers"))):
            box.setAccessibleName(name)
            box.setFont(font("ui", 12))
        self.layers.addItem(self.tr("all layers"), "all")
        self.layers.addItem(self.tr("ticked layers"), "ticked")
        self.layers.setCurrentIndex(int(len(self._session.plan.paths) >= FEWEST_TICKED))
        chosen = parts.row(
            *(parts.label("A", "strong"), self.a, 4, parts.label("B", "strong"), self.b, 4),
            *(self.layers, self.unbiased, None, self.go, self.stop),
            spacing=6,
        )
        foot = parts.row(None, self.copy, self.picture, self.table, spacing=6)
        layout = parts.column(
            *(chosen, self.progress, self.matrix, self.said, self.note, foot),
            spacing=8,
            margins=(16, 14, 16, 14),
        )
        layout.setStretchFactor(self.matrix, 1)
        self.setLayout(layout)

    def _connect(self) -> None:
        session = self._session
        session.similar.changed.connect(self.refresh)
        session.inputs_changed.connect(self._on_inputs_changed)
        self.go.clicked.connect(lambda: session.similar.compute(self.asked))
        self.stop.clicked.connect(session.similar.stop)
        self.matrix.hovered.connect(self._say)
        self.matrix.opened.connect(self.open_pair)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setImage(self.matrix.picture()))
        self.picture.clicked.connect(self._on_picture)
        self.table.clicked.connect(self._on_table)

    def _on_inputs_changed(self) -> None:
        self._fill()
        self.refresh()

    def _on_picture(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, self.tr("Save the picture"), "cka.png", "PNG (*.png)")
        if path:
            self.save_picture(path)

    def _on_table(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, self.tr("Save the table"), "cka.csv", "CSV (*.csv)")
        if path:
            self.save_table(path)
