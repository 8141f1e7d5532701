"""How much does this map say? Curves beside a random order, and the map of copies with shuffled weights."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QComboBox, QDialog, QFileDialog, QLabel, QWidget

from hookviewer.gui import cams, method_words, numbers, target_names
from hookviewer.gui.attention_showing import item_of
from hookviewer.gui.cam_choice import method_of, parts_of
from hookviewer.gui.guard import guarded
from hookviewer.gui.parts import button, column, frame, label, row
from hookviewer.gui.runner import Failure, Job
from hookviewer.gui.session import Session
from hookviewer.gui.state import Message, Settings
from hookviewer.gui.theme import SEMIBOLD, font, scaled
from hookviewer.gui.trust_maps_plot import TrustCurves
from hookviewer.gui.trust_maps_tiles import ShuffledMaps
from hookviewer.gui.trust_maps_words import curves_words, reading_words, rounds_words
from hookviewer.gui.trust_maps_work import Asked, Trial, csv_of, tried
from hookviewer.gui.wall.progress import progress_line
from hookviewer.methods import Method
from hookviewer.target_choice import TargetChoice
from hookviewer.target_words import words

LANE = "trust in maps"
WIDTH, HEIGHT = 740, 680


class TrustMapsDialog(QDialog):
    """Checks the map of one method in the selected layer, on the model thread; it begins by itself."""

    def __init__(self, session: Session, parent: QWidget | None = None, *, starts: bool = True) -> None:
        super().__init__(parent)
        self.setObjectName("trust_maps_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("How much does this map say?"))
        self._session = session
        self._item = item_of(session)
        self._path, self._call = session.selection.path, session.selection.call
        self._leaf = session.look.cam.leaf(session.selection.cam)
        self.trial = Trial()
        self._of = ""
        self.running = False
        self.method = QComboBox()
        self.method.setObjectName("trust_method")
        self.method.setAccessibleName(self.tr("Method"))
        self.method.setFont(font("ui", 12))
        for one in method_words.in_order():
            self.method.addItem(one.title, one.name)
        self.method.setCurrentIndex(self.method.findData(parts_of(self._leaf)[0]))
        self.go = button(self.tr("Check this map"), "primary")
        self.go.setObjectName("trust_go")
        self.stop = button(self.tr("Stop"))
        self.stop.setObjectName("trust_stop")
        self.progress = progress_line()
        self.left = label("", "caption", 11, mono=True)
        self._began = 0.0
        self.curves, self.shuffled = TrustCurves(), ShuffledMaps()
        self.of = label("", "second", 12)
        self.said = [self._long("second") for _ in range(2)]
        for line in self.said:  # two lines: the window keeps its size when a sentence comes
            line.setMinimumHeight(2 * line.fontMetrics().lineSpacing() + 2)
            line.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.picture = button(self.tr("Save picture…"))
        self.csv = button(self.tr("Save as CSV…"))
        self._lay_out()
        self._connect()
        self._show()
        if starts:
            self.start()

    @property
    def asked(self) -> Asked | None:
        """What would be checked now; None without a model, an input or a target."""
        session, item = self._session, self._item
        if session.model is None or item is None:
            return None
        settings = item.variant.settings(session.settings)
        target = self._target(settings).target()
        if target is None:
            return None
        return Asked(
            session.model,
            item.input,
            self.chosen,
            self._path,
            settings,
            target,
            session.look.sample,
            call=self._call,
        )

    def _target(self, settings: Settings) -> TargetChoice:
        """Return the target of the map that was selected: that of the run, or one beside it."""
        said, choices = parts_of(self._leaf)[1], self._session.look.cam.targets
        return next((one for one in choices if said and words(one) == said), settings.target)

    @property
    def chosen(self) -> Method:
        """The method whose map is checked."""
        return method_of(str(self.method.currentData()))

    def start(self) -> None:
        """Check the map anew."""
        asked = self.asked
        if asked is None or self._item is None:
            self.said[0].setText(
                self.tr("Choose a target and tick an input first: a map speaks of one number.")
            )
            return
        place = asked.place or self.tr("the input")
        score = self._score(asked)
        self._of = f"{asked.method.title} · {place} · {self._item.title} · {score}"
        self.trial, self.running = Trial(), True

        models = self._session._run_lane.models
        self._began = time.perf_counter()

        def work(job: Job) -> Trial:
            return tried(asked.made_ready(models), job.report, job.cancelled)

        self._session.runner.submit(
            LANE, work, on_report=self._on_report, on_result=self._on_result, on_failure=self._on_failure
        )
        self._show()

    def _score(self, asked: Asked) -> str:
        """Return the target in words, with the name of the class that it came to."""
        session, choice = self._session, self._target(asked.settings)
        run = session.runs.get(self._item.number) if self._item is not None else None
        names = (session.card.class_names if session.card is not None else None) or ()
        top = run.guesses[0].name if run is not None and run.guesses else ""
        said = target_names.short(choice, tuple(names))
        return f"{said}: {top}" if choice.rule == "top" and top else said

    def _on_report(self, trial: Trial) -> None:
        self.trial = trial
        self._show()

    def _on_result(self, trial: Trial) -> None:
        self.trial, self.running = trial, False
        self._show()

    def _on_failure(self, failure: Failure) -> None:
        self.running = False
        if failure.error is None:  # stopped before it began
            self.trial = dataclasses.replace(self.trial, stopped=True)
            self._show()
            return
        self._show()
        self.said[0].setText(failure.sentence)
        if failure.report:
            self._session.tell_failure(self.tr("The map could not be checked."), failure)

    # -- how it looks ----------------------------------------------------------------------------------------

    def _show(self) -> None:
        picture = cams.seen(self._item)
        self.curves.show_trial(self.trial)
        self.shuffled.show_trial(self.trial, picture)
        self.of.setText(self._of)
        self.said[0].setText(curves_words(self.trial))
        self.said[1].setText(rounds_words(self.trial))
        self.stop.setVisible(self.running)
        self.go.setVisible(not self.running)
        self.progress.setVisible(self.running)
        self.progress.setRange(0, 1000)
        self.progress.setValue(round(1000 * self.trial.done))
        self.left.setText(self._left_words() if self.running else "")
        for one in (self.picture, self.csv):
            one.setEnabled(bool(self.trial.curves))

    def _left_words(self) -> str:
        """Return how long the check will still take, as soon as that can be told."""
        done = self.trial.done
        if not done:
            return self.tr("Computing the map …")
        left = (time.perf_counter() - self._began) * (1 - done) / done
        return self.tr("{} left").format(numbers.seconds(left))

    def _lay_out(self) -> None:
        head = label(self.windowTitle(), "", 16, weight=SEMIBOLD)
        top = row(head, None, self.left, self.method, self.go, self.stop, spacing=8)
        shuffled_title = label(
            self.tr("The same map, with the weights of the last layers shuffled"), "strong"
        )
        reading = self._long("caption")
        reading.setText(reading_words())
        checked = column(
            *(self.of, 12, self.curves, 4, self.said[0], 14),
            *(shuffled_title, 6, self.shuffled, 4, self.said[1]),
            margins=(0, 0, 0, 4),
        )
        checked.setStretchFactor(self.curves, 1)
        self.body = frame(checked, "trust_body")
        close = button(self.tr("Close"))
        close.clicked.connect(self.close)
        buttons = row(self.picture, self.csv, None, close, spacing=8)
        whole = column(
            *(top, 6, self.progress, 4, self.body, 8, reading, 14, buttons), margins=(24, 18, 24, 18)
        )
        whole.setStretchFactor(self.body, 1)
        self.setLayout(whole)
        self.setMinimumWidth(scaled(WIDTH))
        self.resize(scaled(WIDTH), scaled(HEIGHT))

    def _long(self, role: str) -> QLabel:
        made = label("", role, 12 if role == "second" else 11)
        made.setWordWrap(True)
        return made

    def _connect(self) -> None:
        self.go.clicked.connect(self.start)
        self.stop.clicked.connect(lambda: self._session.runner.cancel(LANE))
        self.method.activated.connect(lambda _: self.start())
        self.picture.clicked.connect(self._on_picture)
        self.csv.clicked.connect(self._on_csv)
        self._session.model_changed.connect(self.close)

    # -- saving ----------------------------------------------------------------------------------------------

    def _on_picture(self) -> None:
        self._save(self.tr("Save picture"), "trust.png", "PNG (*.png)", self.save_picture)

    def _on_csv(self) -> None:
        self._save(self.tr("Save as CSV"), "trust.csv", "CSV (*.csv)", self.save_csv)

    def save_picture(self, path: Path) -> bool:
        """Write the checks as a picture; return whether that went well."""
        return self.body.grab().save(str(path))

    def save_csv(self, path: Path) -> bool:
        """Write the numbers of the checks; return whether that went well."""
        try:
            path.write_text(csv_of(self.trial), encoding="utf-8")
        except OSError:
            return False
        return True

    def _save(self, title: str, name: str, kinds: str, write: object) -> None:
        path, _ = QFileDialog.getSaveFileName(self, title, name, kinds)
        if not path or not callable(write):
            return
        if write(Path(path)):
            self._session.tell(Message("ok", self.tr("Saved {}.").format(Path(path).name)))
        else:
            now = self.tr("Choose a folder that can be written to.")
            self._session.tell(Message("error", self.tr("{} was not saved.").format(path), now))

    @guarded
    def closeEvent(self, event: QCloseEvent) -> None:
        self._session.runner.cancel(LANE, drop=True)
        super().closeEvent(event)


def ask_trust(session: Session, parent: QWidget | None) -> TrustMapsDialog:
    """Show the check of the selected map beside the window."""
    dialog = TrustMapsDialog(session, parent)
    dialog.show()
    return dialog
