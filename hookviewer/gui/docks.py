"""The panels around the wall: where they are, how large, and how they come back."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QToolButton

from hookviewer.gui import settings
from hookviewer.gui.columns import WallState
from hookviewer.gui.edit_list import ROW_HEIGHT as EDIT_ROW
from hookviewer.gui.edit_panel import EditPanel
from hookviewer.gui.input_panel import InputPanel
from hookviewer.gui.inspector import Inspector
from hookviewer.gui.layer_panel import LayerPanel
from hookviewer.gui.module_panel import ModulePanel
from hookviewer.gui.panel_sizes import AROUND, PanelSizes
from hookviewer.gui.panels import TITLE_HEIGHT, Panel
from hookviewer.gui.parts import tool
from hookviewer.gui.present import present_wall
from hookviewer.gui.session import Session
from hookviewer.gui.theme import scaled


class Docks(QObject):
    """Modules over inputs at the left, the inspector at the right, layers below the wall only."""

    def __init__(self, session: Session, window: QMainWindow) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self.modules, self.inputs = ModulePanel(session), InputPanel(session)
        self.layers, self.inspector = LayerPanel(session), Inspector(session)
        self.edits = EditPanel(session)
        self._expand = tool("chevrons-up-down", self.tr("Expand or collapse all"), size=24)
        self._add = tool("image-plus", self.tr("Add input") + "  Ctrl+I", size=24)
        self._arrows = self._channel_arrows()
        self.panels = self._make_panels()
        self.sizes = PanelSizes(window, self.panels)
        self._place()
        self._connect()

    def _make_panels(self) -> dict[str, Panel]:
        return {
            "modules": Panel("dock_modules", self.tr("Modules"), "layers", self.modules, [self._expand]),
            "inputs": Panel("dock_inputs", self.tr("Inputs"), "images", self.inputs, [self._add]),
            "inspector": Panel(
                "dock_inspector", self.tr("Inspector"), "scan-eye", self.inspector, self._arrows
            ),
            "layers": Panel("dock_layers", self.tr("Layers"), "chart-spline", self.layers, self.layers.tools),
            "edits": Panel("dock_edits", self.tr("Edits"), "pencil", self.edits, self.edits.tools),
        }

    def _channel_arrows(self) -> list[QToolButton]:
        before = tool("chevron-left", self.tr("Previous channel") + "  ←", size=24)
        after = tool("chevron-right", self.tr("Next channel") + "  →", size=24)
        before.clicked.connect(lambda: self._step_channel(-1))
        after.clicked.connect(lambda: self._step_channel(1))
        return [before, after]

    def _place(self) -> None:
        area = Qt.DockWidgetArea
        window, panels = self._window, self.panels
        window.setCorner(Qt.Corner.BottomLeftCorner, area.LeftDockWidgetArea)
        window.setCorner(Qt.Corner.BottomRightCorner, area.RightDockWidgetArea)
        window.addDockWidget(area.LeftDockWidgetArea, panels["modules"])
        window.addDockWidget(area.LeftDockWidgetArea, panels["inputs"])
        window.splitDockWidget(panels["modules"], panels["inputs"], Qt.Orientation.Vertical)
        window.addDockWidget(area.RightDockWidgetArea, panels["inspector"])
        window.addDockWidget(area.BottomDockWidgetArea, panels["layers"])
        window.addDockWidget(area.RightDockWidgetArea, panels["edits"])
        window.splitDockWidget(panels["inspector"], panels["edits"], Qt.Orientation.Vertical)
        panels["edits"].setVisible(bool(self._session.editing.listed))

    def _connect(self) -> None:
        session = self._session
        self._expand.clicked.connect(self.modules.toggle_expanded)
        self.modules.counted.connect(self.panels["modules"].say)
        self.layers.pointed_out.connect(self.panels["layers"].say)
        for signal in (session.inputs_changed, session.runs_changed, session.selection_changed):
            signal.connect(self.refresh)
        session.model_changed.connect(self.refresh)
        session.run_grew.connect(self._on_run_grew)
        session.editing.changed.connect(self._on_edits_changed)
        self._edits = len(session.editing.listed)
        self.refresh()

    def _on_edits_changed(self) -> None:
        """Show the list when there is one more edit; it goes with the last one."""
        count, panel = len(self._session.editing.listed), self.panels["edits"]
        panel.say(str(count) if count else "")
        if count > self._edits:
            self.show_edits()
        elif not count:
            panel.hide()
        self._edits = count

    def show_edits(self) -> None:
        """Bring the list of edits to the front, with room for its first rows below the inspector."""
        panel, above = self.panels["edits"], self.panels["inspector"]
        panel.show()
        panel.raise_()
        both = self._window.height() - AROUND
        rows = scaled(TITLE_HEIGHT + EDIT_ROW * min(max(len(self._session.editing.listed), 2), 4) + 4)
        height = min(rows, both // 3)
        if self._window.tabifiedDockWidgets(panel) or panel.isFloating() or panel.height() >= height:
            return
        self._window.resizeDocks([above, panel], [both - height, height], Qt.Orientation.Vertical)

    def _on_run_grew(self, paths: frozenset[str]) -> None:
        if self._session.selection.path in paths:
            self.refresh()

    def refresh(self) -> None:
        """Show counts and the selected channel in the titles."""
        session, count = self._session, self.channel_count()
        self.panels["inputs"].say(str(len(session.inputs)) if session.inputs else "")
        self._add.setEnabled(session.model is not None)
        inspector = self.panels["inspector"]
        if count > 1:
            inspector.heading.setText(self.tr("Channel {}").format(session.selection.channel))
            inspector.say(self.tr("of {}").format(count))
        else:
            inspector.heading.setText(self.tr("Inspector"))
            inspector.say("")
        for arrow in self._arrows:
            arrow.setVisible(count > 1)

    def channel_count(self) -> int:
        """Return how many channels the wall shows."""
        return len(self._wall().order)

    def _wall(self) -> WallState:
        return present_wall(self._session)

    def _step_channel(self, step: int) -> None:
        order = [int(channel) for channel in self._wall().order]
        if order:
            channel = self._session.selection.channel
            place = order.index(channel) + step if channel in order else 0
            self._session.select(channel=order[max(0, min(place, len(order) - 1))])

    # -- size and place -----------------------------------------------------------------------------------

    def lay_out(self, width: int, height: int) -> None:
        """Give the panels their usual sizes in a window of this size."""
        self.sizes.dragged = {}
        self.sizes.settle_in(width, height)

    def of(self, side: str) -> list[QDockWidget]:
        """Return the docks that a side's switch shows and hides."""
        names = {"left": ("modules", "inputs"), "bottom": ("layers",), "right": ("inspector",)}[side]
        names += ("edits",) if side == "right" and self._session.editing.listed else ()
        return [self.panels[name] for name in names]

    def restore(self) -> bool:
        """Put the window back as it was last left; return whether that is known."""
        stored = settings.layout()
        if stored is None:
            return False
        geometry, state = stored
        self.sizes.dragged = dict(settings.dragged())
        self._window.restoreGeometry(geometry)
        return self._window.restoreState(state, settings.LAYOUT_VERSION)

    def remember(self) -> None:
        """Keep the layout for the next start."""
        window = self._window
        settings.remember_layout(window.saveGeometry(), window.saveState(settings.LAYOUT_VERSION))
        settings.remember_dragged(self.sizes.dragged)

    def reset(self) -> None:
        """Put every panel back to its usual place and size."""
        settings.forget_layout()
        for panel in self.panels.values():
            panel.setFloating(False)
            panel.show()
        self._place()
        self.lay_out(self._window.width(), self._window.height())
