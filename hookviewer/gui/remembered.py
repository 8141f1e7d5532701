"""Results that are kept exactly as long as what they were made from: a dropped run takes them with it."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def remembered(most: int = 64) -> Callable[[Function], Function]:
    """Return a decorator that remembers results by the first argument, weakly, and by all the others.

    At most `most` results are kept for one first argument; then they are made anew.
    """

    def decorate(function: Function) -> Function:
        kept: weakref.WeakKeyDictionary[Any, dict[tuple[Hashable, ...], Any]] = weakref.WeakKeyDictionary()

        @functools.wraps(function)
        def look_up(owner: Any, *others: Hashable) -> Any:
            results = kept.setdefault(owner, {})
            if others not in results:
                if len(results) >= most:
                    results.clear()
                made = function(owner, *others)
                return results.setdefault(others, made)  # another thread may have been quicker
            return results[others]

        look_up.forget = kept.clear  # type: ignore[attr-defined]
        return cast(Function, look_up)

    return decorate
