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
    assert count_tests.read_programs(tmp_path) == ((1, 1, 1, 0), [("Kube.b", "x")])


def test_a_leak_after_the_last_case_is_a_failure(tmp_path):
    programs(tmp_path, kube="fail")
    (tmp_path / "kube_test.xml").write_text(PASSING)
    assert count_tests.read_programs(tmp_path) == ((1, 1, 0, 0), [("the program kube", "first\nkube's last line")])


def test_a_program_without_a_report_counts_as_one(tmp_path):
    programs(tmp_path, kube_link="run", crashed="fail", missing="notrun")
    counts, failures = count_tests.read_programs(tmp_path)
    assert counts == (1, 2, 0, 0)
    assert [failure.name for failure in failures] == ["the program crashed", "the program missing"]


def test_no_report_is_no_success(tmp_path, capsys):
    assert count_tests.main("ctest", tmp_path) == 1
    assert count_tests.main("pytest", tmp_path / "none") == 1


def test_pytest_errors_in_set_up_are_failures(tmp_path):
    report = tmp_path / "report"
    report.write_text("<testsuites><testsuite><testcase name='a'><error/></testcase><testcase name='b'/>"
                      "<testcase name='c'><skipped/></testcase></testsuite></testsuites>")
    assert count_tests.read_cases(report)[0] == (1, 1, 1, 0)


def test_of_a_long_reason_both_ends_are_shown(tmp_path, capsys):
    report = tmp_path / "report"
    lines = "".join(f"line {number}&#10;" for number in range(100))
    report.write_text(f"<testsuite><testcase name='a'><failure message='{lines}'/></testcase></testsuite>")
    assert count_tests.main("pytest", report) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[:3] == ["0 1 0 0", "a", "    line 0"]
    assert [shown[2].strip(), shown[9].strip()] == ["line 0", "line 7"]
    assert shown[10].strip() == "... 77 lines ..."
    assert [shown[11].strip(), shown[-1].strip()] == ["line 85", "line 99"]


def test_a_short_reason_is_shown_whole(tmp_path, capsys):
    report = tmp_path / "report"
    lines = "".join(f"line {number}&#10;" for number in range(24))
    report.write_text(f"<testsuite><testcase name='a'><failure message='{lines}'/></testcase></testsuite>")
    assert count_tests.main("pytest", report) == 0
    assert [line.strip() for line in capsys.readouterr().out.splitlines()[2:]] == lines.replace("&#10;", "\n").split("\n")[:24]


def test_what_did_not_have_to_run_counts_as_passed_earlier(tmp_path, capsys):
    programs(tmp_path, kube="run")
    (tmp_path / "kube_test.xml").write_text(PASSING)
    (tmp_path / "unchanged").mkdir()
    (tmp_path / "unchanged" / "base.xml").write_text(GTEST.replace('<failure message="x"/>', ""))
    assert count_tests.read_programs(tmp_path) == ((3, 0, 1, 2), [])
    suite = tmp_path / "python.junit"
    suite.write_text(PASSING)
    assert count_tests.main("earlier", suite) == 0
    assert capsys.readouterr().out == "1 0 0 1\n"
