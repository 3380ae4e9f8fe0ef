"""Keeps the last figures in docs/benchmarks.md, each with the commit and the machine it comes from."""

import os
import pathlib
import platform
import re
import subprocess
import time

from measure import ROOT

PAGE = ROOT / "docs" / "benchmarks.md"
HEAD = "| Benchmark | What | Limit | Measured | Holds | How | Commit | Date |\n|---|---|---|---|---|---|---|---|\n"
BEGIN, END = "<!-- figures -->\n", "<!-- /figures -->"


def commit():
    def git(*args):
        return subprocess.run(["git", "-C", ROOT, *args], capture_output=True, text=True, check=False).stdout.strip()

    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "--", "src", "cmake") else "")


def machine():
    said = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next((line.split(":", 1)[1].strip() for line in said if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', pathlib.Path("/etc/os-release").read_text(), re.M)).get("PRETTY_NAME", "")
    return f"{len(os.sched_getaffinity(0))} cores of {cpu}, {memory:.0f} GiB, {system}, Linux {platform.release().split('-')[0]}"


def row(name, figure, at):
    def number(value):
        return f"{value:.3g}" if value < 100 else f"{value:.0f}"

    cells = [name, figure.what, f"{figure.limit} {figure.unit}", f"{number(figure.value)} {figure.unit}",
             "yes" if figure.holds else "**no**", figure.note, f"`{at}`", time.strftime("%Y-%m-%d", time.gmtime())]
    return "| " + " | ".join(cells) + " |\n"


def write(results):
    """Replaces the rows of the benchmarks that were run; the others stay as they are."""
    from cases import CASES

    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    rows = {}
    for line in table.splitlines(keepends=True):
        name = line.split("|")[1].strip() if line.startswith("| ") else ""
        if name in CASES and name not in results:
            rows.setdefault(name, []).append(line)
    at = commit()
    for name, figures in results.items():
        rows[name] = [row(name, figure, at) for figure in figures]
    body = "".join("".join(rows[name]) for name in CASES if name in rows)
    PAGE.write_text(f"{before}{BEGIN}Measured on {machine()}.\n\n{HEAD}{body}{END}{after}")
    print(f"recorded in {PAGE.relative_to(ROOT)}")
