"""Parquet tables, read by pyarrow (the extra ``parquet``) some rows at a time."""

from __future__ import annotations

import errno
import gzip
from typing import Any

from spamnb.errors import SpamnbError
from spamnb.naming import escape
from spamnb.sources.columns import RAW_NAMES, Columns
from spamnb.sources.entries import MAX_MESSAGE, open_mail
from spamnb.sources.table_rows import MAX_COLUMNS, MAX_FIELD, Rows, row_of_values

_MAX_BATCH = 256  # rows in memory at a time
_MAX_BYTES = 1 << 28  # that they may have in a column, but for a single row
_BUFFER = 1 << 20  # bytes of a column read at a time; otherwise pyarrow takes all of a row group, often the whole file
_MAX_SHOWN = 200  # characters of what pyarrow complains about


def parquet_rows(path: str, columns: Columns, labelled: bool, keep: bool) -> Rows:
    """The rows of a Parquet file, with all cells where ``keep``; else no column but text and class is read.

    Raises SpamnbError without pyarrow, OSError and ValueError for what is no such table.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise SpamnbError(
            f"{escape(path)}: Parquet is read by pyarrow: pip install 'spamnb[parquet]';"
            " or pandas.read_parquet(…).to_csv(…) makes CSV of it"
        ) from None
    with open_mail(path) as stream:
        if isinstance(stream, gzip.GzipFile):
            raise OSError(errno.EINVAL, "Parquet within gzip; gunzip it first", path)
        try:
            yield from _rows(parquet.ParquetFile, stream, columns, labelled, keep)
        except (pyarrow.ArrowException, OSError) as error:
            lines = str(error).splitlines() or [type(error).__name__]
            raise ValueError(f"no Parquet that can be read: {escape(lines[0][:_MAX_SHOWN])}") from error


def _rows(parquet_file: Any, stream: object, columns: Columns, labelled: bool, keep: bool) -> Rows:
    with parquet_file(stream, buffer_size=_BUFFER, pre_buffer=False) as opened:
        names = opened.schema_arrow.names
        if len(names) > MAX_COLUMNS or len({*names}) < len(names):
            raise ValueError(f"more than {MAX_COLUMNS:,} columns, or two of one name")
        text = columns.text_place(names, with_raw=True)
        is_raw = names[text].lower() in RAW_NAMES
        most = MAX_MESSAGE if is_raw else MAX_FIELD
        label = columns.label_place(names) if labelled else None
        yield names
        wanted = {text} | ({label} if label is not None else set()) if not keep else {*range(len(names))}
        chosen = (names[text], None if label is None else names[label])
        number = 0
        read = [names[place] for place in sorted(wanted)]
        for batch in opened.iter_batches(_batch_size(opened.metadata), columns=read, use_threads=False):
            values = {
                place: _values(column, MAX_MESSAGE if is_raw and place == text else MAX_FIELD, is_raw and place == text)
                for place, column in zip(sorted(wanted), batch.columns)
            }
            for row in range(batch.num_rows):
                number += 1
                cells = [values[place][row] for place in sorted(wanted)]
                if _TOO_LONG in cells:
                    yield number, ValueError(f"a cell longer than {most >> 20} MiB")
                    continue
                kind = None if label is None else values[label][row]
                yield number, row_of_values(values[text][row], kind, chosen, cells if keep else ())


def _batch_size(metadata: Any) -> int:
    """How many rows to take at a time: a value that the file holds once may stand in every row, and no value is longer
    than all of its column."""
    longest = max(
        (
            metadata.row_group(group).column(column).total_uncompressed_size
            for group in range(metadata.num_row_groups)
            for column in range(metadata.num_columns)
        ),
        default=0,
    )
    return max(1, min(_MAX_BATCH, _MAX_BYTES // max(1, longest)))


_TOO_LONG = object()


def _values(column: Any, most: int, as_bytes: bool) -> list[object]:
    """The values of a column, texts as ``str`` or ``as_bytes``; ``_TOO_LONG`` in place of one over ``most`` bytes."""
    import pyarrow
    from pyarrow import compute, types

    texts = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    if types.is_dictionary(column.type):
        column = column.dictionary.take(column.indices)
    if not any(test(column.type) for test in texts):
        return column.to_pylist()
    octets = column.cast(pyarrow.large_binary())  # letters that are no UTF-8 would raise
    sizes = compute.binary_length(octets).to_pylist()
    found: list[object] = []
    for place, size in enumerate(sizes):
        if size is None:
            found.append(None)
        else:
            value = _TOO_LONG if size > most else octets[place].as_py()
            found.append(value.decode("utf-8", "replace") if isinstance(value, bytes) and not as_bytes else value)
    return found
