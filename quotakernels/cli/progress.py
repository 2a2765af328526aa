"""A progress bar for the evaluations that take long enough to want one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, Task, TextColumn, TimeElapsedColumn
from rich.progress_bar import ProgressBar

from quotakernels.cli.terminal import TextConsole

_PATIENCE_S = 1.0


class _Bar(BarColumn):
    """A bar that asks how much of the step is done whenever it is drawn, and never goes back."""

    def __init__(self, share_done: Callable[[], float]) -> None:
        super().__init__()
        self.share_done = share_done
        self.furthest = 0.0

    def render(self, task: Task) -> ProgressBar:
        bar = super().render(task)
        now = task.completed + (self.share_done() if task.completed >= 0 else 0.0)
        bar.completed = self.furthest = max(now, self.furthest)
        return bar


class Share:
    """How much of a step is done, as the step tells."""

    def __init__(self) -> None:
        self.done = 0.0

    def tell(self, done: int, whole: int) -> None:
        """Hear of so much of a whole."""
        self.done = done / whole if done < whole else 0.0  # then the next step begins

    def __call__(self) -> float:
        """Return the share, from 0 to 1."""
        return self.done


@contextmanager
def progress_bar(
    steps: int, share_done: Callable[[], float] = lambda: 0.0
) -> Iterator[Callable[[str], None]]:
    """Yield a function to call with the name of each step as it begins.

    The bar goes to stderr, to a terminal only, appears after a second and leaves no trace.
    `share_done` tells how much of a step is done, from 0 to 1; it is called from another thread.
    """
    console = TextConsole(stderr=True)
    if not console.is_interactive:
        yield lambda _: None
        return
    bar = Progress(
        _Bar(share_done),
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
