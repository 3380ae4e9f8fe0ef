"""Headers name what they use. lint_includes.py ROOT; exits 1 with one line a finding.

Each header is compiled by itself, or as the first include of the source of its name, which is looked for here; but with the
precompiled header of cmake/pch.h before it, since that takes a fifth of the time. What the precompiled header would hide is
looked for here: a name of one of its headers in a header of ours that neither includes it nor includes a header of ours that
does. A foreign header that is not among them counts for all, since it brings most of the standard library along.
"""

import functools
import pathlib
import re
import sys

from cpp_text import INCLUDE, blank, line_of

# header of cmake/pch.h -> what in code says that it is used
USES = {
    "algorithm": r"\bstd::(?:min|max|clamp|sort|find|find_if|any_of|all_of|none_of|lower_bound|upper_bound)\b",
    "boost/asio/": r"\basio::\w+",
    "boost/describe.hpp": r"\bBOOST_DESCRIBE_\w+",
    "boost/json.hpp": r"\bjson::\w+",
    "charconv": r"\bstd::(?:from_chars|to_chars)\b",
    "chrono": r"\bstd::chrono::\w+",
    "deque": r"\bstd::deque\b",
    "expected": r"\bstd::(?:un)?expected\b",
    "filesystem": r"\bstd::filesystem\b",
    "fmt/format.h": r"\bfmt::\w+",
    "functional": r"\bstd::(?:move_only_)?function\b",
    "list": r"\bstd::list\b",
    "map": r"\bstd::(?:multi)?map\b",
    "memory": r"\bstd::(?:unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|enable_shared_from_this)\b",
    "optional": r"\bstd::(?:optional|nullopt)\b",
    "random": r"\bstd::(?:mt19937_64|random_device|\w+_distribution)\b",
    "set": r"\bstd::(?:multi)?set\b",
    "span": r"\bstd::span\b",
    "string": r"\bstd::(?:string|to_string)\b",
    "string_view": r"\bstd::string_view\b",
    "unordered_map": r"\bstd::unordered_(?:multi)?map\b",
    "unordered_set": r"\bstd::unordered_(?:multi)?set\b",
    "variant": r"\bstd::(?:variant|visit|monostate|get_if|holds_alternative)\b",
    "vector": r"\bstd::vector\b",
}
# What a header brings along by its definition.
BRINGS = {"string": {"string_view"}}


def group_of(target):
    """The entry of USES that an included path is; None: another."""
    if target.startswith("boost/asio"):
        return "boost/asio/"
    if target.startswith("boost/json"):
        return "boost/json.hpp"
    return target if target in USES else None


class Includes:
    def __init__(self, root):
        self.root, self.bench = root / "src", root / "bench"
        self.text, self.brings = functools.cache(self.text), functools.cache(self.brings)

    def text(self, path):
        return blank(path.read_text(errors="replace"), keep_strings=True)

    def brings(self, path):
        """The entries of USES that a header of ours includes, by others of ours too."""
        found, todo, seen = set(), [path], set()
        while todo:
            one = todo.pop()
            if one in seen:
                continue
            seen.add(one)
            for quote, target in INCLUDE.findall(self.text(one)):
                if quote == '"':
                    ours = (self.root if "/" in target else self.bench) / target
                    if ours.exists():
                        todo.append(ours)
                        continue
                group = group_of(target)
                if group:
                    found |= {group} | BRINGS.get(group, set())
                elif quote == '"' or "/" in target:
                    return frozenset(USES)
        if found & {"boost/asio/", "boost/json.hpp", "boost/describe.hpp", "fmt/format.h"}:
            found |= {group for group in USES if "/" not in group}
        return frozenset(found)

    def findings(self):
        for path in [*sorted(self.root.rglob("*.h")), *sorted(self.bench.glob("*.h"))]:
            code = blank(path.read_text(errors="replace"))
            there = self.brings(path)
            for group, pattern in USES.items():
                used = None if group in there else re.search(pattern, code)
                if used:
                    yield (f"{path.relative_to(self.root.parent)}:{line_of(code, used)}: include: '{used.group(0)}' without "
                           f"<{group}>")
            source = path.with_suffix(".cc")
            if source.exists() and (first := self.first_include(source)) != self.included_as(path):
                yield f"{source.relative_to(self.root.parent)}: include: {first} comes before its own header"

    def included_as(self, path):
        return path.name if path.parent == self.bench else path.relative_to(self.root).as_posix()

    def first_include(self, source):
        found = INCLUDE.search(self.text(source))
        return found and found.group(2)


def main(root):
    findings = list(Includes(pathlib.Path(root).resolve()).findings())
    print(*findings, sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
