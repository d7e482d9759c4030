"""The file of a checkpoint: what it keeps, and what is refused."""

import json

import numpy as np
import pytest

from sktree_opt.utils._checkpoint import Checkpoint, write

FIRST, SECOND = b"1", b"2"


def record_of(path, fingerprint=FIRST, owner="Owner"):
    return Checkpoint(path, owner).begin("search", fingerprint)


def test_a_state_comes_back_as_it_was(tmp_path):
    state = {
        "numbers": [0.1, -np.inf, 2**60, None, True],
        "arrays": [np.arange(6, dtype=np.int32).reshape(2, 3), np.array([1e-300, np.nan])],
        "empty": np.empty((0, 2), dtype=np.uint8),
    }
    record = record_of(tmp_path / "file")
    assert record.state is None
    record.write(state)
    found = record_of(tmp_path / "file").state
    assert found["numbers"] == state["numbers"]
    for before, after in zip(
        [*state["arrays"], state["empty"]], [*found["arrays"], found["empty"]]
    ):
        assert after.dtype == before.dtype
        np.testing.assert_array_equal(after, before)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("change", [{"fingerprint": SECOND}, {"owner": "Other"}])
def test_a_file_of_another_search_is_refused(tmp_path, change):
    record_of(tmp_path / "file").write({})
    before = (tmp_path / "file").read_bytes()
    with pytest.raises(ValueError, match="belongs to another search"):
        record_of(tmp_path / "file", **change)
    assert (tmp_path / "file").read_bytes() == before


def test_every_changed_byte_is_noticed(tmp_path, global_random_seed):
    record_of(tmp_path / "file").write({"array": np.arange(5.0), "number": 3})
    content = (tmp_path / "file").read_bytes()
    rng = np.random.default_rng(global_random_seed)
    for at in rng.choice(len(content) - 1, 60, replace=False).tolist():
        damaged = bytearray(content)
        damaged[at] ^= 1 << rng.integers(8)
        (tmp_path / "file").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"checkpoint=.*(damaged|not a checkpoint|version)"):
            record_of(tmp_path / "file")
    for length in rng.choice(len(content) - 1, 20, replace=False).tolist():
        (tmp_path / "file").write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"checkpoint=.*(damaged|not a checkpoint)"):
            record_of(tmp_path / "file")


@pytest.mark.parametrize(
    "array",
    [
        {"dtype": "|O", "shape": [1], "data": "AAAAAAAAAAA="},
        {"dtype": "<f8", "shape": [2], "data": "AAAAAAAAAAA="},
        {"dtype": "<f8", "shape": [1], "data": "not base64"},
        {"dtype": "no type", "shape": [1], "data": ""},
    ],
)
def test_arrays_hold_numbers_alone(tmp_path, array):
    searches = {"search": {"fingerprint": FIRST.hex(), "state": array}}
    write(tmp_path / "file", "Owner", searches)
    with pytest.raises(ValueError, match="damaged"):
        record_of(tmp_path / "file")


def test_other_files_and_versions_are_named(tmp_path):
    (tmp_path / "file").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="not a checkpoint of sktree_opt"):
        record_of(tmp_path / "file")
    record_of(tmp_path / "other").write({})
    head, body = (tmp_path / "other").read_bytes().split(b"\n", 1)
    about = json.loads(head) | {"version": 2}
    (tmp_path / "other").write_bytes(json.dumps(about).encode() + b"\n" + body)
    with pytest.raises(ValueError, match="format version 2"):
        record_of(tmp_path / "other")


def test_objects_are_not_written(tmp_path):
    with pytest.raises(TypeError, match="holds numbers"):
        record_of(tmp_path / "file").write({"object": object()})


def test_a_path_that_cannot_be_written_to_is_found_out_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        record_of(tmp_path / "no folder" / "file")


def test_a_search_goes_on_without_its_checkpoint(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    record = record_of(folder / "file")
    (folder / "file").unlink()
    folder.rmdir()
    with pytest.warns(UserWarning, match="cannot be written any more"):
        record.write({})
    record.write({})
