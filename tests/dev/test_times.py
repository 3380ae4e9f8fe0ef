"""./dev test --times adds up what steps, tests and builds left behind."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import times  # noqa: E402

LOG = """# ninja log v5
0\t1500\t1000000000000000000\tsrc/kube/CMakeFiles/muster_kube.dir/old.cc.o\t1
0\t4500\t2000000000000000000\tsrc/kube/CMakeFiles/muster_kube.dir/new.cc.o\t2
0\t2500\t2000000000000000001\tsrc/kube/CMakeFiles/muster_kube.dir/twice.cc.o\t3
100\t2600\t2000000000000000002\tsrc/kube/CMakeFiles/muster_kube.dir/twice.cc.o\t3
"""


def test_what_was_built_in_this_run_counts(tmp_path):
    (tmp_path / ".ninja_log").write_text(LOG)
    assert times.read_builds(tmp_path / ".ninja_log", 1_900_000_000_000) == [
        (4.5, "src/kube/muster_kube.dir/new.cc.o"), (2.5, "src/kube/muster_kube.dir/twice.cc.o")]


def test_the_report(tmp_path):
    logs, build = tmp_path / "logs", tmp_path / "build"
    (logs / "unit").mkdir(parents=True)
    (build / "asan").mkdir(parents=True)
    (build / "tsan").mkdir(parents=True)
    (logs / "steps").write_text("build asan\t2.500\t4.000\t0.500\nrun e2e\t10.000\t1.000\t0.250\n")
    (logs / "e2e.junit").write_text("<testsuites><testsuite><testcase classname='tests.e2e.test_up' name='test_a' time='1.5'/>"
                                    "<testcase classname='tests.e2e.test_up' name='test_b' time='2.0'/></testsuite></testsuites>")
    (logs / "unit/ctest.junit").write_text("<testsuite><testcase name='kube' time='9'/><testcase name='kube_link' time='0.1'/></testsuite>")
    (logs / "unit/kube_test.xml").write_text("<testsuites><testsuite><testcase classname='Kube' name='a' time='8.5'/></testsuite></testsuites>")
    (build / "asan/.ninja_log").write_text(LOG)
    (build / "tsan/.ninja_log").write_text("# ninja log v5\n")  # nothing was built
    assert list(times.report(logs, build, 1_900_000_000_000)) == [
        "  seconds     busy  step",
        "     10.0      1.2  run e2e",
        "      2.5      4.5  build asan",
        "tests of e2e: 2 in 3.5 s, the slowest:",
        "      2.0  tests.e2e.test_up.test_b",
        "      1.5  tests.e2e.test_up.test_a",
        "tests of unit: 2 in 8.6 s, the slowest:",
        "      8.5  Kube.a",
        "      0.1  kube_link",
        "made in asan: 2 in 7.0 s, the slowest:",
        "      4.5  src/kube/muster_kube.dir/new.cc.o",
        "      2.5  src/kube/muster_kube.dir/twice.cc.o",
    ]


def test_only_the_slowest_are_shown():
    lines = list(times.shown("x", [times.Timed(number, str(number)) for number in range(30)]))
    assert lines[0].startswith("x: 30 in 435.0 s") and len(lines) == 1 + times.SHOWN and lines[1].endswith("  29")
