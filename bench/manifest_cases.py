"""What 500 manifests cost to check, default and plan."""

import json
import pathlib
import re
import tempfile

from figure import Figure
from measure import ROOT, run_built

COUNT = 500
WORKERS = re.compile(r'("?Worker"?:\s*\{?\s*"?replicas"?:\s*)\d+')
NAME = re.compile(r'("?metadata"?:\s*\{?\s*"?name"?:\s*"?)([a-z0-9-]+)')


def sources():
    """Manifests of every kind and version: the examples, and what the golden tests of jobs/ begin with."""
    texts = [path.read_text() for path in sorted(ROOT.glob("examples/*.yaml"))]
    for folder in ("golden", "golden_conversions"):
        for path in sorted((ROOT / "src" / "jobs" / folder).glob("*.json")):
            texts.append(json.dumps(json.loads(path.read_text())["manifest"], indent=2))
    return texts


def varied(text, number):
    """The manifest under another name, with 1 to 8 workers where it counts them."""
    text = NAME.sub(lambda found: f"{found[1]}{found[2]}-{number}", text, count=1)
    return WORKERS.sub(lambda found: f"{found[1]}{number % 8 + 1}", text)


def manifests(muster):
    del muster
    texts = sources()
    with tempfile.TemporaryDirectory() as directory:
        files = []
        for number in range(COUNT):
            path = pathlib.Path(directory) / f"{number}.yaml"
            path.write_text(varied(texts[number % len(texts)], number))
            files.append(path)
        [found] = run_built("muster_manifests_bench", *files)
        slowest = re.search(r'"?kind"?:\s*"?(\w+)', pathlib.Path(found["of"]).read_text())[1]
    return [Figure(f"validate, default and plan each of {COUNT} manifests, the slowest", found["slowest"], 1, "ms",
                   f"best of 3 each, a {slowest}; median {found['median'] * 1000:.0f} us; made of {len(texts)} of every kind and version")]


CASES = {"manifests": manifests}
