"""What a real server answered, one file for each test that compares with it.

Recorded anew by running the test on a real server with MUSTER_RECORD=1."""

import json
import os
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent / "recorded"


def path_of(name):
    return FOLDER / f"{name}.json"


def recorded(name):
    """What was recorded, by its names; nothing where it is recorded now."""
    return {} if os.environ.get("MUSTER_RECORD") else json.loads(path_of(name).read_text())


def compare(name, answers):
    """Fails if the answers, by their names, are not those that were recorded."""
    if os.environ.get("MUSTER_RECORD"):
        rows = ",\n".join(f"{json.dumps(key)}: {json.dumps(answers[key], sort_keys=True)}" for key in answers)
        path_of(name).write_text("{\n" + rows + "\n}\n")
    wanted = json.loads(path_of(name).read_text())
    assert sorted(answers) == sorted(wanted), "record it again"
    wrong = [f"{key}:\n  answered {json.dumps(answers[key])}\n  recorded {json.dumps(wanted[key])}"
             for key in answers if json.loads(json.dumps(answers[key])) != wanted[key]]
    assert not wrong, f"{len(wrong)} of {len(answers)} differ\n" + "\n".join(wrong[:20])
