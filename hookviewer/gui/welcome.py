"""The middle of the window before a model is open: the demo first, two other ways in, what was open last."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from hookviewer.gui import icons, recent
from hookviewer.gui.giving_way import Elided
from hookviewer.gui.parts import button, column, frame, icon_label, key, label, row, rule
from hookviewer.gui.theme import SEMIBOLD, font, scaled
from hookviewer.gui.thumbnails import thumbnail
from hookviewer.inputs import picture
from hookviewer.resources import resource

WIDTH = 720
PHOTOGRAPHS = ("chelsea", "coffee", "astronaut", "hubble_deep_field")


class Welcome(QFrame):
    """Says what can be opened; `asked` carries `demo`, `model`, `code`, or the spec of a recent model."""

    asked = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        mark = QLabel()
        mark.setPixmap(icons.mark(56))
        title = label(self.tr("Open a model to look inside"), "", 22, weight=SEMIBOLD)
        line = label(self.tr("Every map, every gradient, as the model really computed it."), "second", 13)
        drop = label(self.tr("or drop a model, pictures or arrays anywhere on this window"), "caption")
        self.message_place = QVBoxLayout()
        box = frame(
            column(
                *(row(None, mark, None), 16, row(None, title, None), 6, row(None, line, None), 28),
                *(self._demo_card(), 12, self._other_cards(), 28, *self._recent(), 20),
                *(rule(), 14, row(None, icon_label("upload"), 4, drop, None)),
            )
        )
        box.setMaximumWidth(scaled(WIDTH))
        box.setMinimumWidth(scaled(420))
        self.setLayout(column(self.message_place, None, row(None, box, None), None, margins=(12, 12, 12, 12)))

    def _demo_card(self) -> QWidget:
        go = button(self.tr("Open the demo"), "primary")
        go.setObjectName("open_demo")
        go.clicked.connect(lambda: self.asked.emit("demo", ""))
        about = label(
            self.tr("MobileNetV2 with trained weights\nand six photographs, ready to look at."), "second"
        )
        words = column(about, 12, row(go, 6, key("Ctrl"), key("D"), None, spacing=3), None)
        pictures = []
        for name in PHOTOGRAPHS:
            one = QLabel()
            one.setPixmap(thumbnail(picture.read(resource(f"demo/images/{name}.jpg")), 88, 62, 6))
            one.setAccessibleName(name)
            pictures.append(one)
        return frame(row(words, None, *pictures, spacing=6, margins=(18, 18, 18, 18)), "card")

    def _other_cards(self) -> QWidget:
        model = _Card(
            *("folder-open", self.tr("Open a model"), ("Ctrl", "O")),
            self.tr("By name, such as torchvision.models:resnet18, with weights from a file."),
        )
        code = _Card(
            *("file-code-2", self.tr("From your code"), ("Ctrl", "Shift", "O")),
            self.tr("A Python file, or hv.view(model, inputs) from a script or a notebook."),
        )
        model.clicked.connect(lambda: self.asked.emit("model", ""))
        code.clicked.connect(lambda: self.asked.emit("code", ""))
        cards = row(model, code, spacing=12)
        cards.setStretch(0, 1)
        cards.setStretch(1, 1)
        return frame(cards)

    def _recent(self) -> list[QWidget | int]:
        last = recent.models()[:4]
        if not last:
            return []
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(2)
        grid.setHorizontalSpacing(16)
        for place, one in enumerate(last):
            grid.addWidget(icon_label("history"), place, 0)
            grid.addWidget(self._link(one), place, 1)
            grid.addWidget(Elided(one.weights, role="caption", size=11), place, 2)
            grid.addWidget(label(recent.day(one.when), "caption", 11), place, 3)
        grid.setColumnStretch(1, 3)
        grid.setColumnStretch(2, 1)
        return [label(self.tr("Recent"), "strong"), 6, frame(grid)]

    def _link(self, one: recent.Recent) -> QPushButton:
        link = QPushButton(one.spec)
        link.setProperty("role", "link")
        link.setFont(font("mono", 12))
        link.setCursor(Qt.CursorShape.PointingHandCursor)
        link.setToolTip(f"{one.spec}\n{one.weights}".strip())
        if one.missing:
            link.setEnabled(False)
            link.setToolTip(self.tr("{} is no longer there").format(link.toolTip()))
        link.clicked.connect(lambda: self.asked.emit(one.spec, one.weights))
        return link


class _Card(QFrame):
    """A way in: icon, head, keys and a sentence; the whole card is pressed."""

    clicked = Signal()

    def __init__(self, icon: str, head: str, keys: tuple[str, ...], sentence: str) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(f"{head}. {sentence}")
        mark = QLabel()
        mark.setPixmap(icons.pixmap(icon, "accent", 20))
        words = label(sentence, "second")
        words.setWordWrap(True)
        words.setAlignment(Qt.AlignmentFlag.AlignTop)
        words.setMinimumHeight(scaled(34))
        top = row(mark, 4, label(head, "strong", 13), None, *[key(one) for one in keys], spacing=4)
        self.setLayout(column(top, 10, words, margins=(18, 16, 18, 14)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.rect().contains(event.position().toPoint()):
            self.clicked.emit()
