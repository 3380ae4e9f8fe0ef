"""What a change can affect is run, nearest first, and nothing else."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import affected  # noqa: E402

# A house of five folders: base < kube < operator < cli; store stands on kube, and is in the operator's tests only.
LISTS = {
    "base": "muster_library(base LIBRARIES spdlog::spdlog EXCLUDE \"x\")\nmuster_test(base TSAN LIBRARIES muster_base_testing)\n"
            "add_library(muster_base_testing STATIC EXCLUDE_FROM_ALL test_loop.cc)\n",
    "kube": "muster_library(kube DEPENDS base ROOMS values)\n# not muster_cli\nmuster_test(kube LIBRARIES muster_base_testing)\n",
    "store": "muster_library(store DEPENDS kube base LIBRARIES muster_sqlite)\nadd_library(muster_disk_testing STATIC disk.cc)\n"
             "muster_test(store TSAN)\n",
    "operator": "muster_library(operator\n    DEPENDS kube base)\nmuster_test(operator LIBRARIES muster_disk_testing)\n",
    "launch": "muster_library(launch DEPENDS base)\nmuster_test(launch)\n",
    "cli": "muster_library(cli DEPENDS operator base)\nmuster_test(cli)\nadd_executable(muster main.cc)\n",
    "muster_run": "muster_library(muster_run DEPENDS base)\nmuster_static_program(muster_run NAME muster-run FOLDERS muster_run base)\n",
}
FOLDERS = affected.read_folders(LISTS)
LEFT = "left simulate e2e security elastic conformance cluster foreign"


def test_folders_are_read_from_what_builds_them():
    assert FOLDERS["operator"] == ({"kube", "base"}, {"kube", "base", "store"}, False)
    assert FOLDERS["kube"] == ({"base"}, {"base"}, False)
    assert FOLDERS["store"] == ({"kube", "base"}, {"kube", "base"}, True)
    assert FOLDERS["base"] == (set(), set(), True)


@pytest.mark.parametrize("changed, runs", [
    ([], []),
    (["src/cli/verbs/get.cc"], ["lint", "unit cli", LEFT]),
    (["src/operator/planning/planner.h"], ["lint", "unit operator", "dependents cli", LEFT]),
    # The operator's tests use the store; its library, and so cli, does not.
    (["src/store/rows.cc"], ["lint", "unit store", "dependents operator", "tsan store", LEFT]),
    # What stands on it comes after what it stands on itself.
    (["src/kube/values/quantity.cc"], ["lint", "unit kube", "dependents operator store cli", "tsan store", LEFT]),
    (["src/base/log.cc"], ["lint", "unit base", "dependents cli kube launch muster_run operator store", "tsan base store", LEFT]),
    # Only a test: nothing depends on it.
    (["src/kube/values/quantity_test.cc"], ["lint", "unit kube"]),
    (["src/store/rows_test.cc"], ["lint", "unit store", "tsan store"]),
    # What several folders' tests are built from is no test.
    (["src/store/disk.cc"], ["lint", "unit store", "dependents operator", "tsan store", LEFT]),
    (["src/cli/a.cc", "src/store/b_test.cc"], ["lint", "unit cli store", "tsan store", LEFT]),
    (["src/kube/README.md"], ["lint", "tools test_docs", "e2e test_doc_commands"]),
    (["src/README.md"], ["lint", "tools test_docs", "e2e test_doc_commands"]),
    (["src/kube/CMakeLists.txt"], ["lint", "unit kube", "dependents operator store cli", "tsan store", LEFT]),
    (["cmake/pch.h"], ["lint", "unit base cli kube launch muster_run operator store", "tsan base store", "tools", LEFT]),
    (["tests/e2e/test_up.py"], ["lint", "e2e test_up"]),
    (["tests/security/test_front.py"], ["lint", "security test_front"]),
    (["tests/e2e/test_up.py", "tests/e2e/test_run.py"], ["lint", "e2e test_run test_up"]),
    (["tests/e2e/test_up.py", "tests/e2e/conftest.py"], ["lint", "e2e"]),
    (["tests/e2e/conftest.py", "tests/e2e/test_up.py"], ["lint", "e2e"]),
    (["tests/conformance/test_reads.py"], ["lint", "conformance test_reads", "cluster test_reads"]),
    (["tests/operator/python/node.py"], ["lint", "cluster"]),
    (["tests/foreign/test_suites.py"], ["lint", "foreign test_suites"]),
    (["tests/dev/test_dev.py", "docs/elastic.md"], ["lint", "tools test_dev test_docs", "e2e test_doc_commands"]),
    (["python/muster/tests/test_hook.py"], ["lint", "python test_hook"]),
    (["python/muster/src/muster/hook/sitecustomize.py"],
     ["lint", "unit muster_run", "python", "elastic", "left simulate e2e security conformance cluster foreign"]),
    (["tests/launch/test_launch.py"], ["lint", "unit launch", LEFT]),
    (["scripts/test.sh"], ["lint", "tools"]),
    (["README.md"], ["lint", "tools test_docs", "e2e test_doc_commands"]),
    (["LICENSE"], ["lint"]),
    # A folder that is gone.
    (["src/gone/a.cc"], ["lint"]),
])
def test_what_a_change_can_affect(changed, runs):
    assert affected.affected(changed, FOLDERS) == runs


def test_the_folders_of_this_house_are_read():
    lines = subprocess.run([sys.executable, ROOT / "scripts/affected.py", ROOT], input="src/base/result.h\n", capture_output=True,
                           text=True, check=True).stdout.splitlines()
    folders = {path.parent.name for path in (ROOT / "src").glob("*/CMakeLists.txt")}
    assert lines[1] == "unit base" and set(lines[2].split()) == {"dependents"} | folders - {"base"}
