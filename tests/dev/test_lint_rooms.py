"""Each rule about rooms finds what it forbids, and nothing else."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import lint_rooms  # noqa: E402


@pytest.fixture(autouse=True)
def no_permissions(monkeypatch):
    for name in ("LARGE_FOLDERS", "SCATTERED_CLASSES", "CIRCLES"):
        monkeypatch.setattr(lint_rooms, name, {})


def findings(root, files, rooms="values client"):
    """Of a folder src/kube with these rooms and files."""
    programs = "muster_fuzz(some fuzz/some_fuzz.cc)\n"
    for path, text in {"CMakeLists.txt": f"muster_library(kube DEPENDS base ROOMS {rooms} EXCLUDE main)\n{programs}", **files}.items():
        write(root / "src/kube" / path, text)
    return lint_rooms.findings(root)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def including(*paths):
    return "".join(f'#include "{path}"\n' for path in paths)


def test_a_folder_is_small(tmp_path):
    tests = {name: "" for n in range(40) for name in (f"t{n}_test.cc", f"t{n}_fixture.h", f"fuzz/f{n}.cc", f"golden/{n}.json")}
    few = {f"a{n}.cc": "" for n in range(30)}
    assert findings(tmp_path, {**few, **tests}) == []
    assert findings(tmp_path, {"one_more.h": ""}) == ["src/kube:1: rooms: 31 files besides tests; more than 30 are several rooms"]


@pytest.mark.parametrize("one,two", [
    ("Pod::Pod(int a) : a_(a) {}", "Pod::~Pod() = default;"),
    ("void Pod::run() {}", "Task<Result<std::string>> Pod::stop(std::map<int, int> of) {}"),
    ("Pod& Pod::operator=(const Pod&) {}", "bool kube::Pod::is() const {}"),
    ("void Pod::Impl::run() {}", "auto Pod::Impl::stop() -> int {}"),
    ("template <class T>\nvoid Queue<T>::run() {}", "template <class T>\nint Queue<T>::stop() {}"),
])
def test_a_class_is_in_one_file(tmp_path, one, two):
    assert findings(tmp_path, {"a.cc": f"{one}\n\n{one}\n", "a.h": two}) == []
    found = findings(tmp_path, {"values/b.cc": f"\n{two}\n"})
    assert len(found) == 1 and found[0].startswith("src/kube/values/b.cc:") and "src/kube/a.cc" in found[0]


@pytest.mark.parametrize("text", [
    "class Pod {\n    void run();\n};\nvoid Pod::run() {}",  # another one of the same name
    "void run() {\n    Pod::stop();\n}",
    "const int x = Pod::make();",
    "// void Pod::run() {}",
    "void PodList::run() {}",
])
def test_what_is_no_second_file_of_a_class(tmp_path, text):
    assert findings(tmp_path, {"a.cc": "void Pod::run() {}\n", "b.cc": text + "\n"}) == []


def test_rooms_use_each_other_in_one_direction(tmp_path):
    files = {"values/a.h": "", "client/b.h": including("kube/values/a.h"), "c.cc": including("kube/client/b.h", "kube/values/a.h"),
             "internal/client/d.h": including("kube/client/b.h"), "client/b.cc": including("kube/internal/client/d.h"),
             "client/main.cc": including("kube/c.h"), "values/e_test.cc": including("kube/client/b.h")}
    assert findings(tmp_path, files) == []
    assert findings(tmp_path, {"values/f.cc": including("kube/client/b.h")}) == [
        "src/kube/CMakeLists.txt:1: rooms: client, values use each other or what uses them: src/kube/client/b.h includes kube/values/a.h; "
        "src/kube/values/f.cc includes kube/client/b.h"]


def test_a_room_and_the_top_use_each_other_in_one_direction_too(tmp_path):
    found = findings(tmp_path, {"values/a.h": including("kube/c.h"), "c.cc": including("kube/values/a.h")})
    assert len(found) == 1 and "rooms: values use each other" in found[0] and found[0].count(" includes ") == 2


def test_longer_ways_around_are_found(tmp_path):
    found = findings(tmp_path, {"a/x.h": including("kube/b/x.h"), "b/x.h": including("kube/c/x.h"), "c/x.h": including("kube/a/x.h")}, "a b c")
    assert len(found) == 1 and "a, b, c use each other" in found[0] and found[0].count(" includes ") == 3


def test_what_is_permitted_is_no_finding_until_nobody_needs_it(tmp_path, monkeypatch):
    monkeypatch.setattr(lint_rooms, "LARGE_FOLDERS", {"src/kube": "a reason"})
    monkeypatch.setattr(lint_rooms, "SCATTERED_CLASSES", {"Pod": "a reason"})
    monkeypatch.setattr(lint_rooms, "CIRCLES", {("kube", "client values"): "a reason"})
    files = {"a.cc": "void Pod::run() {}\n", "b.cc": "void Pod::stop() {}\n", **{f"x{n}.cc": "" for n in range(31)},
             "values/a.h": including("kube/client/b.h"), "client/b.h": including("kube/values/a.h")}
    assert findings(tmp_path, files) == []
    for name in files:
        (tmp_path / "src/kube" / name).unlink()
    assert [line.split(": ")[-1] for line in findings(tmp_path, {})] == ["src/kube", "Pod", "('kube', 'client values')"]


def test_private_rooms_use_each_other_in_one_direction(tmp_path):
    files = {"api.h": "", "api.cc": including("kube/internal/one/a.h"), "internal/one/a.h": including("kube/api.h"),
             "internal/two/b.h": including("kube/internal/one/a.h"), "internal/main.cc": including("kube/internal/two/b.h")}
    assert findings(tmp_path, files) == []
    assert findings(tmp_path, {"internal/one/c.cc": including("kube/internal/two/b.h")}) == [
        "src/kube/CMakeLists.txt:1: rooms: internal/one, internal/two use each other or what uses them: "
        "src/kube/internal/one/c.cc includes kube/internal/two/b.h; src/kube/internal/two/b.h includes kube/internal/one/a.h"]


@pytest.mark.parametrize("folder", ["shim", "values/inner", "internal/parts/inner"])
def test_sources_that_nothing_compiles(tmp_path, folder):
    compiled = {"a.cc": "", "values/a.cc": "", "internal/a.cc": "", "internal/parts/a.cc": "", "fuzz/some_fuzz.cc": ""}
    assert findings(tmp_path, {**compiled, f"{folder}/only.h": ""}) == []
    assert findings(tmp_path, {f"{folder}/a.cc": ""}) == [
        f"src/kube/{folder}:1: rooms: nothing compiles these sources; name the folder in ROOMS of src/kube/CMakeLists.txt"]
    write(tmp_path / "src/other/CMakeLists.txt", f"muster_library(other)\ntarget_sources(x PRIVATE ../src/kube/{folder}/a.cc)\n")
    assert findings(tmp_path, {}) == []


def test_each_test_file_has_a_namespace_of_its_own(tmp_path):
    body = "// first\n\nnamespace muster::kube{} {{\nnamespace {{\n\n}}  // namespace\n}}  // namespace muster::kube{}\n"
    assert findings(tmp_path, {"patch_test.cc": body.format("::patch_test", "::patch_test"), "main_test.cc": "int main() {}\n"}) == []
    assert findings(tmp_path, {"patch_test.cc": body.format("", "")}) == [
        "src/kube/patch_test.cc:3: rooms: its namespace is muster::kube::patch_test, so that it may be compiled together with other tests"]


def test_no_two_test_files_of_a_folder_have_the_same_name(tmp_path):
    assert findings(tmp_path, {"values/patch_test.cc": "", "client/patch_test.cc": ""}) == [
        "src/kube/values/patch_test.cc:1: rooms: src/kube/client/patch_test.cc has the same name, and so would their namespaces"]
