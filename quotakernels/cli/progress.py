"""A progress bar for the evaluations that take long enough to want one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

__all__ = ["progress_bar"]

_PATIENCE_S = 1.0


@contextmanager
def progress_bar(steps: int) -> Iterator[Callable[[str], None]]:
    """Yield a function to call with the name of each step as it begins.

    The bar goes to stderr, to a terminal only, appears after a second and leaves no trace.
    """
    console = Console(stderr=True)
    if not console.is_interactive:
        yield lambda _: None
        return
    bar = Progress(
        BarColumn(),
        TextColumn("{task.completed}/{task.total}  {task.description}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    task = bar.add_task("", total=steps, completed=-1)
    timer = threading.Timer(_PATIENCE_S, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda step: bar.update(task, advance=1, description=step)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
