"""What the precompiled header hides from the compiler is found in headers, and nothing else is."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import lint_includes  # noqa: E402


def findings(root, **headers):
    """Of src/base/NAME.h with these texts."""
    (root / "src/base").mkdir(parents=True, exist_ok=True)
    for name, text in headers.items():
        (root / f"src/base/{name}.h").write_text("#pragma once\n" + text)
    return list(lint_includes.Includes(root).findings())


@pytest.mark.parametrize("text, says", [
    ("std::vector<int> all;", "<vector>"),
    ("#include <vector>\nstd::vector<std::optional<int>> all;", "<optional>"),
    ("json::value tree;", "<boost/json.hpp>"),
    ("asio::any_io_executor executor;", "<boost/asio/>"),
    ("inline void say() { fmt::print(\"x\"); }", "<fmt/format.h>"),
    ("#include <memory>\nvoid take(std::function<void()>);", "<functional>"),
])
def test_what_is_forgotten_is_found(tmp_path, text, says):
    found = findings(tmp_path, thing=text)
    assert len(found) == 1 and found[0].startswith("src/base/thing.h:") and found[0].endswith(says), found


@pytest.mark.parametrize("text", [
    "#include <vector>\nstd::vector<int> all;",
    "// std::vector<int>\nconst char* text = \"std::vector\";",
    "#include <string>\nvoid take(std::string_view);",
    "#include <boost/asio/awaitable.hpp>\nasio::awaitable<void> run(std::string);",
    "#include <boost/json/object.hpp>\nvoid take(const json::object&);",
    "#include <google/protobuf/message.h>\nstd::vector<int> all;",
])
def test_what_is_there_is_not(tmp_path, text):
    assert findings(tmp_path, thing=text) == []


def test_a_header_of_ours_may_bring_it(tmp_path):
    assert findings(tmp_path, one="#include <vector>\n", two='#include "base/one.h"\nstd::vector<int> all;') == []
    assert findings(tmp_path, one="#include <map>\n", two='#include "base/one.h"\nstd::vector<int> all;') != []


def test_headers_of_benchmarks_are_looked_at(tmp_path):
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench/world.h").write_text("#include <set>\nstd::vector<int> all;")
    (tmp_path / "bench/rates.h").write_text('#include "world.h"\nstd::set<int> all;')
    (tmp_path / "bench/rates.cc").write_text('#include "rates.h"\n')
    assert [line.split(":")[0] for line in findings(tmp_path)] == ["bench/world.h"]
    (tmp_path / "bench/rates.cc").write_text('#include "world.h"\n#include "rates.h"\n')
    assert [line.split(":")[0] for line in findings(tmp_path)] == ["bench/rates.cc", "bench/world.h"]


def test_all_that_is_precompiled_is_looked_for():
    precompiled = [target for _, target in lint_includes.INCLUDE.findall((ROOT / "cmake/pch.h").read_text())]
    assert precompiled and {target: lint_includes.group_of(target) for target in precompiled if not lint_includes.group_of(target)} == {}


@pytest.mark.parametrize("text, says", [
    ("#include <string>\n#include \"base/thing.h\"\n", ["src/base/thing.cc: include: string comes before its own header"]),
    ("int one() { return 1; }\n", ["src/base/thing.cc: include: None comes before its own header"]),
    ("// #include <string>\n#include \"base/thing.h\"\n\n#include <string>\n", [])])
def test_a_source_includes_its_own_header_first(tmp_path, text, says):
    (tmp_path / "src/base").mkdir(parents=True)
    (tmp_path / "src/base/thing.cc").write_text(text)
    assert findings(tmp_path, thing="int one();\n") == says
