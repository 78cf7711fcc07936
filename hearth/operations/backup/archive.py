"""The archive of a backup: a tar file that ends with a manifest and may be encrypted.

The encryption is the age format (https://age-encryption.org/v1) with an X25519 key, so the program
`age` decrypts an archive without Hearth. The tar file is encrypted while it is written, so no plain
copy is stored.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import os
import re
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import pyrage
from django.core.files import File

from hearth.shared.errors import InvalidInput

FORMAT = 1
MANIFEST = "manifest.json"
TABLE = re.compile(r"\w+", re.ASCII)
KEY_LENGTH_MIN = 32
AGE_MAGIC = b"age-encryption.org/v1"
PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in the archive."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of the archive, and of the database after a restore.

    version: the version of the code. migrations: the names of the migrations as `app.name`. rows:
    the number of rows of each table. files: the size and hash of each file by its name in the tar.
    missing: the files that the database names but that did not exist, each by the name that it
    would have in the tar. signature: the HMAC-SHA256 of the other fields; empty without a key.
    """

    version: str
    created_at: str
    engine: str
    server: str
    migrations: list[str]
    rows: dict[str, int]
    files: dict[str, Entry]
    missing: list[str]
    format: int = FORMAT
    signature: str = ""

    def as_bytes(self) -> bytes:
        fields = asdict(self)
        if not self.signature:
            del fields["signature"]  # earlier versions read only manifests without it
        return json.dumps(fields, indent=1, sort_keys=True).encode()

    def signed(self, key: str) -> Manifest:
        """Return this manifest, signed. Raises `InvalidInput` if the key is too short."""
        if len(key) < KEY_LENGTH_MIN:
            raise InvalidInput(f"BACKUP_SIGNING_KEY needs at least {KEY_LENGTH_MIN} characters.")
        content = replace(self, signature="").as_bytes()
        signature = hmac.digest(key.encode(), content, "sha256").hex()
        return replace(self, signature=signature)

    @classmethod
    def read(cls, content: bytes) -> Manifest:
        """Return the manifest in an archive. Raises `InvalidInput` if it is not valid."""
        try:
            fields: dict[str, Any] = json.loads(content)
            if fields["format"] != FORMAT:
                raise InvalidInput(f"The archive has format {fields['format']}, not {FORMAT}.")
            files = {name: Entry(**entry) for name, entry in fields.pop("files").items()}
            manifest = cls(**fields, files=files)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidInput("The manifest of the archive is not valid.") from error
        if not manifest._is_valid():
            raise InvalidInput("The manifest of the archive is not valid.")
        return manifest

    def _is_valid(self) -> bool:
        """Return whether the values have the right types, and no name of a table contains SQL."""
        texts = [self.version, self.created_at, self.engine, self.server, self.signature]
        lists = [self.migrations, self.missing]
        return (
            all(isinstance(one, list) for one in lists)
            and all(isinstance(one, str) for one in (*texts, *chain(*lists)))
            and isinstance(self.rows, dict)
            and all(TABLE.fullmatch(name) and type(n) is int for name, n in self.rows.items())
            and all(
                type(entry.size) is int and isinstance(entry.sha256, str)
                for entry in self.files.values()
            )
        )


class Hashed(io.RawIOBase):
    """A stream that computes the SHA-256 of what is read from it."""

    def __init__(self, source: Any) -> None:
        self.source, self.sha256 = source, hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece: bytes = self.source.read(size)
        self.sha256.update(piece)
        return piece


class ArchiveWriter:
    """Adds files to an archive and collects their hashes."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self.tar = tar
        self.files: dict[str, Entry] = {}

    def add(self, member: str, source: File[Any]) -> None:
        """Add an open file. Raises `OSError` if it is shorter than it was at the start."""
        info = tarfile.TarInfo(member)
        info.size, info.mode = source.size, 0o600
        hashed = Hashed(source)
        self.tar.addfile(info, hashed)
        self.files[member] = Entry(info.size, hashed.sha256.hexdigest())

    def finish(self, manifest: Manifest) -> None:
        content = manifest.as_bytes()
        info = tarfile.TarInfo(MANIFEST)
        info.size, info.mode = len(content), 0o600
        self.tar.addfile(info, io.BytesIO(content))


@contextmanager
def write_archive(out: BinaryIO, recipient: str = "") -> Iterator[ArchiveWriter]:
    """Write an archive to `out`, encrypted if there is a recipient (a public key, `age1…`)."""
    with (
        _encrypted(out, recipient) if recipient else _plain(out) as stream,
        tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        yield ArchiveWriter(tar)


@contextmanager
def read_archive(path: Path, key_file: str = "") -> Iterator[tarfile.TarFile]:
    """Yield the archive as a tar stream. Its members can be read only once and in their order.

    Raises `InvalidInput` if the archive is damaged, or if it is encrypted and `key_file` does not
    contain its private key.
    """
    with path.open("rb") as source:
        is_encrypted = source.read(len(AGE_MAGIC)) == AGE_MAGIC
        source.seek(0)
        try:
            with (
                _decrypted(source, key_file) if is_encrypted else _plain(source) as stream,
                tarfile.open(fileobj=stream, mode="r|") as tar,
            ):
                yield tar
        except (tarfile.TarError, ValueError, EOFError) as error:
            raise InvalidInput(
                f"{path.name} is damaged, or is not an archive of Hearth."
            ) from error


def verify_archive(path: Path, key_file: str = "", signing_key: str = "") -> Manifest:
    """Read the whole archive and compare every file with the manifest. Return the manifest.

    If there is a signing key, raises `InvalidInput` for an archive that was not signed with it.
    """
    found: dict[str, Entry] = {}
    manifest = b""
    with read_archive(path, key_file) as tar:
        for info in tar:
            # Backups contain no links, and no sparse files, which can have any size.
            content = tar.extractfile(info) if info.isreg() and info.sparse is None else None
            if content is None:
                raise InvalidInput(f"{info.name!r} in {path.name} is not a file.")
            if info.name in found or manifest:
                raise InvalidInput(f"{path.name} has {info.name!r} twice or after the manifest.")
            if info.name == MANIFEST:
                manifest = content.read()
                continue
            hashed = Hashed(content)
            while hashed.read(PIECE):
                pass
            found[info.name] = Entry(info.size, hashed.sha256.hexdigest())
    if not manifest:
        raise InvalidInput(f"{path.name} has no manifest. The backup was probably interrupted.")
    expected = Manifest.read(manifest)
    for name in sorted(found.keys() | expected.files.keys()):
        if found.get(name) != expected.files.get(name):
            raise InvalidInput(f"{path.name} is damaged: {name} does not match the manifest.")
    if signing_key and not hmac.compare_digest(
        expected.signed(signing_key).signature.encode(), expected.signature.encode()
    ):
        raise InvalidInput(
            f"{path.name} was not signed with BACKUP_SIGNING_KEY. Restore it only if you know that "
            "it is yours, without this variable."
        )
    return expected


def make_key(path: Path) -> str:
    """Write a new private key to a new file and return its public key."""
    identity = pyrage.x25519.Identity.generate()
    public = str(identity.to_public())
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(f"# public key: {public}\n{identity}\n")
    return public


@contextmanager
def _plain(stream: BinaryIO) -> Iterator[BinaryIO]:
    yield stream


@contextmanager
def _encrypted(out: BinaryIO, recipient: str) -> Iterator[BinaryIO]:
    try:
        recipients = [pyrage.x25519.Recipient.from_str(recipient)]
    except pyrage.RecipientError as error:
        raise InvalidInput("BACKUP_RECIPIENT is not a public key (age1…).") from error
    read_end, write_end = os.pipe()
    failures: list[Exception] = []

    def encrypt() -> None:
        try:
            with os.fdopen(read_end, "rb") as plain:
                pyrage.encrypt_io(plain, out, recipients)
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=encrypt)
    thread.start()
    try:
        with os.fdopen(write_end, "wb") as stream:
            yield stream
    except BrokenPipeError:
        pass  # the cause is in `failures`
    finally:
        thread.join()
    if failures:
        raise failures[0]


@contextmanager
def _decrypted(source: BinaryIO, key_file: str) -> Iterator[BinaryIO]:
    identity = _identity(key_file)
    read_end, write_end = os.pipe()
    failures: list[Exception] = []

    def decrypt() -> None:
        # The reader may stop before the end.
        with suppress(BrokenPipeError), os.fdopen(write_end, "wb") as plain:
            try:
                pyrage.decrypt_io(source, plain, [identity])
            except Exception as error:
                failures.append(error)

    thread = threading.Thread(target=decrypt)
    thread.start()
    try:
        with os.fdopen(read_end, "rb") as stream:
            yield stream
    except (tarfile.TarError, ValueError, EOFError):
        thread.join()
        if failures:
            raise InvalidInput(
                "The archive is damaged, or BACKUP_KEY_FILE has another key."
            ) from failures[0]
        raise
    finally:
        thread.join()


def _identity(key_file: str) -> Any:
    if not key_file:
        raise InvalidInput("The archive is encrypted. Set BACKUP_KEY_FILE to its private key.")
    lines = Path(key_file).read_text(encoding="utf-8").splitlines()
    keys = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    try:
        return pyrage.x25519.Identity.from_str(keys[0])
    except (IndexError, pyrage.IdentityError) as error:
        raise InvalidInput(f"{key_file} has no private key (AGE-SECRET-KEY-1…).") from error
