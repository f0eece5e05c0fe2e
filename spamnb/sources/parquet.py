"""Parquet tables, read by pyarrow (the extra ``parquet``) some rows at a time."""

from __future__ import annotations

import errno
import gzip
from typing import Any

from spamnb.errors import SpamnbError
from spamnb.naming import escape
from spamnb.sources.entries import open_mail
from spamnb.sources.tables import Columns, Row, Rows, head_of

_MAX_BATCH = 256  # rows in memory at a time
_MAX_BYTES = 1 << 28  # that they may have in a column, but for a single row
_BUFFER = 1 << 20  # bytes of a column read at a time; otherwise pyarrow takes all of a row group, often the whole file
_MAX_SHOWN = 200  # characters of what pyarrow complains about


def parquet_rows(path: str, columns: Columns, labelled: bool) -> Rows:
    """The head and the rows of a Parquet file.

    Raises SpamnbError without pyarrow, OSError and ValueError for what is no such table.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise SpamnbError(
            f"{escape(path)}: reading Parquet needs pyarrow: pip install pyarrow;"
            " or pandas.read_parquet(…).to_csv(…) makes CSV of it"
        ) from None
    with open_mail(path) as stream:
        if isinstance(stream, gzip.GzipFile):
            raise OSError(errno.EINVAL, "Parquet within gzip; gunzip it first", path)
        try:
            with parquet.ParquetFile(stream, buffer_size=_BUFFER, pre_buffer=False) as opened:
                names = opened.schema_arrow.names
                if len({*names}) < len(names):
                    raise ValueError("two columns of one name")
                yield head_of(names, columns, labelled, with_raw=True)
                number = 0
                for batch in opened.iter_batches(_batch_size(opened.metadata), use_threads=False):
                    for values in zip(*(column.to_pylist() for column in batch.columns)):
                        number += 1
                        yield Row(number, values)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            lines = str(error).splitlines() or [type(error).__name__]
            raise ValueError(f"no Parquet that can be read: {escape(lines[0][:_MAX_SHOWN])}") from error


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
