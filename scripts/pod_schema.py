"""Writes the fields of a pod as a version of Kubernetes has them, for the test that knows what the node does with each
(src/runtime/internal/pod/pod_fields_test.cc).

    scripts/pod_schema.py v0.37.2 > src/runtime/internal/pod/newest_pod_schema.h

The argument is a version of the Go module k8s.io/api, from which the types are read; it is downloaded by `go`."""

import json
import pathlib
import re
import subprocess
import sys

HEAD = """#pragma once

#include <string_view>

namespace muster::runtime {{

/// All that can be in a pod's spec by k8s.io/api {version}: a struct in each line, its fields, and
/// their types. Made by scripts/pod_schema.py.
inline constexpr std::string_view kNewestPodSchema = R"(
{structs})";

}}  // namespace muster::runtime
"""

# Types that are written as one value, though they are structs in Go.
VALUES = {"Quantity", "IntOrString", "Time", "LabelSelector", "ObjectMeta"}

STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.S | re.M)
FIELD = re.compile(r'^\t(?:\w+ )?\s*(\S+)\s+`json:"([^"]*)"', re.M)


def structs_of(source):
    """The fields of each struct: name (empty for an embedded one) and type in Go."""
    return {name: [(tag.split(",")[0], kind) for kind, tag in FIELD.findall(body)]
            for name, body in STRUCT.findall(source)}


def plain(kind):
    """`[]Container` of `[]Container`, `Quantity` of `*resource.Quantity`; a map is a value."""
    kind = kind.replace("*", "")
    if kind.startswith("map[") or kind in ("ResourceList", "v1.ResourceList"):
        return "map"
    start = "[]" if kind.startswith("[]") else ""
    return start + kind.removeprefix("[]").rpartition(".")[2]


def fields_of(structs, name):
    for field, kind in structs[name]:
        if field:
            yield field, plain(kind)
        else:
            yield from fields_of(structs, plain(kind))


def below(structs, root):
    """The root and all structs that its fields lead to, each once, in order of their first use."""
    found = [root]
    for name in found:
        for _, kind in fields_of(structs, name):
            inner = kind.removeprefix("[]")
            if inner in structs and inner not in VALUES and inner not in found:
                found.append(inner)
    return found


def main():
    version = sys.argv[1]
    told = subprocess.run(["go", "mod", "download", "-json", f"k8s.io/api@{version}"], check=True, capture_output=True, text=True)
    source = (pathlib.Path(json.loads(told.stdout)["Dir"]) / "core/v1/types.go").read_text(encoding="utf-8")
    structs = structs_of(source)
    lines = []
    for name in below(structs, "PodSpec"):
        lines.append(" ".join([name, *(f"{field}:{kind}" for field, kind in fields_of(structs, name))]))
    sys.stdout.write(HEAD.format(version=version, structs="\n".join(lines)))


if __name__ == "__main__":
    main()
