"""Writing what a dialog shows into a file that a person names, and saying so or why not."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QImage

from hookviewer.gui.session import Session
from hookviewer.gui.state import Message


def write_text(session: Session, path: str, text: str) -> None:
    """Write text into a file."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        _tell(session, path, error.strerror or str(error))
    else:
        _tell(session, path, "")


def write_picture(session: Session, path: str, picture: QImage) -> None:
    """Write a picture in the format that its name ends with."""
    done = picture.save(path)
    _tell(session, path, "" if done else _tr("choose a folder that exists and a name ending in .png"))


def _tell(session: Session, path: str, why: str) -> None:
    if why:
        session.tell(Message("error", _tr("Not saved."), f"{path}: {why}."))
    else:
        session.tell(Message("ok", _tr("Saved {}.").format(Path(path).name)))


def _tr(text: str) -> str:
    return QCoreApplication.translate("Files", text)
