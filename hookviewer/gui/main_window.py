"""The main window: menus, run bar, wall, panels and status bar around one session."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import QMainWindow, QSizePolicy, QStackedWidget, QWidget

from hookviewer.gui import dropping, icons, settings
from hookviewer.gui.bringing import Bringing
from hookviewer.gui.cam_choice import remembered_choice
from hookviewer.gui.commands import Commands
from hookviewer.gui.docks import Docks
from hookviewer.gui.drop_zone import DropZone
from hookviewer.gui.focus import Letters, leave_focus
from hookviewer.gui.guard import guarded
from hookviewer.gui.history import History
from hookviewer.gui.menus import Menus
from hookviewer.gui.message_bar import MessageStack
from hookviewer.gui.messages import Catcher
from hookviewer.gui.opening import Opening
from hookviewer.gui.overlay import Overlay
from hookviewer.gui.panel_sizes import SMALLEST, USUAL, first_size, seen_screen
from hookviewer.gui.parting import part_soon
from hookviewer.gui.run_bar import RunBar
from hookviewer.gui.session import Session
from hookviewer.gui.status_bar import StatusBar
from hookviewer.gui.still import Still
from hookviewer.gui.theme import font, keeper
from hookviewer.gui.wall import WallPanel
from hookviewer.gui.welcome import Welcome


class MainWindow(QMainWindow):
    """One session and everything that shows it; closing it stops and joins the model thread, and is the end.

    Nothing but the session and its runs is left of a closed window, and those as long as somebody holds them.
    """

    closed = Signal()

    def __init__(self, session: Session | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session if session is not None else Session()
        self.session.setParent(self)
        self.setObjectName("main_window")
        self.setWindowIcon(icons.window_icon())
        self.setMinimumSize(SMALLEST)
        self.setDockNestingEnabled(True)
        self.setDocumentMode(True)
        self.setAcceptDrops(True)
        self.setContentsMargins(6, 0, 6, 0)
        self.catcher = Catcher(self.session.tell, self)
        self.wall = WallPanel(self.session)
        self.messages = MessageStack(self.session)
        self.welcome = Welcome()
        self.docks = Docks(self.session, self)
        self.opening = Opening(self.session, self)
        self.bringing = Bringing(self.session, self.opening, self)
        self.history = History(self.session, self)
        self.opening.opened.connect(self.history.begin)
        self.commands = Commands(self.session, self.opening, self.bringing, self.history, self)
        self._drop_zone: DropZone | None = None
        self._forwarding = False
        self.keeps_layout = True
        self._over = False
        self.session.set_settings(budget=settings.budget(self.session.settings.budget))
        self.session.set_look(cam=remembered_choice(settings.cam_methods()))
        self._lay_out()
        self._connect()
        self._on_model_changed()

    def _lay_out(self) -> None:
        self.center = QStackedWidget()
        self.center.addWidget(self.welcome)
        self.center.addWidget(self.wall)
        self.setCentralWidget(Still(self.center))
        self.wall.message_place.addWidget(self.messages)
        actions = self.commands.actions
        self.menus = Menus(self, self.session, self.commands, self.opening)
        self.menuBar().setFont(font("ui", 12))
        self.menus.fill_bar()
        bar = {"model": self.menus.model, "input": self.menus.input, "export": self.menus.export}
        self.run_bar = RunBar(self.session, bar, actions)
        self.addToolBar(self.run_bar)
        self.setStatusBar(StatusBar(self.session))
        screen = seen_screen(self)
        self.resize(first_size(screen) if screen is not None else USUAL)
        if not self.docks.restore():
            self.docks.lay_out(self.width(), self.height())
        self._laid_out = False

    def _connect(self) -> None:
        session = self.session
        session.model_changed.connect(self._on_model_changed)
        self.opening.attend()
        self.commands.said.connect(self.status.say)
        self.welcome.asked.connect(self._on_asked)
        for dock in self.docks.panels.values():
            dock.visibilityChanged.connect(self.commands.show_sides)
        self.setFocusProxy(self.wall)
        Letters([self.docks.modules.tree, self.docks.inputs.list], self.wall, self)
        leave_focus(self)
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        escape.activated.connect(self._on_escape)

    @property
    def status(self) -> StatusBar:
        """The status bar."""
        bar = self.statusBar()
        assert isinstance(bar, StatusBar)
        return bar

    # -- the session and the keys ------------------------------------------------------------------------

    def _on_model_changed(self) -> None:
        there, card = self.session.model is not None, self.session.card
        self.center.setCurrentWidget(self.wall if there else self.welcome)
        across = QSizePolicy.Policy.Ignored if there else QSizePolicy.Policy.Preferred
        self.welcome.setSizePolicy(across, QSizePolicy.Policy.Preferred)  # else it takes room
        holder = self.wall.message_place if there else self.welcome.message_place
        holder.addWidget(self.messages)
        sides = [side for side in ("bottom", "right") if self.commands.actions[f"panel_{side}"].isChecked()]
        for side in sides:  # there is nothing to show in them without a model
            for dock in self.docks.of(side):
                dock.setVisible(there)
        name = card.name if card is not None and there else ""
        self.setWindowTitle(f"{name} – hookviewer" if name else "hookviewer")

    def _on_asked(self, what: str, weights: str) -> None:
        asks = {"demo": self.opening.open_demo, "model": self.opening.ask_model}
        if what in asks:
            asks[what]()
        elif what == "code":
            self.opening.ask_file()
        else:
            self.opening.open(what, weights)

    def _on_escape(self) -> None:
        pages = [page for page in self.findChildren(Overlay) if page.isVisible()]
        if pages:
            pages[-1].close_page()
        elif self.session.running or self.session.attributions.working or self.session.attention.running:
            self.session.stop()
        elif self.session.selection.region is not None:
            self.session.select(region=None)
        elif not self.messages.close_latest():
            self.wall.setFocus()

    @guarded
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Give the wall the keys that nothing else wanted: plain letters act on it from everywhere."""
        if self._forwarding or self._over or self.session.model is None:
            event.ignore()
            return
        self._forwarding = True
        self.wall.keyPressEvent(event)
        self._forwarding = False

    # -- dropping ----------------------------------------------------------------------------------------

    @guarded
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        dropped = _files(event.mimeData())
        if dropped is None:
            event.ignore()
            return
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self._hide_drop_zone()
        name = self.session.card.name if self.session.card is not None else ""
        self._drop_zone = DropZone(dropped, name, self)
        self._drop_zone.show()
        self._drop_zone.raise_()

    @guarded
    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._hide_drop_zone()

    @guarded
    def dropEvent(self, event: QDropEvent) -> None:
        self._hide_drop_zone()
        dropped = _files(event.mimeData())
        if dropped is not None:
            event.accept()
            self.bringing.drop(dropped)

    def _hide_drop_zone(self) -> None:
        if self._drop_zone is not None:
            self._drop_zone.hide()
            self._drop_zone.deleteLater()
            self._drop_zone = None

    # -- showing and closing -----------------------------------------------------------------------------

    @guarded
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._laid_out:
            self._laid_out = True
            if settings.layout() is None:
                self.docks.lay_out(self.width(), self.height())
            self.wall.setFocus()

    @guarded
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self._over:
            self.docks.sizes.follow()  # Qt gives what is gained to the wall only

    @guarded
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange:
            self.commands.show_full_screen(self.isFullScreen())

    @guarded
    def closeEvent(self, event: QCloseEvent) -> None:
        if self._over:
            super().closeEvent(event)
            return
        self._over = True
        self._hide_drop_zone()
        if self.keeps_layout:
            self.docks.remember()
        self.hide()  # at once: the run that is still going on ends within one operation of the model
        self.opening.watch.close()
        self.session.close()
        self.catcher.remove()
        super().closeEvent(event)
        self.closed.emit()
        keeper().release(self)
        part_soon(self)


def _files(data: QMimeData) -> dropping.Dropped | None:
    paths = dropping.files_of(data)
    return dropping.sorted_files(paths) if paths else None
