"""safetensors: one file, every dtype as it is, and nothing in it that could run."""

from __future__ import annotations

from pathlib import Path

import torch

from hookviewer.errors import HookViewerError
from hookviewer.formats.document import document_of, dtype_of, parsed, recording_of
from hookviewer.formats.format import RecordingFormat
from hookviewer.recording import Recording


class SafetensorsRecording(RecordingFormat):
    """A whole recording; its JSON document is the metadata `hookviewer`. Complex values are pairs."""

    name = "safetensors"
    suffix = ".safetensors"

    def write(self, recording: Recording, path: Path) -> None:
        """Write the recording to a new file."""
        from safetensors.torch import save_file

        text, tensors = document_of(recording)
        save_file(
            {name: _stored(tensor) for name, tensor in tensors.items()}, path, metadata={"hookviewer": text}
        )

    def read(self, path: Path) -> Recording:
        """Return the recording of a file; the library checks sizes before anything is read."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, "pt") as file:
                document = parsed((file.metadata() or {}).get("hookviewer", ""))
                return recording_of(
                    document,
                    lambda name: _restored(file.get_tensor(name), document["tensors"][name]["dtype"]),
                )
        except SafetensorError as error:
            raise HookViewerError(
                f"{path.name} is not a safetensors file, or is damaged: save it again."
            ) from error


def _stored(tensor: torch.Tensor) -> torch.Tensor:
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).clone()


def _restored(tensor: torch.Tensor, name: str) -> torch.Tensor:
    own = tensor.clone()
    if dtype_of(name).is_complex:
        own = torch.view_as_complex(own)
    if own.dtype != dtype_of(name):
        raise ValueError("a tensor that is not what the header says")
    return own
