"""Tables for pandas: as a frame in memory, and as Parquet files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simsuite.exporting.tables import Table

if TYPE_CHECKING:
    import pandas


def data_frame(table: Table) -> pandas.DataFrame:
    """The table as a frame, with the headers of .csv files as columns; `attrs["units"]` has the unit of each
    column."""
    import pandas

    columns = table.columns()
    pieces = list(table.blocks())
    found = pandas.DataFrame({name: np.concatenate(parts) for name, parts in zip(columns, zip(*pieces))})
    found.attrs["units"] = columns
    return found


def write_parquet(table: Table, path: Path) -> None:
    """Write a table as a Parquet file, of which pandas also reads `attrs["units"]`."""
    import pyarrow
    import pyarrow.parquet

    columns = table.columns()
    metadata = {"PANDAS_ATTRS": json.dumps({"units": columns})}
    writer = None
    try:
        for block in table.blocks():
            piece = pyarrow.table(dict(zip(columns, block)))
            if writer is None:
                schema = piece.schema.with_metadata(metadata)
                writer = pyarrow.parquet.ParquetWriter(path, schema)
            writer.write_table(piece.replace_schema_metadata(metadata))
    finally:
        if writer is not None:
            writer.close()
