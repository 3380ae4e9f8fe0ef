"""./dev itself: what it says, and what it finds missing."""

import os
import pathlib
import re
import stat
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def bash(script, tmp_path, path=None):
    """Runs a script with the parts of ./dev loaded, in a home of its own."""
    prelude = f"set -euo pipefail; root={ROOT}; cache={tmp_path}/cache; logs={tmp_path}/logs\n"
    prelude += "".join(f"source {ROOT}/scripts/{part}.sh\n" for part in ("say", "setup", "build", "simulate", "test", "lint", "cluster"))
    return subprocess.run(["/bin/bash", "-c", prelude + script], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL,
                          env={"HOME": str(tmp_path), "PATH": path or os.environ["PATH"], "LC_ALL": "C"})


def program(directory, name, text):
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_help_names_every_command():
    shown = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
    for verb in ("run", "test", "setup", "build", "e2e", "bench", "cluster", "lint", "fuzz", "drill", "docs", "golden", "clean"):
        assert f"./dev {verb}" in shown


def test_an_unknown_command_is_an_error():
    result = subprocess.run([ROOT / "dev", "tset"], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "no command named 'tset'" in result.stderr


def test_elsewhere_than_on_debian_each_missing_thing_is_named(tmp_path):
    result = bash("is_debian() { false; }; want_header() { missing+=(\"$2\"); }\n"
                  "command() { return 1; }; our_python() { echo false; }\n"
                  "need_packages build run test lint", tmp_path)
    assert result.returncode == 1
    for wanted in ("clang 19", "lld 19", "CMake 3.25", "Ninja", "Boost 1.81", "fmt 9", "spdlog 1.10", "CLI11 2.1",
                   "yaml-cpp 0.7", "protobuf's compiler", "protobuf 3.21", "GoogleTest", "python3 with torch", "clang-format 19", "pytest",
                   "clang-tidy 19"):
        assert wanted in result.stderr, wanted


def test_elsewhere_nothing_is_asked_for_when_all_is_there(tmp_path):
    result = bash("is_debian() { false; }; want_header() { :; }; want_program() { :; }; has_job_modules() { :; }\n"
                  "need_packages build run; echo $boost_root", tmp_path)
    assert (result.returncode, result.stdout) == (0, "/\n"), result.stderr


def test_missing_packages_are_those_that_dpkg_does_not_know(tmp_path):
    result = bash("missing_packages bash no-such-package coreutils", tmp_path)
    assert result.stdout.split() == ["no-such-package"]


@pytest.mark.parametrize("preset,said", [("release", ""), ("debug", ""), ("asan", "sanitize"), ("asan-unity", "sanitize"), ("tsan", "sanitize"),
                                         ("fuzz", "sanitize")])
def test_a_build_with_sanitizers_installs_what_they_need(tmp_path, preset, said):
    result = bash(f"root={tmp_path}; need_packages() {{ echo $*; }}; step() {{ :; }}; configure {preset}", tmp_path)
    assert result.stdout.strip() == said, result


def test_the_job_gets_the_callers_python_when_it_has_the_modules(tmp_path):
    program(tmp_path / "bin", "python3", "#!/bin/sh\nexit 0\n")
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    assert bash("job_path", tmp_path, path).stdout == path


def test_the_job_gets_debians_python_when_the_callers_lacks_them(tmp_path):
    program(tmp_path / "bin", "python3", "#!/bin/sh\nexit 1\n")
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    result = bash("has_job_modules() { [[ $1 == /usr/bin/python3 ]]; }; job_path", tmp_path, path)
    assert result.stdout == f"{tmp_path}/cache/bin:{path}"
    assert "gets Debian's" in result.stderr
    assert os.readlink(tmp_path / "cache/bin/python3") == "/usr/bin/python3"


def test_a_step_shows_the_errors_of_a_log_and_keeps_it(tmp_path):
    result = bash("step 'a step' bash -c 'echo x.cc:3:1: error: no; exit 3' || echo status $?", tmp_path)
    assert "FAILED" in result.stdout and "x.cc:3:1: error: no" in result.stdout and "status 3" in result.stdout
    assert "error: no" in (tmp_path / "logs/a-step.log").read_text()


def test_the_last_line_sums_all_suites(tmp_path):
    result = bash("forget_results; record a 3 0 0; record b 4 1 2\n"
                  "summary $(now_ms) || echo failed", tmp_path)
    assert result.stdout.splitlines()[-2:] == ["7 passed, 1 failed, 2 skipped", "failed"]


def test_the_sum_says_what_passed_earlier(tmp_path):
    result = bash("forget_results; record a 3 0 0 2; record b 4 0 1\nsummary $(now_ms)", tmp_path)
    lines = result.stdout.splitlines()
    assert lines[-3].startswith("2 of them passed in an earlier run") and lines[-1] == "7 passed, 0 failed, 1 skipped"


SPARED = """forget_results; %s
our_python() { echo %s; }; job_path() { echo "$PATH"; }; local_suite() { local inputs=(docs); run_pytest python; }
local_suite; cat $results"""


@pytest.mark.parametrize("whole,changed,ran", [
    ("spares_unchanged=yes", False, False), ("spares_unchanged=yes", True, True), ("", False, True),
    ("spares_unchanged=yes afresh=yes", False, True)])
def test_a_whole_run_spares_a_suite_whose_inputs_are_as_they_were(tmp_path, whole, changed, ran):
    """Where a run of it passed before."""
    report = "<testsuite><testcase name='a'/></testsuite>"
    known = "exit 1" if changed else f'echo "{report}" >$5'
    program(tmp_path / "bin", "python", f"""#!/bin/sh
case "$*" in
*"unchanged.py suite"*) {known} ;;
*"unchanged.py keep-suite"*) echo kept ;;
*"-m pytest"*)
    echo ran >>{tmp_path}/ran
    for word; do [ "$before" = --junitxml ] && echo "{report}" >$word; before=$word; done ;;
*count_tests.py*) exec python3 "$@" ;;
esac
""")
    result = bash(SPARED % (whole, tmp_path / "bin/python"), tmp_path)
    assert (tmp_path / "ran").exists() == ran, result
    assert result.stdout.splitlines()[-1] == ("python 1 0 0 0" if ran else "python 1 0 0 1"), result
    assert ("kept" in result.stdout) == (ran and whole != ""), result


def test_a_suite_of_our_programs_depends_on_them_and_on_all_but_their_sources(tmp_path):
    tree = tmp_path / "tree"
    for name in ("src", "bench", "build", "docs", "tests"):
        (tree / name).mkdir(parents=True)
    (tree / "README.md").touch()
    (tmp_path / "cache" / "peers" / "kubectl-v1.36").mkdir(parents=True)
    said = bash(f"root={tree}; depends_on release/muster; printf '<%s>' \"${{inputs[@]}}\"", tmp_path).stdout
    inputs = said.strip("<>").split("><")
    assert {"docs", "tests", "README.md", "build/release/muster"} < set(inputs) and not {"src", "bench", "build"} & set(inputs), said
    assert any(each.startswith("programs: ") and "kubectl-v1.36" in each for each in inputs), said


@pytest.mark.parametrize("known,operator", [(True, ""), (False, "yes")])
def test_the_operators_tests_are_not_spared_when_its_rights_are_to_be_looked_at(tmp_path, known, operator):
    """Which of them are used shows only then."""
    result = bash(f"root={tmp_path}; logs={tmp_path}; spares_unchanged=yes; unchanged() {{ {str(known).lower()}; }}; side_by_side() {{ :; }}\n"
                  'run_pytest() { echo "$1<${afresh-}>"; }; operator_tests', tmp_path)
    assert result.stdout.split() == [f"operator<{operator}>", "operator-rights<>"], result


def test_what_failed_stands_above_the_sum(tmp_path):
    report = tmp_path / "report"
    report.write_text("<testsuite><testcase name='good'/><testcase classname='Lease' name='bad'>"
                      "<failure message='one is not two&#10;  but three&#10;&#10;  nor four&#10;  or five'/></testcase></testsuite>")
    result = bash(f"forget_results; our_python() {{ echo python3; }}; count e2e pytest {report}\n"
                  "summary $(now_ms) || true", tmp_path)
    assert re.sub(r"in \S+ s", "in 1 s", " ".join(result.stdout.split())) == (
        "What failed: Lease.bad one is not two but three nor four or five e2e 1 passed, 1 failed in 1 s "
        "failed: Lease.bad: one is not two / but three / nor four 1 passed, 1 failed")


def fake_muster(tmp_path, text, elastic='echo "9 faults"; echo "$6 passed, 0 failed"'):
    """A checkout whose program is a script, of which `elastic` is the part for that scenario."""
    program(tmp_path / "tree/build/release/src/cli", "muster",
            f"#!/bin/bash\nif [[ $2 == elastic ]]; then\n{elastic}\nexit\nfi\n{text}")
    for name in ("one", "two", "elastic"):
        path = tmp_path / f"tree/src/sim/scenarios/{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return (f"root={tmp_path}/tree; forget_results; suite_build() {{ :; }}; "
            "sim_slices=4 sim_drill_seeds=40 elastic_drill_seeds=20 elastic_large_seeds=2; suite_simulate; "
            "cat $results; cat $logs/run-simulate.log; echo")


def test_the_seeds_of_all_scenarios_are_counted(tmp_path):
    result = bash(fake_muster(tmp_path, 'echo "10 passed, 0 failed"'), tmp_path)
    assert "simulate 27 0 0" in result.stdout, result


def test_a_seed_of_an_elastic_job_comes_with_its_replay(tmp_path):
    result = bash(fake_muster(tmp_path, 'echo "10 passed, 0 failed"',
                              '[[ $7 == --nodes ]] && exit 134; echo "replay: muster simulate elastic --seed 4 --trace"; '
                              'echo "9 faults"; '
                              'echo "4 passed, 1 failed"; exit 3') + "; cat $logs/run-simulate-elastic.log", tmp_path)
    assert "simulate 24 3 0" in result.stdout, result
    assert "replay: ./dev drill sim elastic --seed 4 --trace" in result.stdout


def test_a_seed_that_breaks_a_rule_comes_with_its_replay(tmp_path):
    result = bash(fake_muster(tmp_path, 'echo "replay: muster simulate $2 --seed 4 --trace"; '
                                        'echo "9 passed, 1 failed"; exit 3'), tmp_path)
    assert "simulate 25 2 0" in result.stdout, result
    assert "replay: ./dev drill sim two --seed 4 --trace" in result.stdout


def test_another_commit_plays_other_seeds(tmp_path):
    played = fake_muster(tmp_path, 'echo "$2 $4 $6" >>$HOME/played; echo "$6 passed, 0 failed"',
                         '[[ $7 == --nodes ]] || echo "elastic $4 $6" >>$HOME/played; echo; echo "$6 passed, 0 failed"')
    result = bash("git() { echo 123450e; }; " + played, tmp_path)
    assert "simulate 27 0 0" in result.stdout, result
    # 0x123450e is 2 modulo 4.
    assert sorted((tmp_path / "played").read_text().splitlines()) == ["elastic 10 5", "one 21 10", "two 21 10"]


def test_worlds_of_all_parts_together_are_played_first_and_more_often(tmp_path):
    played = fake_muster(tmp_path, 'echo "$2 $4 $6" >>$HOME/played; echo "$6 passed, 0 failed"')
    result = bash("git() { echo 1; }; cores() { echo 1; }; whole_world_drill_seeds=80; whole_worlds=(two); " + played, tmp_path)
    assert "simulate 37 0 0" in result.stdout, result
    assert (tmp_path / "played").read_text().splitlines() == ["two 21 20", "one 11 10"]


def test_a_run_may_play_more_of_them(tmp_path):
    played = fake_muster(tmp_path, 'echo "$2 $4 $6" >>$HOME/played; echo "$6 passed, 0 failed"')
    result = bash("git() { echo 1; }; cores() { echo 1; }; whole_world_seeds=100; whole_worlds=(two); " + played, tmp_path)
    assert "simulate 117 0 0" in result.stdout, result
    assert (tmp_path / "played").read_text().splitlines() == ["two 101 100", "one 11 10"]


def test_the_seed_of_a_run_that_dies_is_found(tmp_path):
    result = bash(fake_muster(tmp_path, '[[ $2 == one ]] && { echo "10 passed, 0 failed"; exit 0; }\n'
                                        '[[ ${6:-$4} == 10 || $4 == 7 ]] && { echo oh no >&2; exit 134; }\nexit 0'),
                  tmp_path)
    assert "simulate 23 4 0" in result.stdout, result
    assert "replay: ./dev drill sim two --seed 7 --trace" in result.stdout and "oh no" in result.stdout


def test_a_run_without_any_test_is_no_success(tmp_path):
    result = bash("forget_results; record a 0 0 0; summary $(now_ms)", tmp_path)
    assert result.returncode != 0
    assert result.stdout.splitlines()[-1] == "0 passed, 0 failed"


RUNS = r"""prepare_test() { :; }; summary() { :; }; changed_files() { printf 'src/kube/a.cc\ntests/e2e/test_up.py\n'; }
for suite in "${suites[@]}" dependents; do eval "suite_$suite() { echo $suite \"\$@\"; }"; done
"""


@pytest.mark.parametrize("words, runs", [
    ("kube", ["unit kube"]),
    ("Quantity kube", ["unit Quantity kube"]),
    ("e2e up down", ["e2e -k up or down"]),
    ("lint tsan", ["lint ", "tsan "]),
    ("--changed", ["lint ", "unit kube", "dependents apiserver", "tsan apiserver", "e2e -k test_up", "",
                   "Not run, though the change is in what they test: sim elastic"]),
])
def test_the_words_of_test_choose_suites_and_names(tmp_path, words, runs):
    program(tmp_path / "bin", "python", "#!/bin/sh\ncat <<END\nlint\nunit kube\ndependents apiserver\ntsan apiserver\n"
                                        "e2e test_up\nleft sim elastic\nEND\n")
    result = bash(RUNS + f"our_python() {{ echo {tmp_path}/bin/python; }}; verb_test {words}", tmp_path)
    assert [line.rstrip() for line in result.stdout.splitlines()] == [line.rstrip() for line in runs], result


def test_where_nothing_changed_nothing_is_run(tmp_path):
    result = bash(RUNS + "changed_files() { :; }; summary() { exit 1; }; verb_test --changed", tmp_path)
    assert (result.returncode, result.stdout) == (0, "Nothing differs from the main branch.\n"), result


@pytest.mark.parametrize("words, says", [("--chnaged", "no option --chnaged"), ("--changed kube", "chooses suites by itself")])
def test_wrong_words_of_test_are_errors(tmp_path, words, says):
    result = bash(RUNS + f"verb_test {words}", tmp_path)
    assert result.returncode != 0 and says in result.stderr, result


# Every part of a whole run says when it begins and ends.
WHOLE = RUNS + r"""mkdir -p $logs; build_ahead() { echo "build $1"; }; suite_build() { :; }
run_ctest() { echo "$*"; }
elastic_released() { echo elastic; }; elastic_under_sanitizers() { echo elastic-asan; }
"""


def test_a_whole_run_tests_beside_what_waits_and_measures_alone(tmp_path):
    result = bash(WHOLE + "suite_security() { until grep -q cluster <(cat $logs/beside-*.log) && grep -q simulate <(cat $logs/beside-*.log); "
                          "do sleep 0.01; done; echo security; }; test_all", tmp_path)
    said = [line.rstrip() for line in result.stdout.splitlines() if not line.startswith("wait for the rest")]
    assert said == ["build release", "lint", "tools", "python", "e2e", "security",
                    "build asan-unity", "build tsan", "unit asan-unity  -LE ^serial$", "tsan", "simulate", "elastic-asan", "conformance", "cluster",
                    "foreign", "unit-serial asan-unity  -L ^serial$", "elastic"], result


# A pytest that has passed one test, and runs the next one until it is told to end.
SLOW_PYTEST = """#!/bin/bash
[[ $1 != -c ]] || exit 0
[[ $* != *count_tests.py* ]] || exec /usr/bin/python3 "$@"
for word; do [[ $word != *.junit ]] || report=$word; done
[[ -n ${report-} ]] || exit 1
trap 'exit 2' TERM
echo '<testsuites><testsuite><testcase classname="a" name="one"/></testsuite></testsuites>' >"$report"
touch $HOME/runs
while :; do sleep 0.01; done
"""


def test_what_is_done_with_published_clients_ends_in_time(tmp_path):
    slow = program(tmp_path / "bin", "python", SLOW_PYTEST)
    result = bash(f"""our_python() {{ echo {slow}; }}; job_path() {{ echo "$PATH"; }}; forget_results
timeout() {{ "${{@:4}}" & until [[ -e $HOME/runs ]]; do sleep 0.01; done; kill $!; wait $! || return 124; }}
time_is_over_at=$(($(now_ms) + 3600000)); run_pytest conformance tests/conformance
time_is_over_at=$(now_ms); run_pytest cluster tests/conformance
build_programs foreign some-suite || echo "$reason"
cat $results""", tmp_path)
    assert result.stdout.splitlines()[-6:] == [
        "conformance: skipped, what was left of it when its time was over (--clients-until)",
        "cluster: skipped, its time is over (--clients-until)", "its time is over (--clients-until)",
        "conformance 0 0 1", "conformance 1 0 0 0", "cluster 0 0 1"], result


@pytest.mark.parametrize("simulate", [
    "echo $BASHPID >$logs/playing; sleep 1000",
    "trap : TERM; echo $BASHPID >$logs/playing; sleep 1000; sleep 1001"])  # as if told between two commands
def test_a_whole_run_that_is_interrupted_leaves_nothing_behind(tmp_path, simulate):
    result = bash(WHOLE + f"suite_simulate() {{ {simulate}; }}\n" + """
suite_security() { until [[ -s $logs/playing ]]; do sleep 0.01; done; exit 3; }; test_all || echo status $?
while kill -0 $(<$logs/playing) 2>/dev/null; do sleep 0.01; done; echo gone""", tmp_path)
    assert result.stdout.endswith("status 3\ngone\n"), result


def git(place, *words):
    subprocess.run(["git", "-C", place, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True)


def test_what_changed_is_what_differs_from_the_main_branch(tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    git(tree, "init", "-q", "-b", "main")

    def write(name, commit=True):
        (tree / name).write_text(name)
        if commit:
            git(tree, "add", name)
            git(tree, "commit", "-q", "-m", name)

    def changed():
        return bash(f"root={tree}; changed_files", tmp_path).stdout.split()

    write("one")
    assert changed() == []
    write("two")
    assert changed() == ["two"]  # on the main branch: the last commit
    write("three", commit=False)
    assert changed() == ["three"]
    git(tree, "checkout", "-q", "-b", "branch")
    git(tree, "add", "three")
    git(tree, "commit", "-q", "-m", "three")
    write("four")
    write("five", commit=False)
    assert changed() == ["five", "four", "three"]


CLUSTER = """forget_results; our_python() { echo %s; }
need_packages() { :; }; need_etcd() { :; }; suite_build() { :; }; conformance_clients=(one two)
run_pytest() { echo "${under[*]-} pytest $*"; }; """


@pytest.mark.parametrize("suite,fake,said", [
    ("cluster", "[ $2 = fetch ] && { echo 'cluster: there is no go' >&2; exit 77; }",
     ["cluster: skipped, there is no go", "cluster 0 0 1"]),
    ("cluster", "[ $2 = built ] || exit 0; exit 1",
     ["build cluster", "build cluster", "build cluster", "run -- pytest cluster tests/conformance --ignore",
      "run -- pytest cluster-install", "wait for the rest", " pytest operator tests", " pytest operator-rights",
      "wait for the rest", "build cel", " pytest cel tests/cluster"]),
    ("cluster", "exit 0", ["run -- pytest cluster tests/conformance --ignore", "run -- pytest cluster-install",
                           "wait for the rest", " pytest operator tests", " pytest operator-rights",
                           "wait for the rest", " pytest cel tests/cluster"]),
    ("cluster", "[ $2 = fetch ]", ["build cluster", "cluster: skipped, what it needs was not built", "cluster-build 0 1 0",
                                   "cluster 0 0 1"]),
    ("conformance", "[ $2 = fetch ] && [ $3 = two ] && { echo 'cluster: old' >&2; exit 77; }; exit 0",
     ["two: its tests are skipped, old", " pytest conformance"])])
def test_the_suites_that_need_programs_of_others(tmp_path, suite, fake, said):
    program(tmp_path / "bin", "python", f"#!/bin/sh\n{fake}\n")
    result = bash(CLUSTER % (tmp_path / "bin/python") + f"suite_{suite}; cat $results || true", tmp_path)
    lines = [line for line in result.stdout.splitlines() if not line.startswith("    ")]
    assert len(lines) == len(said) and all(want in line for want, line in zip(said, lines)), result


@pytest.mark.parametrize("xdist,chosen,said", [
    ("exit 0", "", "-n 3 --dist loadfile"),
    ("exit 0", "-k one", ""),  # to be looked at, say with -s
    ("exit 1", "", "")])
def test_a_whole_suite_runs_in_a_process_for_each_core_where_pytest_can(tmp_path, xdist, chosen, said):
    program(tmp_path / "bin", "python", f"#!/bin/sh\n{xdist}\n")
    result = bash(f"our_python() {{ echo {tmp_path}/bin/python; }}; side_by_side 3 {chosen}", tmp_path)
    assert result.stdout.strip() == said, result


def test_etcd_is_unpacked_and_not_installed(tmp_path):
    program(tmp_path / "bin", "apt-get", "#!/bin/sh\n[ \"$2\" = download ] && touch etcd-server_3.deb\n")
    program(tmp_path / "bin", "dpkg", "#!/bin/sh\nmkdir -p $3/usr/bin && cp /bin/true $3/usr/bin/etcd\n")
    result = bash("is_debian() { :; }; command() { [[ $2 != etcd ]]; }; need_etcd; $cache/etcd/usr/bin/etcd && ls $cache", tmp_path,
                  f"{tmp_path}/bin:/bin")
    assert result.stdout.splitlines()[-1] == "etcd", result


def test_a_lint_that_can_not_run_here_is_skipped_with_the_reason(tmp_path):
    result = bash("forget_results; need_lint_tools() { :; }; suite_build() { :; }; lint_checks=(good bad functions)\n"
                  "lint_good() { :; }; lint_bad() { echo x; return 1; }; suite_lint; cat $results", tmp_path)
    assert "lint 2 1 1\n" in result.stdout and "lint functions: skipped, the packages of" in result.stdout, result


@pytest.mark.parametrize("part,found", [
    ("local name=$1\n    echo \"$name $other\"", None), ("echo \"$nobody_sets_it\"", "SC2154"), ("rm $1", "SC2086")])
def test_the_parts_of_dev_are_checked_as_one_program(tmp_path, part, found):
    for path, text in {"dev": "#!/usr/bin/env bash\nother=1\nact \"$@\"\n", "scripts/act.sh": f"act() {{\n    {part}\n}}\n",
                       "scripts/alone.sh": "#!/bin/sh\necho\n", ".ci/run": "#!/bin/sh\n", "cmake/compile.sh": "#!/bin/sh\n"}.items():
        program((tmp_path / "tree" / path).parent, path.split("/")[-1], text)
    result = bash(f"root={tmp_path}/tree; [[ -z $(lint_lacks shell) ]] || exit 77; lint_shell", tmp_path)
    if result.returncode == 77:
        pytest.skip("there is no shellcheck")
    assert (result.returncode, result.stdout) == (0, "") if found is None else (
        result.returncode == 1 and found in result.stdout and "scripts/act.sh:2" in result.stdout), result


@pytest.mark.parametrize("check,path,text,found", [
    ("python", "scripts/a.py", "import os\n", "F401"),
    ("python", "tests/a.py", "def f(a=[]):\n    return a\n", "B006"),
    ("python", "python/a.py", "import tomllib\n\nprint(tomllib)\n", None),
    ("types", "python/muster/src/muster/a.py", "def f(a):\n    return a\n", "no-untyped-def"),
    ("types", "python/muster/src/muster/a.py", "def f(a: int) -> str:\n    return a\n", "return-value"),
    ("types", "python/muster/src/muster/a.py", "def f(a: int) -> int:\n    return a\n", None),
])
def test_python_is_checked(tmp_path, check, path, text, found):
    tree = tmp_path / "tree"
    for folder in ("python/muster/src/muster", "tests", "scripts", "bench", "examples"):
        (tree / folder).mkdir(parents=True)
    for file in ("ruff.toml", "python/muster/pyproject.toml", "scripts/lint_requirements.txt"):
        (tree / file).write_text((ROOT / file).read_text())
    (tree / path).write_text(text)
    result = bash(f"root={tree} cache={pathlib.Path.home()}/.cache/muster; need_lint_tools\n"
                  f"[[ -z $(lint_lacks {check}) ]] || exit 77; lint_{check}", tmp_path)
    if result.returncode == 77:
        pytest.skip("its tool can't be had here")
    assert result.returncode == 0 if found is None else result.returncode == 1 and found in result.stdout, result


def test_the_tools_of_lints_that_can_not_be_had_are_told(tmp_path):
    program(tmp_path / "bin", "python", "#!/bin/sh\necho no venv here; exit 1\n")
    result = bash(f"our_python() {{ echo {tmp_path}/bin/python; }}; need_lint_tools; ls $cache", tmp_path)
    assert result.returncode == 0 and "no venv here" in result.stdout and result.stdout.endswith("skipped.\n"), result


def test_no_file_has_the_marks_of_a_merge():
    found = subprocess.run(["git", "-C", ROOT, "grep", "-lE", "^(<{7}|>{7}) "], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (1, "")


def test_no_file_of_the_repository_is_a_link():
    """Not every checkout keeps links: without them they are files with a path for a text."""
    files = subprocess.run(["git", "-C", ROOT, "ls-files", "--stage"], capture_output=True, text=True, check=True)
    assert [line for line in files.stdout.splitlines() if line.startswith("120000")] == []
