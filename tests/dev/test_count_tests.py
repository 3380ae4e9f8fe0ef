"""The sum at the end of ./dev test is right, also when programs die."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import count_tests  # noqa: E402

GTEST = """<testsuites><testsuite>
<testcase name="a" status="run" result="completed"/>
<testcase classname="Kube" name="b" status="run" result="completed"><failure message="x"/></testcase>
<testcase name="c" status="run" result="skipped"><skipped message="no root"/></testcase>
<testcase name="d" status="notrun" result="suppressed"/>
</testsuite></testsuites>"""

PASSING = """<testsuites><testsuite><testcase name="a" status="run" result="completed"/></testsuite></testsuites>"""


def programs(tmp_path, **statuses):
    cases = "".join(
        f"""<testcase name="{name}" status="{status}"><system-out>first\n{name}'s last line\n</system-out></testcase>"""
        for name, status in statuses.items()
    )
    (tmp_path / "ctest.junit").write_text(f"<testsuite>{cases}</testsuite>")
    return tmp_path


def test_cases_of_a_program(tmp_path):
    programs(tmp_path, kube="fail")
    (tmp_path / "kube_test.xml").write_text(GTEST)
    assert count_tests.read_programs(tmp_path) == ((1, 1, 1), [("Kube.b", "x")])


def test_a_leak_after_the_last_case_is_a_failure(tmp_path):
    programs(tmp_path, kube="fail")
    (tmp_path / "kube_test.xml").write_text(PASSING)
    assert count_tests.read_programs(tmp_path) == ((1, 1, 0), [("the program kube", "first\nkube's last line")])


def test_a_program_without_a_report_counts_as_one(tmp_path):
    programs(tmp_path, kube_link="run", crashed="fail", missing="notrun")
    counts, failures = count_tests.read_programs(tmp_path)
    assert counts == (1, 2, 0)
    assert [failure.name for failure in failures] == ["the program crashed", "the program missing"]


def test_no_report_is_no_success(tmp_path, capsys):
    assert count_tests.main("ctest", tmp_path) == 1
    assert count_tests.main("pytest", tmp_path / "none") == 1


def test_pytest_errors_in_set_up_are_failures(tmp_path):
    report = tmp_path / "report"
    report.write_text("<testsuites><testsuite><testcase name='a'><error/></testcase><testcase name='b'/>"
                      "<testcase name='c'><skipped/></testcase></testsuite></testsuites>")
    assert count_tests.read_cases(report)[0] == (1, 1, 1)


def test_says_what_failed_and_why_in_few_lines(tmp_path, capsys):
    why = "&#10;".join(f"line {number}" for number in range(100))
    report = tmp_path / "report"
    report.write_text(f"<testsuite><testcase classname='A' name='b'><failure message='{why}'/></testcase></testsuite>")
    assert count_tests.main("pytest", report) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == ["0 1 0", "A.b", "    line 0", "    line 1"]
    assert len(lines) == 2 + count_tests.WHY_LINES
