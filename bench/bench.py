"""Measures what must hold. ./dev bench [NAME...] [--record]

Prints each figure with its limit and whether it holds; exits 1 when one does not.
"""

import argparse
import os
import sys

import machine
import record
from cases import BY_NAME_ONLY, CASES
from measure import Failed, Skipped


def parse():
    parser = argparse.ArgumentParser(
        prog="./dev bench", description="Measures what must hold; exits 1 when a figure does not.",
        epilog="Without NAME: all but " + " and ".join(BY_NAME_ONLY) + ", which take tens of minutes.")
    parser.add_argument("name", nargs="*", help="one or more of: " + ", ".join(CASES))
    parser.add_argument("--record", action="store_true", help="write the figures to docs/benchmarks.md")
    parser.add_argument("--rounds", type=int, metavar="N", help="how often elastic-* measure what they take a median of")
    options = parser.parse_args()
    unknown = [name for name in options.name if name not in CASES]
    if unknown:
        parser.error(f"no benchmark named {unknown[0]}; there are: {', '.join(CASES)}")
    return options


def show(value):
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def measure(name, muster):
    """Figures of one case, or None when it failed; prints as it goes."""
    try:
        figures = CASES[name](muster)
    except Skipped as why:
        print(f"{name}: not measured, {why}")
        return []
    except Failed as why:
        print(f"{name}: FAILED, {why}")
        return None
    for figure in figures:
        verdict = "holds" if figure.holds else "DOES NOT HOLD"
        print(f"{name}: {figure.what}: {show(figure.value)} {figure.unit}, limit {figure.limit} {figure.unit}: "
              f"{verdict}  ({figure.note})", flush=True)
    return figures


def main():
    options = parse()
    if options.rounds:
        os.environ["MUSTER_BENCH_ROUNDS"] = str(options.rounds)
    muster = os.environ["MUSTER"]
    if note := machine.warning(machine.idle_page_us()):
        print(note, flush=True)
    results = {name: measure(name, muster) for name in options.name or [n for n in CASES if n not in BY_NAME_ONLY]}
    if options.record:
        record.write({name: figures for name, figures in results.items() if figures})
    good = all(figures is not None and all(figure.holds for figure in figures) for figures in results.values())
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
