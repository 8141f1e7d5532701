"""The operations of edits: small, out of place, and written down in words."""

from __future__ import annotations

import dataclasses

import torch

from hookviewer.errors import HookViewerError


@dataclasses.dataclass(frozen=True)
class zero:  # noqa: N801 - reads as a verb in Edit("layer4", zero())
    """Set everything to zero."""

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(tensor)

    def __str__(self) -> str:
        return "zero()"


@dataclasses.dataclass(frozen=True)
class scale:  # noqa: N801
    """Multiply by `factor`."""

    factor: float

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor * self.factor

    def __str__(self) -> str:
        return f"scale({self.factor:g})"


@dataclasses.dataclass(frozen=True, eq=False)
class add:  # noqa: N801
    """Add a number, or a tensor that broadcasts."""

    value: float | torch.Tensor

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor + _beside(self.value, tensor)

    def __str__(self) -> str:
        return f"add({_brief(self.value)})"


@dataclasses.dataclass(frozen=True)
class clamp:  # noqa: N801
    """Limit to `low` … `high`; `None` leaves a side open."""

    low: float | None = None
    high: float | None = None

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.clamp(self.low, self.high)

    def __str__(self) -> str:
        return f"clamp({self.low}, {self.high})"


@dataclasses.dataclass(frozen=True, eq=False)
class replace:  # noqa: N801
    """Put another tensor (or number) in its place; it broadcasts, and takes dtype and device from there."""

    tensor: float | torch.Tensor

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        new = torch.as_tensor(_beside(self.tensor, tensor), dtype=tensor.dtype, device=tensor.device)
        try:
            return new.detach().expand_as(tensor).clone()
        except RuntimeError:
            raise HookViewerError(
                f"A tensor {list(new.shape)} cannot replace one of {list(tensor.shape)}: give it that shape."
            ) from None

    def __str__(self) -> str:
        return f"replace({_brief(self.tensor)})"


@dataclasses.dataclass(frozen=True)
class reverse:  # noqa: N801
    """Turn the sign around."""

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        return -tensor

    def __str__(self) -> str:
        return "reverse()"


@dataclasses.dataclass(frozen=True)
class clip:  # noqa: N801
    """Limit every element to −`limit` … `limit`, as `torch.nn.utils.clip_grad_value_` does with gradients."""

    limit: float

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.clamp(-self.limit, self.limit)

    def __str__(self) -> str:
        return f"clip({self.limit:g})"


@dataclasses.dataclass(frozen=True)
class clip_norm:  # noqa: N801
    """Scale down to a Euclidean norm of `limit` where it is greater, and leave it alone where it is not."""

    limit: float

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        norm = torch.linalg.vector_norm(tensor)
        return torch.where(norm > self.limit, tensor * (self.limit / norm), tensor)

    def __str__(self) -> str:
        return f"clip_norm({self.limit:g})"


@dataclasses.dataclass(frozen=True)
class noise:  # noqa: N801
    """Put Gaussian noise in its place, the same for the same `seed` and shape on every device.

    Without `deviation` the noise has the mean and the standard deviation of the values that it replaces.
    """

    deviation: float | None = None
    seed: int = 0

    def __call__(self, tensor: torch.Tensor) -> torch.Tensor:
        generator = torch.Generator().manual_seed(self.seed)
        unit = torch.randn(tensor.shape, generator=generator, dtype=torch.float32).to(tensor)
        if self.deviation is not None:
            return unit * self.deviation
        values = tensor.detach()
        return unit * values.std(correction=0) + values.mean()

    def __str__(self) -> str:
        deviation = "" if self.deviation is None else f"{self.deviation:g}, "
        return f"noise({deviation}seed={self.seed})"


def _beside(value: float | torch.Tensor, tensor: torch.Tensor) -> float | torch.Tensor:
    return value.to(tensor) if isinstance(value, torch.Tensor) else value


def _brief(value: float | torch.Tensor) -> str:
    return f"tensor {list(value.shape)}" if isinstance(value, torch.Tensor) else f"{value:g}"
