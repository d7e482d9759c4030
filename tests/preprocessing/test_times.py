"""Dates, times and durations: ordered columns, with thresholds that are written as such."""

import datetime
import json
import shutil
import sqlite3
import subprocess
from contextlib import closing

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sktree_opt import (
    GreedyTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    RowPredictor,
    RuleListClassifier,
    counterfactual,
    explain,
    export_code,
    export_rules,
    export_text,
    from_json,
    to_json,
    to_sklearn,
)
from sktree_opt.preprocessing._encoder import TableEncoder
from sktree_opt.preprocessing._times import TIME_KINDS, round_time, time_of_seconds, time_text
from tests.effort import examples

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

START = pd.Timestamp("2020-01-01")


def times():
    """A table of days, times of two kinds and durations with holes, its numbers, and classes."""
    rng = np.random.default_rng(0)
    n_rows = 200
    numbers = np.column_stack(
        [
            rng.integers(0, 900, n_rows) * 86400.0,
            rng.integers(0, 10**7, n_rows),
            rng.integers(0, 10**7, n_rows) + 0.25,
            rng.integers(-(10**5), 10**6, n_rows),
        ]
    )
    numbers[::7, 0] = numbers[::9, 3] = np.nan
    frame = pd.DataFrame(
        {
            "opened": START + pd.to_timedelta(numbers[:, 0], unit="s"),
            "seen": START + pd.to_timedelta(numbers[:, 1], unit="s"),
            "sent": (START + pd.to_timedelta(numbers[:, 2], unit="s")).tz_localize("UTC"),
            "wait": pd.to_timedelta(numbers[:, 3], unit="s"),
        }
    )
    y = (numbers[:, 0] > 4e7) + 2 * (numbers[:, 3] > 3e5) + (numbers[:, 2] > 5e6)
    numbers[:, :3] += START.timestamp()
    return frame, numbers, y.astype(int)


TABLES = {
    "pandas": lambda frame: frame,
    "microseconds": lambda frame: frame.assign(seen=frame["seen"].astype("datetime64[us]")),
    "objects": lambda frame: frame.astype(object),
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
    "brussels": lambda frame: frame.assign(sent=frame["sent"].dt.tz_convert("Europe/Brussels")),
}


@pytest.mark.parametrize("table", TABLES)
def test_times_are_seconds(table):
    frame, numbers, _ = times()
    encoder = TableEncoder().fit(TABLES[table](frame))
    assert encoder.kinds_ == ["datetime", "datetime", "datetime_utc", "timedelta"]
    for other in TABLES.values():
        np.testing.assert_allclose(encoder.transform(other(frame)), numbers, rtol=0, atol=1e-6)


def test_arrays_and_dates():
    days = np.array([["2020-01-01", "NaT"], ["2021-06-01", "1969-12-31"]], dtype="M8[D]")
    expected = [[1577836800.0, np.nan], [1622505600.0, -86400.0]]
    encoder = TableEncoder().fit(days)
    for table in (days, days.astype("M8[ns]"), days.astype(object), days.tolist()):
        np.testing.assert_array_equal(encoder.transform(table), expected)
    dates = pl.DataFrame({"a": [datetime.date(2020, 1, 1), None]})
    np.testing.assert_array_equal(TableEncoder().fit_transform(dates), [[1577836800.0], [np.nan]])
    waits = np.array([[1, 2]], dtype="m8[m]")
    np.testing.assert_array_equal(TableEncoder().fit_transform(waits), [[60.0, 120.0]])


@pytest.mark.parametrize(
    "model",
    [
        OptimalTreeClassifier(max_depth=2),
        OptimalTreeClassifier(max_depth=2, thresholds=4),
        OptimalTreeRegressor(max_depth=2),
        GreedyTreeClassifier(max_depth=3),
        RuleListClassifier(random_state=0),
    ],
    ids=str,
)
def test_trees_of_times_are_those_of_their_seconds(model):
    frame, numbers, y = times()
    expected = model.fit(numbers, y).predict(numbers)
    fitted = model.fit(frame, y)
    if isinstance(model, RuleListClassifier):
        # Rows held back may lie between a round time and a short number.
        expected = fitted.predict(frame)
    np.testing.assert_array_equal(fitted.predict(frame), expected)
    np.testing.assert_array_equal(fitted.predict(frame.astype(object)), expected)
    text = export_text(fitted)
    assert "opened" not in text or " 202" in text
    assert "wait" not in text or "day" in text
    if not isinstance(model, RuleListClassifier):
        np.testing.assert_array_equal(from_json(to_json(fitted)).predict(frame), expected)
    predict = RowPredictor(fitted)
    for i in range(40):
        row = frame.iloc[i].to_dict()
        written = {
            name: value.isoformat() if isinstance(value, datetime.datetime) and value == value
            else value
            for name, value in row.items()
        }  # fmt: skip
        assert predict(row) == predict(written) == expected[i]


def test_conditions_are_times():
    frame, _, y = times()
    model = OptimalTreeClassifier(max_depth=2).fit(frame, y)
    values = {
        type(condition["value"])
        for rule in export_rules(model)
        for condition in rule["conditions"]
        if condition["operator"] in ("<=", ">")
    }
    assert values <= {datetime.datetime, datetime.timedelta}
    assert values
    row = frame.iloc[1].to_dict()
    assert "here it is 10 days 6:14:41" in str(explain(model, row))
    found = counterfactual(model, row)
    assert RowPredictor(model)(found.row) == found.prediction != RowPredictor(model)(row)
    kinds = (datetime.datetime, datetime.timedelta)
    assert all(isinstance(change["to"], kinds) for change in found.changes)
    with pytest.raises(ValueError, match="scikit-learn's trees compare numbers only"):
        to_sklearn(model)


def written(frame):
    """Rows as other languages get them: texts in ISO format, and seconds."""
    return [
        {
            name: None if pd.isna(value)
            else value.total_seconds() if isinstance(value, datetime.timedelta)
            else str(value)
            for name, value in row.items()
        }
        for row in frame.to_dict("records")
    ]  # fmt: skip


def test_code_of_times(tmp_path):
    frame, _, y = times()
    frame = frame.drop(columns="sent")
    model = OptimalTreeClassifier(max_depth=3).fit(frame, y)
    expected, rows = model.predict(frame).tolist(), written(frame)
    scope = {}
    exec(export_code(model, language="python"), scope)
    assert [scope["predict"](row) for row in frame.to_dict("records")] == expected
    cells = [tuple(row.values()) for row in rows]
    query = export_code(model, language="sql")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute('CREATE TABLE "data" (opened TEXT, seen TEXT, wait REAL)')
        connection.executemany('INSERT INTO "data" VALUES (?, ?, ?)', cells)
        assert [int(row[4]) for row in connection.execute(query)] == expected
    duckdb = pytest.importorskip("duckdb").connect()
    duckdb.execute('CREATE TABLE "data" (opened DATE, seen TIMESTAMP, wait DOUBLE)')
    duckdb.executemany('INSERT INTO "data" VALUES (?, ?, ?)', cells)
    assert [int(row[4]) for row in duckdb.execute(query).fetchall()] == expected
    if node := shutil.which("node"):
        script = export_code(model, language="javascript")
        script += f"console.log(JSON.stringify({json.dumps(rows)}.map(predict)))"
        (tmp_path / "tree.js").write_text(script)
        out = subprocess.run([node, tmp_path / "tree.js"], capture_output=True, check=True)
        assert json.loads(out.stdout) == expected


@examples(60)
@given(
    lower=st.integers(-(2**33), 2**33),
    gap=st.integers(1, 2**31),
    unit=st.sampled_from([1e-6, 1.0, 86400.0]),
    kind=st.sampled_from(TIME_KINDS),
)
def test_round_times_lie_between(lower, gap, unit, kind):
    lower, gap = lower * min(unit, 1.0), gap * min(unit, 1.0)
    if unit > 1.0:
        lower, gap = lower // unit * unit, max(unit, gap // unit * unit)
    assume(lower + gap > lower)
    assert lower <= round_time(lower, lower + gap, kind) < lower + gap


@pytest.mark.parametrize(
    ("lower", "upper", "text"),
    [
        ("2019-11-05", "2020-02-01", "2020-01-01"),
        ("2020-01-03", "2020-01-04", "2020-01-03"),
        ("2020-01-03", "2020-03-04", "2020-02-01"),
        ("2020-01-03 10:00", "2020-01-03 11:00", "2020-01-03 10:30"),
        ("2020-01-03 10:00:01", "2020-01-03 10:00:04", "2020-01-03 10:00:02"),
    ],
)
def test_round_dates(lower, upper, text):
    ends = [np.datetime64(end, "s").astype(float) for end in (lower, upper)]
    assert time_text(round_time(*ends, "datetime"), "datetime") == text


def test_texts_and_values_of_times():
    assert time_text(-90000.0, "timedelta") == "-2 days 23:00"
    assert time_text(1.5, "timedelta") == "0:00:01.500000"
    assert time_text(0.25, "datetime_utc") == "1970-01-01 00:00:00.250000+00:00"
    assert time_of_seconds(0.5, "datetime") == datetime.datetime(1970, 1, 1, 0, 0, 0, 500000)
    assert time_of_seconds(60.0, "datetime_utc").tzinfo is datetime.UTC


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("in_fit", "later", "message"),
    [
        ([datetime.datetime(2020, 1, 1)], [1.0], "'a' holds.*, but held dates or times without"),
        ([datetime.datetime(2020, 1, 1)], ["x"], "holds (values|dates or times, got 'x')"),
        ([datetime.timedelta(1)], [datetime.datetime(2020, 1, 1)], "but held durations"),
        ([1.0], [datetime.timedelta(1)], "'a' holds durations, but held numbers in fit"),
    ],
)
def test_another_kind_of_column(table, in_fit, later, message):
    encoder = TableEncoder().fit(table({"a": in_fit}))
    with pytest.raises((TypeError, ValueError), match=message):
        encoder.transform(table({"a": later}))


def test_times_with_and_without_a_zone():
    naive = datetime.datetime(2020, 1, 1)
    mixed = [[naive], [naive.replace(tzinfo=datetime.UTC)]]
    with pytest.raises(TypeError, match="mixes times with and without a time zone"):
        TableEncoder().fit(mixed)
    encoder = TableEncoder().fit(mixed[:1])
    with pytest.raises(TypeError, match="without a time zone"):
        encoder.transform(mixed[1:])
    model = OptimalTreeClassifier(max_depth=1).fit([[naive], [naive.replace(year=2021)]], [0, 1])
    predict = RowPredictor(model)
    assert predict({"x0": "2020-02-01"}) == 0
    with pytest.raises(ValueError, match="holds dates or times, got 'soon'"):
        predict({"x0": "soon"})
    with pytest.raises(TypeError, match="held dates or times without a time zone in fit, got 5"):
        predict({"x0": 5})


def test_columns_by_dtype_and_by_name():
    frame = pd.DataFrame({"zip": [1, 2, 1], "b": ["x", "y", "x"], "c": [0.5, 1.0, 2.0]})
    by_name = TableEncoder(["from_dtype", "zip"]).fit(frame)
    assert by_name.kinds_ == ["nominal", "nominal", "numeric"]
    assert TableEncoder(("from_dtype", 2)).fit(frame).kinds_ == ["numeric", "nominal", "nominal"]
    assert TableEncoder(["from_dtype", 0]).fit(np.eye(2)).kinds_ == ["nominal", "numeric"]
    with pytest.raises(ValueError, match="names unknown columns"):
        TableEncoder(["from_dtype", "d"]).fit(frame)


def test_an_identifier_is_warned_about_and_not_split():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"zip": np.arange(200).astype(str), "a": rng.normal(size=200)})
    y = (frame["a"] + rng.normal(size=200) > 0).astype(int)
    with pytest.warns(UserWarning, match="column 'zip' are nearly distinct"):
        tree = GreedyTreeClassifier(pruning=None).fit(frame, y)
    assert tree.tree_.features.tolist() == [1]
    with pytest.warns(UserWarning, match="nearly distinct"):
        tree = GreedyTreeClassifier(nominal_split="one_vs_rest", pruning=None).fit(frame, y)
    assert 0 in tree.tree_.features
    frame["zip"] = np.repeat(np.arange(60), 4)[:200].astype(str)
    assert GreedyTreeClassifier(pruning=None).fit(frame, y).tree_.n_features == 2
