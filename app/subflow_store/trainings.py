"""Trainings in the store: what was asked for, how far it is, its metrics as curves, its evaluations.

A report of a training has a step and some figures; reports come one by one and are read curve by curve, so they are
kept as columns in chunks. The last chunk is written anew with each batch of reports until it is full: a batch comes
about once a second, and a chunk takes a millisecond.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from subflow_store import schema
from subflow_store.codec import codec
from subflow_store.database import Database, Reader
from subflow_store.documents import strict_json
from subflow_store.errors import RunNotFound
from subflow_store.liveness import ProcessIdentity
from subflow_store.queries import decode
from subflow_store.training_values import (
    OPEN_STATES,
    TRAINING_STATES,
    BestPolicy,
    EvaluationFigure,
    MetricCurve,
    TrainingMoment,
    TrainingRow,
    TrainingStart,
)
from subflow_store.writer import Writer

T = TypeVar("T")

STEP = "step"
ELAPSED = "elapsed_s"

METRIC_CHUNK = 1024
"""Reports in a chunk."""

_METRICS = "f8/shuffle/zstd3"
_UNSIGNED = (1 << 64) - 1
_FIELDS = TrainingRow._fields[: TrainingRow._fields.index("scenario_text")]
_IDENTITY = ("process_host", "process_boot", "process_pid", "process_started")
_SELECT = f"SELECT {', '.join(_FIELDS)}, process_host, process_boot, process_started FROM training"
_STORE_CHUNK = (
    "INSERT INTO training_metric (training_id, name, idx, n, codec, data) VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (training_id, name, idx) DO UPDATE SET n = excluded.n, data = excluded.data"
)
_STORE_FIGURE = (
    "INSERT INTO training_evaluation (training_id, step, controller, metric, mean, ci95, n)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (training_id, step, controller, metric) DO UPDATE"
    " SET mean = excluded.mean, ci95 = excluded.ci95, n = excluded.n"
)


class TrainingStore:
    """The trainings of a store, as `Store.trainings`. All methods may be called from any thread."""

    def __init__(self, database: Database, writing: Callable[[], Writer]) -> None:
        """For the store."""
        self._database = database
        self._writing = writing

    # Asking

    def rows(self, *, state: str | None = None, limit: int | None = None) -> list[TrainingRow]:
        """The trainings, newest first, without their documents.

        Args:
            state: the state they must have.
            limit: how many at most.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            rows = [_row(row) for row in reader.raw.execute(f"{_SELECT} ORDER BY id DESC").fetchall()]
        # The state depends on whether the process is still there, which SQL cannot ask.
        return [row for row in rows if state is None or row.state == state][:limit]

    def get(self, training_id: int) -> TrainingRow:
        """One training with its scenario and config.

        Raises:
            RunNotFound: if there is none of that id.
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            row = self._found(_fetch(reader, training_id), training_id)
            documents = dict(
                reader.raw.execute(
                    "SELECT kind, text FROM training_document WHERE training_id = ?", (training_id,)
                ).fetchall()
            )
        return _row(row)._replace(scenario_text=documents["scenario"], config=json.loads(documents["config"]))

    def of_folder(self, folder: str) -> TrainingRow | None:
        """The newest training that keeps its files in that folder, or None.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            row = reader.raw.execute(f"{_SELECT} WHERE folder = ? ORDER BY id DESC LIMIT 1", (folder,)).fetchone()
        return None if row is None else _row(row)

    def metrics(self, training_id: int) -> list[str]:
        """Names of the metrics there are, sorted.

        Raises:
            RunNotFound: if there is no such training.
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            self._found(_fetch(reader, training_id), training_id)
            rows = reader.raw.execute(
                "SELECT DISTINCT name FROM training_metric WHERE training_id = ? ORDER BY name", (training_id,)
            ).fetchall()
        return [name for (name,) in rows if name not in (STEP, ELAPSED)]

    def curve(self, training_id: int, metric: str) -> MetricCurve:
        """One metric over the whole training; empty if it was never reported.

        Raises:
            RunNotFound: if there is no such training.
            StoreError: if the file cannot be read.
        """
        return self.curves(training_id, [metric])[metric]

    def curves(self, training_id: int, metrics: Sequence[str]) -> dict[str, MetricCurve]:
        """Several metrics, by name; they share their steps.

        Raises:
            RunNotFound: if there is no such training.
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            self._found(_fetch(reader, training_id), training_id)
            step, elapsed_s, *columns = _read_columns(reader, training_id, [STEP, ELAPSED, *metrics])
        # After a crash a training goes on from its last checkpoint: what came after that is told a second time.
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
            RunNotFound: if there is no such training.
            StoreError: if the file cannot be read.
        """
        with self._database.reading() as reader:
            self._found(_fetch(reader, training_id), training_id)
            rows = reader.raw.execute(
                "SELECT step, controller, metric, mean, ci95, n FROM training_evaluation"
                " WHERE training_id = ? ORDER BY step, controller, metric",
                (training_id,),
            ).fetchall()
        return [EvaluationFigure._make(row) for row in rows]

    # Writing

    def add(self, start: TrainingStart) -> int:
        """List a training, as waiting; returns its id.

        Raises:
            RunNotFound: if its parent is not there.
            StoreError: if it cannot be written.
        """
        if not 0 <= start.seed <= _UNSIGNED:
            raise ValueError(f"seed {start.seed} is not from 0 to 2**64 - 1")
        now = datetime.now(UTC)
        row = {
            "name": start.name,
            "agent": start.agent,
            "scenario_name": start.scenario_name,
            "seed": start.seed - (1 << 64) if start.seed >= 1 << 63 else start.seed,
            "state": "waiting",
            "message": "",
            "folder": start.folder,
            "version": start.version,
            "note": "",
            "started_at": (start.started_at_utc or now).astimezone(UTC).isoformat(),
            "updated_at": now.isoformat(),
            "elapsed_s": 0.0,
            "steps": 0,
            "policy_hash": "",
            "parent_id": start.parent_id,
            "reports_read": 0,
            **_process_columns(None),
        }
        documents = {"scenario": start.scenario_text, "config": strict_json(start.config)}

        def insert(connection: sa.Connection) -> int:
            if start.parent_id is not None:
                self._check(connection, start.parent_id)
            inserted = connection.execute(sa.insert(schema.training), row).inserted_primary_key
            assert inserted is not None
            connection.execute(
                sa.insert(schema.training_document),
                [{"training_id": inserted[0], "kind": kind, "text": text} for kind, text in documents.items()],
            )
            return int(inserted[0])

        return self._writing().call(insert)

    def set_state(
        self, training_id: int, state: str, *, message: str = "", process: ProcessIdentity | None = None
    ) -> None:
        """Say where a training stands; see `TrainingMoment`.

        Raises:
            RunNotFound: if there is no such training.
            StoreError: if it cannot be written.
        """
        self._change(training_id, _moment_columns(TrainingMoment(state, message, process)))

    def rename(self, training_id: int, name: str) -> None:
        """Give a training another name.

        Raises:
            RunNotFound: if there is no such training.
            StoreError: if it cannot be written.
        """
        self._change(training_id, {"name": name})

    def set_note(self, training_id: int, text: str) -> None:
        """Replace a training's note.

        Raises:
            RunNotFound: if there is no such training.
            StoreError: if it cannot be written.
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
        """Add reports of metrics, figures of evaluations, and what follows from them: all or nothing.

        Args:
            training_id: the training.
            reports: in order; each has at least `step` and `elapsed_s`. None and NaN stand for "not known".
            figures: of evaluations; those of the same step, controller and metric are replaced.
            reports_read: bytes of the training's file of reports that are now in the store.
            moment: where it stands now; None: as before.
            best: the best policy now; None: as before.

        Raises:
            RunNotFound: if there is no such training.
            StoreError: if it cannot be written.
        """
        columns = _columns_of(reports)
        figure_rows = [(training_id, *figure) for figure in figures]
        changes: dict[str, Any] = {"updated_at": datetime.now(UTC).isoformat()}
        if reports:
            if not all(np.all(np.isfinite(columns.get(name, np.nan))) for name in (STEP, ELAPSED)):
                raise ValueError(f"a report without {STEP} or {ELAPSED}")
            changes |= {"steps": int(columns[STEP][-1]), "elapsed_s": float(columns[ELAPSED][-1])}
        if reports_read is not None:
            changes["reports_read"] = reports_read
        if moment is not None:
            changes |= _moment_columns(moment)
        if best is not None:
            changes |= {f"best_{name}": value for name, value in best._asdict().items() if name != "policy_hash"}
            changes["policy_hash"] = best.policy_hash

        def write(connection: sa.Connection) -> None:
            self._check(connection, training_id)
            if reports:
                chunks = _chunks(connection, training_id, columns)
                connection.exec_driver_sql(_STORE_CHUNK, [(training_id, *chunk) for chunk in chunks])
            if figure_rows:
                connection.exec_driver_sql(_STORE_FIGURE, figure_rows)
            connection.execute(sa.update(schema.training).where(schema.training.c.id == training_id).values(changes))

        self._writing().call(write)

    def delete(self, training_ids: Iterable[int]) -> None:
        """Remove trainings from the list, with their curves; their folders stay. Unknown ids are passed over.

        Raises:
            StoreError: if it cannot be written.
        """
        rows = [(int(training_id),) for training_id in training_ids]

        def remove(connection: sa.Connection) -> None:
            connection.exec_driver_sql("DELETE FROM training WHERE id = ?", rows)

        writer = self._writing()
        if rows:
            writer.call(remove)

    # Inside

    def _change(self, training_id: int, values: dict[str, Any]) -> None:
        def change(connection: sa.Connection) -> None:
            self._check(connection, training_id)
            connection.execute(sa.update(schema.training).where(schema.training.c.id == training_id).values(values))

        self._writing().call(change)

    def _check(self, connection: sa.Connection, training_id: int) -> None:
        row = connection.exec_driver_sql("SELECT 1 FROM training WHERE id = ?", (training_id,)).first()
        self._found(row, training_id)

    def _found(self, value: T | None, training_id: int) -> T:
        if value is None:
            raise RunNotFound(
                f"there is no training {training_id}",
                path=self._database.label,
                way_on="`subflow trainings` lists what there is.",
            )
        return value


def _fetch(reader: Reader, training_id: int) -> Any:
    return reader.raw.execute(f"{_SELECT} WHERE id = ?", (training_id,)).fetchone()


def _row(row: Sequence[Any]) -> TrainingRow:
    *values, host, boot, started = row
    fields = dict(zip(_FIELDS, values, strict=True))
    fields["seed"] &= _UNSIGNED
    for name in ("started_at", "updated_at", "ended_at"):
        if fields[name] is not None:
            fields[name] = datetime.fromisoformat(fields[name])
    if fields["state"] in ("running", "paused"):
        age_s = (datetime.now(UTC) - fields["updated_at"]).total_seconds()
        if ProcessIdentity(host, boot, fields["process_pid"], started).is_gone(age_s):
            fields |= {"state": "interrupted", "process_pid": 0, "ended_at": fields["updated_at"]}
    return TrainingRow(**fields)


def _moment_columns(moment: TrainingMoment) -> dict[str, Any]:
    if moment.state not in TRAINING_STATES:
        raise ValueError(f'"{moment.state}" is none of {", ".join(TRAINING_STATES)}')
    now = datetime.now(UTC).isoformat()
    return {
        "state": moment.state,
        "message": moment.message,
        "updated_at": now,
        "ended_at": None if moment.state in OPEN_STATES else now,
        **_process_columns(moment.process),
    }


def _process_columns(process: ProcessIdentity | None) -> dict[str, Any]:
    parts = ("", "", 0, "") if process is None else (process.host, process.boot, process.pid, process.started)
    return dict(zip(_IDENTITY, parts, strict=True))


def _columns_of(reports: Sequence[Mapping[str, float | None]]) -> dict[str, NDArray[np.float64]]:
    """The reports turned by a right angle: float64 [n] by metric."""
    names = dict.fromkeys(name for report in reports for name in report)
    return {
        name: np.array([np.nan if (value := report.get(name)) is None else value for report in reports], np.float64)
        for name in names
    }


def _chunks(
    connection: sa.Connection, training_id: int, columns: Mapping[str, NDArray[np.float64]]
) -> list[tuple[str, int, int, str, bytes]]:
    """(name, idx, n, codec, data) of each chunk that these columns change or add."""
    last = connection.exec_driver_sql(
        "SELECT idx, n FROM training_metric WHERE training_id = ? AND name = ? ORDER BY idx DESC LIMIT 1",
        (training_id, STEP),
    ).first()
    index, begun = (0, 0) if last is None else (int(last[0]), int(last[1]))
    if begun >= METRIC_CHUNK:
        index, begun = index + 1, 0
    old: dict[str, NDArray[np.float64]] = {}
    if begun:
        rows = connection.exec_driver_sql(
            "SELECT name, codec, n, data FROM training_metric WHERE training_id = ? AND idx = ?", (training_id, index)
        )
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
            # A metric that was not reported in a whole chunk has no row there.
            if name in old or not np.all(np.isnan(part)) or name in (STEP, ELAPSED):
                chunks.append((name, index + number, len(part), _METRICS, encode(part)))
    return chunks


def _read_columns(reader: Reader, training_id: int, names: Sequence[str]) -> list[NDArray[np.float64]]:
    """Whole columns, float64 [n] each, NaN where a metric was not reported."""
    # One statement, so that all columns are of one moment while the training goes on.
    marks = ", ".join("?" * len(names))
    rows = reader.raw.execute(
        "SELECT name, idx, codec, n, data FROM training_metric"
        f" WHERE training_id = ? AND name IN ({marks}) ORDER BY idx",
        (training_id, *names),
    ).fetchall()
    parts = {(name, idx): decode(codec_name, [(n, data)]) for name, idx, codec_name, n, data in rows}
    sizes = {idx: n for name, idx, _, n, _ in rows if name == STEP}
    columns = []
    for name in names:
        pieces = [parts[name, idx] if (name, idx) in parts else np.full(n, np.nan) for idx, n in sizes.items()]
        columns.append(np.concatenate(pieces) if pieces else np.empty(0))
    return columns
