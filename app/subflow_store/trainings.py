"""Trainings in the store: their settings, progress, metrics as curves, and evaluations.

A report of a training has a step and some figures. Reports are written one by one and read curve by curve, so they are
stored as columns in chunks. The last chunk is rewritten with each batch of reports until it is full: a batch
arrives about once per second, and writing a chunk takes a millisecond.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from sqlite3 import Connection
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_store.codec import codec
from subflow_store.damage import Damage, RowError, row_of, typed
from subflow_store.processes import ProcessStore, process_columns, read_state, state_columns
from subflow_store.queries import decode, json_object
from subflow_store.recording_texts import folded
from subflow_store.recordings import keep_all, restored
from subflow_store.rows import insert, now_text, signed, strict_json, unsigned, update, upsert
from subflow_store.values import BestPolicy, EvaluationFigure, MetricCurve, TrainingMoment, TrainingRow, TrainingStart

STEP = "step"
ELAPSED = "elapsed_s"

METRIC_CHUNK = 1024
"""Number of reports in a chunk."""

_MAYBE = (float, int, NoneType)
_METRICS = "f8/shuffle/zstd3"
_FIELDS = TrainingRow._fields[: TrainingRow._fields.index("scenario_text")]
_START = ("name", "agent", "scenario_name", "folder", "version", "parent_id")
_SELECT = f"SELECT {', '.join(_FIELDS)}, process_host, process_boot, process_started FROM training"
_STORE_CHUNK = upsert("training_metric", "training_id, name, idx", "n, codec, data")
_STORE_FIGURE = upsert("training_evaluation", "training_id, step, controller, metric", "mean, ci95, n")


class TrainingStore(ProcessStore):
    """The trainings of a store, as `Store.trainings`. Any thread may call its methods."""

    table = "training"

    # Reading

    def rows(self, *, state: str | None = None, limit: int | None = None) -> list[TrainingRow]:
        """The trainings, newest first, without their documents.

        Args:
            state: the required state.
            limit: largest number of trainings; None: all.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            rows = [_row(row) for row in reader.execute(f"{_SELECT} ORDER BY id DESC").fetchall()]
        # The state depends on the liveness of a process, which SQL cannot check.
        return [row for row in rows if state is None or row.state == state][:limit]

    def get(self, training_id: int) -> TrainingRow:
        """One training with its scenario and config.

        Raises:
            RunNotFound: if the number is unknown.
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            row = self._found(_fetch(reader, training_id), training_id)
            query = "SELECT kind, text FROM training_document WHERE training_id = ?"
            with row_of("training_document", "training", training_id):
                documents = dict(typed(reader.execute(query, (training_id,)).fetchall(), str, str))
                scenario, config = documents["scenario"], json_object(documents["config"])
            return _row(row)._replace(scenario_text=restored(reader, scenario), config=config)

    def of_folder(self, folder: str) -> TrainingRow | None:
        """The latest training with this folder, without its documents; None for an unknown folder.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            row = reader.execute(f"{_SELECT} WHERE folder = ? ORDER BY id DESC LIMIT 1", (folder,)).fetchone()
            return None if row is None else _row(row)

    def metrics(self, training_id: int) -> list[str]:
        """Names of the recorded metrics, sorted.

        Raises:
            RunNotFound: if the training does not exist.
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            self._found(_fetch(reader, training_id), training_id)
            rows = reader.execute(
                "SELECT DISTINCT name FROM training_metric WHERE training_id = ? ORDER BY name", (training_id,)
            ).fetchall()
            with row_of("training_metric", "training", training_id):
                return [name for (name,) in typed(rows, str) if name not in (STEP, ELAPSED)]

    def curve(self, training_id: int, metric: str) -> MetricCurve:
        """One metric over the whole training; empty if it was never reported.

        Raises:
            RunNotFound: if the training does not exist.
            StoreError: if the file cannot be read.
        """
        return self.curves(training_id, [metric])[metric]

    def curves(self, training_id: int, metrics: Sequence[str]) -> dict[str, MetricCurve]:
        """Several metrics by name, all at the same steps.

        Raises:
            RunNotFound: if the training does not exist.
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            self._found(_fetch(reader, training_id), training_id)
            step, elapsed_s, *columns = _read_columns(reader, training_id, [STEP, ELAPSED, *metrics])
            if not len(step) == len(elapsed_s) == min([len(step), *map(len, columns)]):
                raise RowError(Damage("training_metric", "training", training_id, "columns of different lengths"))
        # After a crash, a training continues from its last checkpoint and reports the steps after it again; only the
        # last report of each step counts.
        later = np.minimum.accumulate(step[::-1])[::-1]
        stands = np.append(step[:-1] < later[1:], True) if len(step) else np.zeros(0, bool)
        return {
            name: MetricCurve(step[stands], elapsed_s[stands], column[stands])
            if not np.all(np.isnan(column))
            else MetricCurve(*np.empty((3, 0)))
            for name, column in zip(metrics, columns, strict=True)
        }

    def evaluations(self, training_id: int) -> list[EvaluationFigure]:
        """All figures of all evaluations, by step, in the order of controllers and metrics.

        Raises:
            RunNotFound: if the training does not exist.
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            self._found(_fetch(reader, training_id), training_id)
            rows = reader.execute(
                "SELECT step, controller, metric, mean, ci95, n FROM training_evaluation"
                " WHERE training_id = ? ORDER BY step, controller, metric",
                (training_id,),
            ).fetchall()
            with row_of("training_evaluation", "training", training_id):
                return [EvaluationFigure._make(row) for row in typed(rows, int, str, str, _MAYBE, _MAYBE, int)]

    # Writing

    def add(self, start: TrainingStart) -> int:
        """Add a training in the state waiting; returns its number.

        Raises:
            RunNotFound: if its parent does not exist.
            StoreError: if the training cannot be written.
        """
        now = now_text()
        row = {
            **{name: getattr(start, name) for name in _START},
            "seed": signed(start.seed),
            "state": "waiting",
            "message": "",
            "note": "",
            "started_at": start.started_at_utc.astimezone(UTC).isoformat() if start.started_at_utc else now,
            "updated_at": now,
            "elapsed_s": 0.0,
            "steps": 0,
            "policy_hash": "",
            "reports_read": 0,
            **process_columns("process", None),
        }
        scenario, recordings = folded(start.scenario_text)
        documents = {"scenario": scenario, "config": strict_json(start.config)}

        def add(connection: Connection) -> int:
            if start.parent_id is not None:
                self._check(connection, start.parent_id)
            number = insert(connection, self.table, row)
            for kind, text in documents.items():
                insert(connection, "training_document", {"training_id": number, "kind": kind, "text": text})
            keep_all(connection, "training", number, recordings)
            return number

        return self._writing().call(add)

    def set_note(self, training_id: int, text: str) -> None:
        """Replace a training's note.

        Raises:
            RunNotFound: if the training does not exist.
            StoreError: if the note cannot be written.
        """
        self._change(training_id, {"note": text})

    def append(
        self,
        training_id: int,
        reports: Sequence[Mapping[str, float | None]],
        figures: Iterable[EvaluationFigure] = (),
        *,
        reports_read: int | None = None,
        moment: TrainingMoment | None = None,
        best: BestPolicy | None = None,
    ) -> None:
        """Add reports of metrics, figures of evaluations, and the resulting state, all in one transaction.

        Args:
            training_id: the training.
            reports: reports in order; each has at least `step` and `elapsed_s`. None and NaN mean an unknown value.
            figures: figures of evaluations; they replace those of the same step, controller and metric.
            reports_read: number of bytes of the training's report file that are now stored; None: unchanged.
            moment: current state; None: unchanged.
            best: current best policy; None: unchanged.

        Raises:
            ValueError: if a report lacks its step or time.
            RunNotFound: if the training does not exist.
            StoreError: if the data cannot be written.
        """
        columns = _columns_of(reports)
        figure_rows = [(training_id, *figure) for figure in figures]
        changes: dict[str, Any] = {"updated_at": now_text()}
        if reports:
            if not all(np.all(np.isfinite(columns.get(name, np.nan))) for name in (STEP, ELAPSED)):
                raise ValueError(f"a report without {STEP} or {ELAPSED}")
            changes |= {"steps": int(columns[STEP][-1]), "elapsed_s": float(columns[ELAPSED][-1])}
        if reports_read is not None:
            changes["reports_read"] = reports_read
        if moment is not None:
            changes |= state_columns(*moment)
        if best is not None:
            step, score, goodput_bps, policy_hash = best
            changes |= {"best_step": step, "best_score": score, "best_goodput_bps": goodput_bps}
            changes["policy_hash"] = policy_hash

        def write(connection: Connection) -> None:
            self._check(connection, training_id)
            if reports:
                chunks = _chunks(connection, training_id, columns)
                connection.executemany(_STORE_CHUNK, [(training_id, *chunk) for chunk in chunks])
            connection.executemany(_STORE_FIGURE, figure_rows)
            update(connection, self.table, training_id, changes)

        self._writing().call(write)


def _fetch(reader: Connection, training_id: int) -> Any:
    return reader.execute(f"{_SELECT} WHERE id = ?", (training_id,)).fetchone()


def _row(row: Sequence[Any]) -> TrainingRow:
    values = read_state("training", _FIELDS, row)
    return TrainingRow(**values | {"seed": unsigned(values["seed"])})


def _columns_of(reports: Sequence[Mapping[str, float | None]]) -> dict[str, NDArray[np.float64]]:
    """The reports as columns: float64 [n] by metric."""
    names = dict.fromkeys(name for report in reports for name in report)
    return {
        name: np.array([np.nan if (value := report.get(name)) is None else value for report in reports], np.float64)
        for name in names
    }


def _chunks(
    connection: Connection, training_id: int, columns: Mapping[str, NDArray[np.float64]]
) -> list[tuple[str, int, int, str, bytes]]:
    """(name, idx, n, codec, data) of each chunk that these columns change or add."""
    last = connection.execute(
        "SELECT idx, n FROM training_metric WHERE training_id = ? AND name = ? ORDER BY idx DESC LIMIT 1",
        (training_id, STEP),
    ).fetchone()
    index, begun = last or (0, 0)
    if begun >= METRIC_CHUNK:
        index, begun = index + 1, 0
    old: dict[str, NDArray[np.float64]] = {}
    if begun:
        rows = connection.execute(
            "SELECT name, codec, n, data FROM training_metric WHERE training_id = ? AND idx = ?", (training_id, index)
        )
        with row_of("training_metric", "training", training_id):
            old = {name: codec(codec_name).decode(data, n) for name, codec_name, n, data in rows}
    added = len(columns[STEP])
    encode = codec(_METRICS).encode
    chunks = []
    for name in dict.fromkeys((*old, *columns)):
        whole = np.concatenate(
            [
                old.get(name, np.full(begun, np.nan)),
                columns.get(name, np.full(added, np.nan)),
            ]
        )
        for number, first in enumerate(range(0, len(whole), METRIC_CHUNK)):
            part = whole[first : first + METRIC_CHUNK]
            # A chunk in which a metric was never reported has no row, except for steps and times.
            if name in old or not np.all(np.isnan(part)) or name in (STEP, ELAPSED):
                chunks.append((name, index + number, len(part), _METRICS, encode(part)))
    return chunks


def _read_columns(reader: Connection, training_id: int, names: Sequence[str]) -> list[NDArray[np.float64]]:
    """Whole columns, float64 [n] each, NaN where a metric was not reported."""
    # One statement, so that all columns show the same state of the training.
    marks = ", ".join("?" * len(names))
    rows = reader.execute(
        "SELECT name, idx, codec, n, data FROM training_metric"
        f" WHERE training_id = ? AND name IN ({marks}) ORDER BY idx",
        (training_id, *names),
    ).fetchall()
    with row_of("training_metric", "training", training_id):
        typed(rows, str, int, str, int, bytes)
        parts = {
            (name, idx): decode("training_metric", codec_name, [(n, data)]) for name, idx, codec_name, n, data in rows
        }
    sizes = {idx: n for name, idx, _, n, _ in rows if name == STEP}
    columns = []
    for name in names:
        pieces = [parts[name, idx] if (name, idx) in parts else np.full(n, np.nan) for idx, n in sizes.items()]
        columns.append(np.concatenate(pieces) if pieces else np.empty(0))
    return columns
