"""Puts what the golden tests found in place of the files that they compared with: golden.py FOUND FILES."""

import json
import pathlib
import sys


def main() -> None:
    found, files = map(pathlib.Path, sys.argv[1:])
    written = sorted(found.glob("*/*.json"))
    for path in written:
        text = json.dumps(json.loads(path.read_text()), indent=1, ensure_ascii=False)
        target = files / path.relative_to(found)
        target.write_text(text + "\n")
        print(f"{target} is written.")
    if not written:
        print("All golden files are as the tests found them.")


main()
