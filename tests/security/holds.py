"""How long the event loops of daemons were held, and what for: of a daemon's metric and of its log."""

import http.client
import json
import os
import pathlib
import re
import ssl
import time
import urllib.request
from typing import NamedTuple

# Of CPU time of the loop's thread, in the release build. A build with sanitizers has to be given its own.
LIMIT_MS = float(os.environ.get("MUSTER_LONGEST_HOLD_MS", "50"))
ANSWERS_IN_S = 20

METRIC = re.compile(r"^muster_event_loop_longest_hold_seconds (\S+)$", re.MULTILINE)
TURN = re.compile(r"^muster_event_loop_longest_turn_seconds (\S+)$", re.MULTILINE)
BESIDE = re.compile(r'^muster_side_thread_longest_seconds{computation="([^"]*)"} (\S+)$', re.MULTILINE)
LINE = re.compile(r'held the event loop for too long ms=([0-9.]+) passed_ms=[0-9.]+ worked_for=("(?:[^"\\]|\\.)*"|\S+)')


class Hold(NamedTuple):
    ms: float = 0.0
    work: str = "nothing"

    def __str__(self):
        return f"{self.ms:.0f} ms ({self.work})"


# Of all daemons of this run.
longest = Hold()
longest_turn = Hold()  # in time that passes: a busy machine adds to it
longest_beside = Hold()


def running(state):
    """Whether a daemon has this state directory."""
    try:
        pid = json.loads((state / "lock").read_text())["pid"]
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, ValueError, KeyError):
        return False
    return fields[0] not in "ZX"


def read_metrics(state):
    address = json.loads((state / "lock").read_text())["address"]
    request = urllib.request.Request(address + "/metrics")
    request.add_header("Authorization", "Bearer " + (state / "admin.token").read_text().strip())
    trusted = ssl.create_default_context(cafile=state / "ca.crt")
    trusted.load_cert_chain(state / "admin.crt", state / "admin.key")
    with urllib.request.urlopen(request, context=trusted, timeout=10) as answer:
        return answer.read().decode()


def metrics(state):
    """The text of /metrics of the daemon with this state directory; None if there is none. One that does not answer fails."""
    deadline = time.monotonic() + ANSWERS_IN_S
    while running(state):
        try:
            return read_metrics(state)
        except (OSError, ValueError, http.client.HTTPException) as failure:
            # It may be about to end.
            assert time.monotonic() < deadline, f"the daemon of {state} shows no metrics: {failure!r}"
            time.sleep(0.05)
    return None


def logged(state):
    """The holds that its log has, those of earlier daemons of the directory too."""
    found = []
    for path in sorted(state.glob("muster.log*")):
        try:
            found += [Hold(float(ms), work.strip('"')) for ms, work in LINE.findall(path.read_text(errors="replace"))]
        except OSError:  # it was renamed
            continue
    return found


def of(state):
    """The longest hold of the daemon with this state directory; of one that is gone, as far as its log has it."""
    global longest_turn, longest_beside  # noqa: PLW0603 (one for the whole run)
    found = max(logged(state), default=Hold())
    text = metrics(state)
    if text is None:
        return found
    for seconds in TURN.findall(text):
        longest_turn = max(longest_turn, Hold(float(seconds) * 1000, "waits included"))
    for work, seconds in BESIDE.findall(text):
        longest_beside = max(longest_beside, Hold(float(seconds) * 1000, work))
    values = METRIC.findall(text)
    # A daemon that does not say it must not pass for one that is never held.
    assert len(values) == 1, f"the daemon of {state} does not show how long its event loop was held"
    ms = float(values[0]) * 1000
    # The log leaves out holds that are hardly longer than one that it has, and short ones.
    return Hold(ms, found.work if found.ms else "shorter than what is logged") if ms > found.ms else found


def note(hold):
    """Remembers it, and fails if it is too long."""
    global longest  # noqa: PLW0603 (one for the whole run)
    longest = max(longest, hold)
    assert hold.ms <= LIMIT_MS, f"the event loop was held for {hold}, at most {LIMIT_MS:.0f} ms are right"


def summary():
    return f"the longest hold of the loop: {longest}; its longest turn: {longest_turn}; beside it: {longest_beside}"
