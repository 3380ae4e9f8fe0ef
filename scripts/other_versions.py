"""What the drills of other versions have in common: which are wanted, each in turn, and whether all passed."""

import argparse
import pathlib
import sys

from programs import BuildFailed, Missing


def play(name, known, place, on, options=lambda parser: None):
    """Calls on(minor, wanted, what pytest is told) for each version that was asked for, and returns the drill's status. `place` is a format
    of where one is described; `options` adds what else may be asked for."""
    arguments = sys.argv[1:]
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(prog=f"./dev drill {name}")
    parser.add_argument("muster", type=pathlib.Path)
    parser.add_argument("minors", nargs="*", metavar="MINOR", help=f"some of {', '.join(known)} (all)")
    options(parser)
    wanted = parser.parse_args(arguments[:cut])
    unknown = set(wanted.minors) - set(known)
    if unknown:
        parser.error(f"there is no {place.format(min(unknown))}")
    try:
        bad = [minor for minor in wanted.minors or known if not on(minor, wanted, arguments[cut + 1:])]
    except (Missing, BuildFailed) as why:
        print(f"{name}: {why}", file=sys.stderr)
        return 1
    print(f"---- not all passed on {', '.join(bad)}" if bad else "---- all passed")
    return 1 if bad else 0
