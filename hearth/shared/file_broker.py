"""The filesystem broker, with messages that appear and disappear as a whole.

Kombu's transport creates the file of a message under its final name and writes the text afterwards.
A worker that looks in between reads an empty file, and stops. Kombu's transport also moves each
message to the folder of temporary files. If that folder is on another disk, two workers can take
the same message. Here, a message gets its final name when it is complete, and a worker takes it by
renaming its file.
"""

from __future__ import annotations

import os
import time
import uuid
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps, loads


class Channel(filesystem.Channel):
    def _put(self, queue: str, message: Any, **_: Any) -> None:  # type: ignore[override]
        folder = Path(self.data_folder_out)
        name = f"{time.time_ns():020}_{uuid.uuid4()}"
        unfinished = folder / f"{name}.unfinished"
        try:
            unfinished.write_text(dumps(message))
            unfinished.replace(folder / f"{name}.{queue}.msg")
        except OSError as error:
            raise ChannelError(f"The message cannot be written into {folder}: {error}") from error

    def _get(self, queue: str, *_: Any) -> Any:
        folder = Path(self.data_folder_in)
        for message in sorted(folder.iterdir()):
            number, *rest = message.name.split(".", 1)
            if rest != [f"{queue}.msg"]:
                continue
            taken = folder / f"{number}.taken"
            try:
                message.rename(taken)
            except FileNotFoundError:  # another worker was faster
                continue
            text = taken.read_text()
            taken.unlink()
            return loads(text)
        raise Empty

    def _queue_bind(self, exchange: str, *binding: Any) -> None:
        """Create the file of an exchange as a whole, before the parent class adds to it."""
        file = self.control_folder / f"{exchange}.exchange"
        unfinished = file.with_name(f"{uuid.uuid4()}.unfinished")
        unfinished.write_text("[]")
        with suppress(FileExistsError):
            os.link(unfinished, file)
        unfinished.unlink()
        super()._queue_bind(exchange, *binding)


class Transport(filesystem.Transport):
    Channel = Channel
