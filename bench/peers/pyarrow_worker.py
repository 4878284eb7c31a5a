# SPDX-License-Identifier: BSL-1.0
"""Input by pyarrow's reader of CSV, one batch a step: columns of float32 as NumPy arrays."""

import pyarrow
from pyarrow import csv

import input_files
from worker import options, serve

work, batch, threads, _ = options()
if work != "csv":
    raise SystemExit(f"pyarrow has no {work}")
pyarrow.set_cpu_count(threads)
pyarrow.set_io_thread_count(1)
path = input_files.write_csv()
names = [f"c{i}" for i in range(input_files.COLUMNS)]
read = csv.ReadOptions(use_threads=threads > 1, block_size=1 << 20, column_names=names)
convert = csv.ConvertOptions(column_types={name: pyarrow.float32() for name in names})


def batches():
    """Of the rows of the file, again and again."""
    rest = None
    while True:
        for block in csv.open_csv(path, read_options=read, convert_options=convert):
            rows = pyarrow.concat_batches([rest, block]) if rest else block
            whole = rows.num_rows - rows.num_rows % batch
            for at in range(0, whole, batch):
                yield [column.to_numpy() for column in rows.slice(at, batch).columns]
            rest = rows.slice(whole) if whole < rows.num_rows else None


elements = batches()


def step(_):
    element = next(elements)
    return lambda: float(element[9][-1])


serve(pyarrow.__version__, step)
