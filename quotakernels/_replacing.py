"""Files that are replaced whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a file to write; all of it then takes the place of the file at `path`, if any.

    Readers see the old file or the new one, also after an error, a kill or a loss of power. A kill
    can leave the part that was written, as ``.XXXXXXXX.part`` beside it. The mode and the owner of
    the old file are kept. Links are followed. A pipe, a device or the standard output is written as
    it is, since nothing can take its place.
    """
    if is_stream(path):
        with _stream(path) as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{os.urandom(4).hex()}.part")
    try:
        old = _replaceable(target)
        with open(part, "xb", opener=_private if old else None) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if old:
            with contextlib.suppress(OSError, AttributeError):  # Windows has no owners
                os.chown(part, old.st_uid, old.st_gid)
            part.chmod(stat.S_IMODE(old.st_mode))
        os.replace(part, target)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno:
            error.filename, error.filename2 = os.fspath(path), None
        raise


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether there is something else than a regular file, or where the standard output goes."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode) or is_stdout(path)
    except OSError:
        return False


def is_stdout(path: str | os.PathLike[str]) -> bool:
    """Whether the standard output goes there."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(1))
    except OSError:
        return False


def _stream(path: str | os.PathLike[str]) -> BinaryIO:
    if not is_stdout(path):
        return open(path, "wb")
    sys.stdout.flush()  # what was said before comes before
    return open(os.dup(1), "wb")


def _replaceable(target: Path) -> os.stat_result | None:
    """What is to be replaced, if anything; a file that may not be written is an error."""
    if not target.exists():
        return None
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return target.stat()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
