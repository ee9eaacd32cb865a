"""Files and streams of Arrow IPC, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from discreet.errors import SourceUnsupported
from discreet.tables.schema.source import Source
from discreet.tables.sources.arrow import deliver, delivered, size_of, slices, sound
from discreet.tables.sources.reader import Field, OpenFileSource, column_names

_MAGIC = b"ARROW1"
MOST_IN_BATCH = 1 << 30
"""Bytes of a batch, at most."""


class OpenIpc(OpenFileSource):
    """An Arrow IPC file or stream.

    Guarantee: what points outside of a batch is found before anything follows it. Memory is bounded by the size of the
    batches that the file was written in, for they can't be read in parts; one of more than a gigabyte is refused.

    Raises:
        SourceMissing: it isn't there.
        SourceUnsupported: it is damaged, or no Arrow IPC.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source.location)
        try:
            self._is_file = self._file.head(len(_MAGIC)) == _MAGIC
            with self._reading() as (schema, _):
                self._schema, written = schema, schema.names  # which needn't be UTF-8 either
            names = column_names(written, source.location)
        except BaseException:
            self.close()
            raise
        self._places = {name: place for place, name in enumerate(names)}
        self._fields = tuple(
            Field(name=name, type=delivered(spec.type), untyped=spec.type == pa.null(), required=not spec.nullable)
            for name, spec in zip(names, self._schema, strict=True)
        )

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns of the schema."""
        return self._fields

    @contextmanager
    def _reading(self, places: list[int] | None = None) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
        """The schema and the batches, with all that PyArrow says of damage said without its words."""
        options = pa.ipc.IpcReadOptions(included_fields=places or [], use_threads=False)
        is_damaged = False
        try:
            with pa.OSFile(self._file.path, "rb") as raw:
                if self._is_file:
                    reader = pa.ipc.open_file(raw, options=options)
                    batches = (reader.get_batch(number) for number in range(reader.num_record_batches))
                    yield reader.schema, batches
                else:
                    stream = pa.ipc.open_stream(raw, options=options)
                    yield stream.schema, iter(stream)
        except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError):
            is_damaged = True
        if is_damaged:
            raise SourceUnsupported(
                f"the file {self.location!r} isn't Arrow IPC, or is damaged",
                hint="write it again, as Feather 2 if it was Feather 1",
            )

    def _batches(self, chosen: list[Field]) -> Iterator[pa.RecordBatch]:
        """The rows, batch by batch."""
        places = sorted({self._places[each.name] for each in chosen})
        with self._reading(places) as (_, batches):
            for batch in batches:
                for column in batch.columns:
                    sound(column)
                size = sum(map(size_of, batch.columns))  # of what isn't sound, its size can't be asked
                if size > MOST_IN_BATCH:
                    raise SourceUnsupported(
                        f"{self.location!r} has a batch of {size:,} bytes; {MOST_IN_BATCH:,} are allowed",
                        hint="write it again in smaller batches, or as Parquet",
                    )
                for piece in slices(batch):
                    yield self._batch(piece, places, chosen)

    def _batch(self, batch: pa.RecordBatch, places: list[int], chosen: list[Field]) -> pa.RecordBatch:
        """The columns as they are handed out."""
        made = []
        for each in chosen:
            array, wrong = deliver(batch.column(places.index(self._places[each.name])), each.type)
            if wrong:
                self.unreadable[each.name] += wrong
            made.append(array)
        return pa.RecordBatch.from_arrays(made, [each.name for each in chosen])
