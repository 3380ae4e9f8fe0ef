"""How long the event loops of daemons were held, and what for: of a daemon's metric and of its log."""

import contextlib
import http.client
import json
import os
import re
import ssl
import urllib.request
from typing import NamedTuple

# Of CPU time of the loop's thread, in the release build. A build with sanitizers has to be given its own.
LIMIT_MS = float(os.environ.get("MUSTER_LONGEST_HOLD_MS", "50"))

METRIC = re.compile(r"^muster_event_loop_longest_hold_seconds (\S+)$", re.MULTILINE)
LINE = re.compile(r'held the event loop for too long ms=([0-9.]+) worked_for=("(?:[^"\\]|\\.)*"|\S+)')


class Hold(NamedTuple):
    ms: float = 0.0
    work: str = "nothing"

    def __str__(self):
        return f"{self.ms:.0f} ms ({self.work})"


longest = Hold()  # of all daemons of this run


def metrics(state):
    """The text of /metrics of the daemon with this state directory; empty if it does not answer."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        address = json.loads((state / "lock").read_text())["address"]
        request = urllib.request.Request(address + "/metrics")
        request.add_header("Authorization", "Bearer " + (state / "admin.token").read_text().strip())
        trusted = ssl.create_default_context(cafile=state / "ca.crt")
        with urllib.request.urlopen(request, context=trusted, timeout=10) as answer:
            return answer.read().decode()
    return ""


def logged(state):
    """The holds that its log has, those of earlier daemons of the directory too."""
    found = []
    for path in sorted(state.glob("muster.log*")):
        with contextlib.suppress(OSError):
            found += [Hold(float(ms), work.strip('"')) for ms, work in LINE.findall(path.read_text(errors="replace"))]
    return found


def of(state):
    """The longest hold of the daemon with this state directory; of one that is gone, as far as its log has it."""
    found = max(logged(state), default=Hold())
    for seconds in METRIC.findall(metrics(state)):
        ms = float(seconds) * 1000
        # The log leaves out holds that are hardly longer than one that it has, and short ones.
        if ms > found.ms:
            found = Hold(ms, found.work if found.ms else "shorter than what is logged")
    return found


def note(hold):
    """Remembers it, and fails if it is too long."""
    global longest  # noqa: PLW0603 (one for the whole run)
    longest = max(longest, hold)
    assert hold.ms <= LIMIT_MS, f"the event loop was held for {hold}, at most {LIMIT_MS:.0f} ms are right"


def summary():
    return f"the longest hold of the loop: {longest}"
