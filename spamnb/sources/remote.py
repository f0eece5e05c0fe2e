"""Mail in object storage and on servers, by URL: read by fsspec (the extra ``remote``), some bytes at a time.

Credentials are fsspec's affair: its files in ~/.config/fsspec, its environment, the ones that a cloud's own tools use,
~/.ssh. None stands in a URL, which others see in the list of processes and a model file keeps.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, BinaryIO, NamedTuple, cast

from spamnb.errors import SpamnbError
from spamnb.naming import escape, is_loopback

_WEB = ("http://", "https://")  # where nothing is a folder
_MAX_SHOWN = 200  # characters of what a storage complains about
_KNOWN_HOSTS = ("~/.ssh/known_hosts", "/etc/ssh/ssh_known_hosts")


class Item(NamedTuple):
    """What stands in a folder."""

    name: str
    is_folder: bool
    size: int


def safe_url(url: str) -> str:
    """The URL. SpamnbError where it holds a password, chains others, or is read in the clear.

    >>> safe_url("http://example.org/mail.tar")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: http://example.org/mail.tar: mail in the clear on its way here; use https://
    """
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.password is not None:
        where = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
        raise SpamnbError(
            f"{escape(where)}: a password in a URL is seen by others; fsspec reads it from its files in"
            " ~/.config/fsspec or from the environment"
        )
    if "::" in url:
        raise SpamnbError(f"{escape(url)}: URLs of fsspec are not chained; archives are read as they are")
    if parts.scheme.lower() == "http" and not is_loopback(parts.hostname or ""):
        raise SpamnbError(f"{escape(url)}: mail in the clear on its way here; use https://")
    return url


def remote_mode(url: str) -> int:
    """S_IFDIR or S_IFREG, as ``os.stat`` says it of a path. OSError where there is neither."""
    if url.lower().startswith(_WEB):
        return stat.S_IFREG
    with _storage(url) as (storage, path):
        return stat.S_IFDIR if storage.info(path)["type"] == "directory" else stat.S_IFREG


def is_folder(url: str) -> bool:
    """Is there a folder?"""
    with _storage(url) as (storage, path):
        return bool(storage.isdir(path))


def items(folder: str) -> list[Item]:
    """What stands in a folder, by name. OSError where it cannot be listed."""
    with _storage(folder) as (storage, path):
        found, own = storage.ls(path, detail=True), path.rstrip("/")
        return sorted(
            Item(name, item["type"] == "directory", item.get("size") or 0)
            for item in found
            # A storage of objects may hold one of the folder's own name.
            if item["name"].rstrip("/") != own and (name := item["name"].rstrip("/").rpartition("/")[2])
        )


def remote_bytes(url: str, most: int) -> bytes:
    """The file's bytes: at most ``most`` and one more."""
    # Not ``cat_file``, which spares a request: some servers refuse a range that ends behind the file, others send more
    # than they are asked for.
    with _storage(url) as (storage, path), storage.open(path, "rb") as stream:
        return cast(bytes, stream.read(most + 1))


@contextmanager
def remote_stream(url: str) -> Iterator[BinaryIO]:
    """The file as a stream that can be sought."""
    with (
        _storage(url) as (storage, path),
        storage.open(path, "rb") as file,
        io.BufferedReader(_Raw(file), 1 << 16) as stream,
    ):
        yield stream


class _Raw(io.RawIOBase):
    """A storage's file as Python's own: paramiko's does not say where it was sought to."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._file.seek(offset, whence)
        return int(self._file.tell())


@cache
def _known_hosts() -> Any:
    """paramiko's policy for a server's key: the one that ssh knows, and no other. fsspec's own takes any, so that
    whoever stands between could hand out mail of his own."""
    import paramiko

    class KnownHosts(paramiko.MissingHostKeyPolicy):  # type: ignore[misc, unused-ignore]
        def missing_host_key(self, client: Any, hostname: str, key: Any) -> None:
            known = paramiko.HostKeys()
            for path in _KNOWN_HOSTS:
                with suppress(FileNotFoundError):
                    known.load(os.path.expanduser(path))
            if not known.check(hostname, key):
                raise paramiko.SSHException(f"the {key.get_name()} key of {hostname} is not in {_KNOWN_HOSTS[0]}")

    return KnownHosts


def _options(url: str) -> dict[str, Any]:
    """What fsspec is told beside its own configuration."""
    import fsspec

    scheme = url.partition("://")[0].lower()
    if scheme not in ("sftp", "ssh") or "host_key_policy" in fsspec.config.conf.get(scheme, {}):
        return {}
    own = fsspec.get_filesystem_class(scheme).__module__ == "fsspec.implementations.sftp"
    return {"host_key_policy": _known_hosts()} if own else {}


@contextmanager
def _storage(url: str) -> Iterator[tuple[Any, str]]:
    """fsspec's file system and path of a URL; what it complains about as OSError."""
    try:
        import fsspec
    except ImportError:
        raise SpamnbError(f"{escape(url)}: reading URLs needs fsspec: pip install 'fsspec[http]'") from None
    try:
        yield fsspec.core.url_to_fs(safe_url(url), **_options(url))
    except SpamnbError:
        raise
    except ImportError as error:
        raise SpamnbError(f"{escape(url)}: {str(error).splitlines()[0]}") from None
    except FileNotFoundError as error:
        # Of a web server fsspec says this of whatever went wrong: certificates, passwords, no connection.
        if url.lower().startswith(_WEB) and isinstance(error.__cause__, Exception):
            raise _web_error(error.__cause__, url) from error
        raise OSError(errno.ENOENT, "No such file or folder", url) from error
    except PermissionError as error:
        raise OSError(errno.EACCES, "Permission denied, or no credentials", url) from error
    except OSError as error:
        if error.filename == url:  # said by us
            raise
        raise OSError(error.errno or errno.EIO, _said(error), url) from error
    except Exception as error:  # each storage has its own kinds of errors
        raise OSError(errno.EIO, _said(error), url) from error


def _web_error(error: Exception, url: str) -> OSError:
    status = getattr(error, "status", None)
    if isinstance(error, FileNotFoundError) or status in (404, 410):
        return OSError(errno.ENOENT, "No such file or folder", url)
    if status in (401, 403):
        return OSError(errno.EACCES, "Permission denied, or no credentials", url)
    return OSError(errno.EIO, _said(error), url)


def _said(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return f"{type(error).__name__}: {lines[0]}"[:_MAX_SHOWN]
