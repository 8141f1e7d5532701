"""The export dialog: the picture as it will be at the left, the choices at the right."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QFileDialog, QProgressBar, QWidget

from hookviewer.errors import HookViewerError
from hookviewer.formats import Entry
from hookviewer.formats.export import Manifest, Planned, export, planned
from hookviewer.gui import export_entries, numbers, settings
from hookviewer.gui.export_form import ExportForm
from hookviewer.gui.export_layers import by_layer
from hookviewer.gui.export_preview import ExportPreview
from hookviewer.gui.export_weights import WeightsRead
from hookviewer.gui.module_facts import executed
from hookviewer.gui.parts import button, column, frame, label, row
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.session import Session
from hookviewer.gui.state import SIDED, Message, Offer, Shown
from hookviewer.gui.theme import SEMIBOLD, scaled

LANE = "export"
ALL_LAYERS, THIS_LAYER, THIS_CHANNEL = range(3)


def shown_by(session: Session) -> export_entries.Shown:
    """Return what the session shows, the ticked layers in order of execution."""
    run = next(iter(session.runs.values()), None)
    order = executed(run)
    ticked = [path for path in order if path in session.plan.paths]
    ticked += sorted(session.plan.paths - set(ticked))
    name = session.card.name if session.card is not None else ""
    return export_entries.Shown(
        session.ticked_inputs, session.runs, session.selection, session.look, session.settings, name, ticked
    )


class ExportDialog(QDialog):
    """Nothing is written before Export is pressed, nothing is overwritten without a yes."""

    def __init__(self, session: Session, what: int = ALL_LAYERS, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Export"))
        self.setObjectName("export_dialog")
        self._session = session
        self._shown = shown_by(session)
        self._entries: Sequence[Entry] = ()
        self._planned = Planned((), 0, ())
        self._weights = WeightsRead(session, self._shown.layers)
        self._weights.changed.connect(self._on_weights_read)
        side = session.selection.side if session.selection.shown in SIDED else "output"
        self.form = ExportForm(self._what_names(), settings.export_folder(), side)
        self.form.what.setCurrentIndex(what)
        self.form.choose_kinds([session.selection.shown])
        self._started = 0.0
        self.preview = ExportPreview(session)
        self.summary = label("", "caption", 11)
        self.summary.setWordWrap(True)
        self.summary.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.summary.setMinimumHeight(2 * self.summary.fontMetrics().lineSpacing() + 2)  # it often takes two
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(4)
        self.progress.hide()
        self.go = button(self.tr("Export"), "primary")
        self.go.setObjectName("export_go")
        self.cancel = button(self.tr("Cancel"))
        self._lay_out()
        self.form.what.setFocus()
        self._connect()
        self._on_what_changed()

    def _what_names(self) -> list[str]:
        layers, inputs = len(self._shown.layers), len(self._shown.items)
        words = (
            self.tr("{} ticked layers × 1 input") if inputs == 1 else self.tr("{} ticked layers × {} inputs")
        )
        all_of = words.format(layers, inputs)
        return [all_of, self.tr("This layer"), self.tr("This channel")]

    def _lay_out(self) -> None:
        right = frame(
            column(
                *(label(self.tr("Export"), "", 16, weight=SEMIBOLD), 16, self.form, 6),
                *(row(scaled(84), self.summary, spacing=0), 10, self.progress, None),
                row(None, self.cancel, self.go, spacing=8),
                margins=(24, 20, 24, 20),
            )
        )
        right.setFixedWidth(scaled(428))
        self.setLayout(row(self.preview, right, spacing=0))
        self.setMinimumHeight(scaled(470))

    def _connect(self) -> None:
        self.form.what.currentIndexChanged.connect(self._on_what_changed)
        self.form.changed.connect(self._on_form_changed)
        self.form.browse.clicked.connect(self._on_browse)
        self.go.clicked.connect(self.start)
        self.cancel.clicked.connect(self._on_cancel)

    # -- what will be written -------------------------------------------------------------------------------

    def _on_what_changed(self) -> None:
        batch = self.form.what.currentIndex() == ALL_LAYERS
        for box in self.form.kinds.values():
            box.setEnabled(batch)
        self._made: object = None
        self._on_form_changed()

    def _make_entries(self) -> None:
        """Make what there is to write, where the choice is another one than the last time."""
        what, kinds = max(self.form.what.currentIndex(), 0), self.form.chosen_kinds()
        if (what, kinds) == self._made:
            return
        self._made = (what, kinds)
        nothing = what == ALL_LAYERS and not kinds
        if what == ALL_LAYERS and Shown.WEIGHTS in kinds:
            self._weights.want()
        weights = self._weights.found or {}
        shown = dataclasses.replace(self._shown, kinds=kinds if what == ALL_LAYERS else (), weights=weights)
        self._lacking: list[tuple[str, Shown]] = []
        self._entries = () if nothing else self._entries_of(what, shown)

    def _entries_of(self, what: int, shown: export_entries.Shown) -> Sequence[Entry]:
        if what == THIS_LAYER:
            return export_entries.wall_entries(shown)
        if what == THIS_CHANNEL:
            return export_entries.channel_entries(shown)
        found = by_layer(shown)
        own = (Shown.WEIGHTS,)  # a layer without weights lacks nothing
        self._lacking = [(path, kind) for path, kind, entries in found if not entries and kind not in own]
        return [entry for _, _, entries in found for entry in entries]

    def _on_weights_read(self) -> None:
        self._made = None
        self._on_form_changed()

    def _on_form_changed(self) -> None:
        self._make_entries()
        folder, figure = self.form.folder_path(), self.form.figure()
        try:
            self._planned = planned(self._entries, folder, self.form.formats(), figure=figure)
        except HookViewerError as error:
            self._planned = Planned((), 0, ())
            self._say(str(error), "error")
            self.go.setEnabled(False)
            return
        self._say_planned()
        reading = self._weights.reading
        nothing = self.tr("Nothing to show: this layer is not recorded.")
        self.preview.show_entries(
            self._entries, figure, self.tr("Reading the weights …") if reading else nothing
        )

    def _say_planned(self) -> None:
        count, existing = max(len(self._planned.names) - 1, 0), len(self._planned.existing)
        size = numbers.size(self._planned.bytes)
        self.form.overwrite.setVisible(bool(existing))
        blocked = bool(existing) and not self.form.overwrite.isChecked()
        if self._weights.reading:
            self._say(self.tr("Reading the weights …"), "caption")
        elif not count:
            chosen = bool(self.form.chosen_kinds()) or self.form.what.currentIndex() != ALL_LAYERS
            lacking = self.tr("Nothing is recorded that could be exported: run the model first.")
            self._say(lacking if chosen else self.tr("Choose at least one kind."), "warn")
        elif existing:
            words = self.tr("{} of {} files exist already in this folder.").format(existing, count)
            self._say(words, "warn")
        else:
            words = self.tr("{} new files, {}. Nothing will be overwritten.")
            one = self.tr("1 new file, {}. Nothing will be overwritten.").format(size)
            lacking = self._lacking_words()
            self._say(
                " ".join(filter(None, (one if count == 1 else words.format(count, size), lacking))), "caption"
            )
        self.go.setText(self.tr("Export 1 file") if count == 1 else self.tr("Export {} files").format(count))
        self.go.setEnabled(count > 0 and not blocked and not self._weights.reading)

    def _lacking_words(self) -> str:
        """Return of how many layers something that was asked for is not there; the tooltip names them."""
        names = self.form.kind_names
        lines = [f"{path or self.tr('the model')}: {names[kind]}" for path, kind in self._lacking]
        self.summary.setToolTip("\n".join([self.tr("Not there:"), *lines[:24]]) if lines else "")
        layers = len({path for path, _ in self._lacking})
        if not layers:
            return ""
        many = self.tr("{} layers lack some of it.").format(layers)
        return self.tr("1 layer lacks some of it.") if layers == 1 else many

    def _say(self, text: str, role: str) -> None:
        self.summary.setText(text)
        self.summary.setProperty("role", role)
        self.summary.style().unpolish(self.summary)
        self.summary.style().polish(self.summary)

    def _on_browse(self) -> None:
        folder = QFileDialog.getExistingDirectory(
            self, self.tr("Folder"), str(self.form.folder_path().parent)
        )
        if folder:
            self.form.folder.setText(folder)

    # -- writing --------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Write the files on the model thread; the dialog shows how far it is."""
        entries, folder, formats = self._entries, self.form.folder_path(), self.form.formats()
        figure, overwrite = self.form.figure(), self.form.overwrite.isChecked()
        settings.remember_export_folder(str(folder))
        self.form.setEnabled(False)
        self.go.setEnabled(False)
        self.progress.setRange(0, max(len(self._planned.names) - 1, 1))
        self.progress.setValue(0)
        self.progress.show()
        self.cancel.setText(self.tr("Stop"))
        self._started = time.monotonic()

        def work(job: Job) -> Manifest:
            return export(
                entries,
                folder,
                formats=formats,
                figure=figure,
                overwrite=overwrite,
                on_file=job.report,
                cancelled=job.cancelled,
            )

        self._session.runner.submit(
            LANE, work, on_result=self._on_written, on_failure=self._on_failed, on_report=self._on_file
        )

    def _on_file(self, name: str) -> None:
        done, of = self.progress.value() + 1, self.progress.maximum()
        self.progress.setValue(done)
        left = (time.monotonic() - self._started) / done * (of - done)
        self._say(self.tr("{} of {}, {} left: {}").format(done, of, numbers.seconds(left), name), "caption")

    def _on_written(self, manifest: Manifest) -> None:
        count = len(manifest.files)
        what = self.tr("1 file written.") if count == 1 else self.tr("{} files written.").format(count)
        if manifest.cancelled:
            what = self.tr("Stopped after {} files.").format(count)
        left = (
            self.tr(" {} left out, see manifest.json.").format(len(manifest.left_out))
            if manifest.left_out
            else ""
        )
        show = Offer(self.tr("Open folder"), partial(_open_folder, manifest.folder))
        self._session.tell(Message("ok", what, f"{_short(manifest.folder)}{left}", offers=(show,)))
        self.accept()

    def _on_failed(self, failure: Failure) -> None:
        self.form.setEnabled(True)
        self.progress.hide()
        self.cancel.setText(self.tr("Cancel"))
        self._on_form_changed()
        self._say(failure.sentence, "error")

    def _on_cancel(self) -> None:
        if self.progress.isVisible():
            self._session.runner.cancel(LANE)
        else:
            self.reject()


def _open_folder(folder: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def _short(folder: Path) -> str:
    home = Path.home()
    return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)
