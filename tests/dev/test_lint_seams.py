"""Each rule of the seam lint finds what it forbids, and lets pass what only looks like it."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import lint_seams  # noqa: E402


@pytest.fixture
def house(tmp_path):
    """A house of two folders, in order and without a finding."""
    (tmp_path / "CMakeLists.txt").write_text("add_subdirectory(src/base)\nadd_subdirectory(src/kube)\n")
    for folder, text in {
        "base": "muster_library(base)\nmuster_test(base)\n",
        "kube": "muster_library(kube DEPENDS base)\nmuster_test(kube)\n",
    }.items():
        (tmp_path / "src" / folder).mkdir(parents=True)
        (tmp_path / "src" / folder / "CMakeLists.txt").write_text(text)
        (tmp_path / "src" / folder / "README.md").write_text("")
    return tmp_path


def findings(house, path, text):
    (house / path).parent.mkdir(parents=True, exist_ok=True)
    (house / path).write_text(text)
    return lint_seams.Lint(house).run()


def test_a_clean_house_has_no_finding(house):
    assert lint_seams.Lint(house).run() == []


@pytest.mark.parametrize(
    "rule, text",
    [
        ("clock", "auto t = std::chrono::steady_clock::now();"),
        ("clock", "auto t = std::chrono::system_clock :: now();"),
        ("clock", "clock_gettime(CLOCK_MONOTONIC, &t);"),
        ("clock", "auto t = time(nullptr);"),
        ("clock", "asio::steady_timer timer(context);"),
        ("sleep", "std::this_thread::sleep_for(1s);"),
        ("sleep", "::usleep(5);"),
        ("environment", 'const char* home = std::getenv("HOME");'),
        ("environment", "extern char** environ;"),
        ("chance", "int i = rand();"),
        ("chance", "std::random_device device;"),
        ("thread", "std::thread worker(run);"),
        ("thread", "auto f = std::async(run);"),
        ("mutex", "std::mutex mutex_;"),
        ("mutex", "std::lock_guard lock(mutex_);"),
        ("detached", "asio::co_spawn(c, run(), asio::detached);"),
        ("detached", "worker.detach();"),
        ("beast", "#include <boost/beast/http.hpp>"),
        ("spdlog", "#include <spdlog/spdlog.h>"),
        ("cli11", "#include <CLI/CLI.hpp>"),
        ("yaml-cpp", '#include "yaml-cpp/yaml.h"'),
        ("soci", "#include <soci/soci.h>"),
        ("name", "class PodManager {};"),
        ("name", "namespace StringHelper {"),
        ("todo", "// TODO: later"),
        ("todo", "// FIXME"),
        ("include", '#include "nowhere/thing.h"'),
        ("arrow", '#include "kube/objects/pod.h"'),
        ("length", "\n" * 601),
    ],
)
def test_forbidden_in_code(house, rule, text):
    found = findings(house, "src/base/thing.cc", text + "\n")
    assert [line for line in found if line.split(": ")[1] == rule], found


@pytest.mark.parametrize(
    "text",
    [
        "// steady_clock::now() is the caller's business",
        "/* std::thread\n rand() */",
        'auto text = "getenv(x) // TODO";'.replace("TODO", "todo"),
        'auto text = R"(std::mutex)";',
        "auto deadline = clock.now() + 1s;",
        "co_await clock.sleep_for(1s);",
        "int operand(); auto x = operand();",
        "const auto uptime = time(seconds);",
        "// TODO(#42): the other half",
        "class Kubelet {};",
        "char quote = '\"'; int separated = 1'000'000; // std::thread",
    ],
)
def test_only_looks_forbidden(house, text):
    assert findings(house, "src/base/thing.cc", text + "\n") == []


def test_the_line_is_named(house):
    found = findings(house, "src/base/thing.cc", "int a;\n/* two\nlines */ int b = rand();\n")
    assert found and found[0].startswith("src/base/thing.cc:3: chance:")


def test_a_test_may_start_detached_work(house):
    assert findings(house, "src/base/thing_test.cc", "co_spawn(c, run(), asio::detached);\n") == []


def test_headers_are_guarded(house):
    assert "header" in findings(house, "src/base/thing.h", "int a;\n")[0]


@pytest.mark.parametrize("name", ["util.cc", "pod_utils.cc", "helpers/x.cc", "job_manager.h"])
def test_empty_file_names(house, name):
    assert any(": name: " in line for line in findings(house, f"src/base/{name}", "#pragma once\n"))


def test_arrows_follow_depends(house):
    assert findings(house, "src/kube/thing.cc", '#include "base/time/clock.h"\n') == []


def test_what_is_internal_stays_so(house):
    assert "internal to base" in findings(house, "src/kube/thing.cc", '#include "base/internal/x.h"\n')[0]


def test_tests_may_use_what_their_test_declares(house):
    (house / "src/base/CMakeLists.txt").write_text("muster_library(base)\nmuster_test(base LIBRARIES muster_kube)\n")
    assert findings(house, "src/base/thing_test.cc", '#include "kube/objects/pod.h"\n') == []
    assert findings(house, "src/base/thing.cc", '#include "kube/objects/pod.h"\n') != []


def test_benchmarks_are_held_to_the_rules_too(house):
    (house / "src/kube/internal").mkdir()
    (house / "src/kube/internal/x.h").write_text("#pragma once\n")
    (house / "bench").mkdir()
    (house / "bench/world.h").write_text("#pragma once\n")
    assert findings(house, "bench/thing.cc", '#include "kube/pod.h"\n#include "world.h"\n') == []
    for text, rule in [("auto t = std::chrono::steady_clock::now();", "clock"), ('#include "nothing.h"', "include"),
                       ('#include "nowhere/pod.h"', "include"), ('#include "kube/internal/x.h"', "arrow")]:
        assert f": {rule}: " in findings(house, "bench/thing.cc", text + "\n")[0]


def test_a_folder_depends_on_earlier_ones_only(house):
    (house / "src/base/CMakeLists.txt").write_text("muster_library(base DEPENDS kube)\n")
    assert any(": house: " in line for line in lint_seams.Lint(house).run())


def test_each_folder_has_a_readme(house):
    (house / "src/kube/README.md").unlink()
    assert lint_seams.Lint(house).run() == ["src/kube/CMakeLists.txt:1: house: the folder has no README.md"]


def test_a_permission_that_is_not_needed_is_a_finding(house, monkeypatch):
    monkeypatch.setitem(lint_seams.ALLOWED, "thread", {"src/base/thing.cc": "a reason"})
    assert findings(house, "src/base/thing.cc", "std::thread worker;\n") == []
    assert "permission" in findings(house, "src/base/thing.cc", "int a;\n")[0]
