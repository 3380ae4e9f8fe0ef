"""Runs every fuzzer for its share of the time, and says what each did.

fuzz_drill.py ROOT [--minutes N] [--only WORDS]. The whole requests of `request` come first and have half of the time; the others
share the rest. A line for each: inputs tried, seconds, how many of them were new to the corpus in build/fuzz/corpus. An
input that crashes a fuzzer, takes too long or too much memory is kept in build/fuzz/crashes, and the drill exits 1.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import time

FIRST = "request"
LIMIT_MB = 4096
# One input, under sanitizers on a busy machine.
INPUT_S = 60
# libFuzzer looks at the clock between inputs, and first reads its corpus.
END_S = 2 * INPUT_S + 60
STATISTIC = re.compile(r"^stat::(\w+): +(\d+)$", re.M)
KEPT = re.compile(r"Test unit written to (\S+)")


class Fuzzer:
    """A program of the preset fuzz, with the corpus of the folder that it is of."""

    def __init__(self, root, program):
        self.name = program.name.removesuffix("_fuzz")
        self.program = program
        self.corpus = root / "src" / program.parent.name / "fuzz" / "corpus" / self.name
        # New inputs go there, so that the corpus in the repository stays as it is.
        self.found = root / "build" / "fuzz" / "corpus" / self.name
        self.crashes = root / "build" / "fuzz" / "crashes"


class Outcome:
    def __init__(self, name, status, text, seconds):
        statistics = dict(STATISTIC.findall(text))
        self.name, self.failed, self.text, self.seconds = name, status != 0, text, seconds
        self.tried = int(statistics.get("number_of_executed_units", 0))
        self.new = int(statistics.get("new_units_added", 0))
        kept = KEPT.search(text)
        self.kept = kept and kept[1]

    def __str__(self):
        line = f"{self.name:20} {self.tried:10} inputs in {self.seconds:5.0f} s, {self.new:6} new"
        return f"{line}, FAILED: {self.kept or 'no input was kept'}" if self.failed else line


def fuzzers(root):
    """Those that are built, the first one first."""
    programs = (root / "build" / "fuzz" / "src").glob("*/*_fuzz")
    made = [Fuzzer(root, program) for program in programs if program.is_file()]
    return sorted(made, key=lambda fuzzer: (fuzzer.name != FIRST, fuzzer.name))


def shares(names, seconds):
    """For how many whole seconds each of them runs: libFuzzer takes 0 for no limit."""
    if len(names) == 1 or FIRST not in names:
        return {name: max(1, int(seconds / len(names))) for name in names}
    rest = seconds / 2 / (len(names) - 1)
    return {name: max(1, int(seconds / 2 if name == FIRST else rest)) for name in names}


def run(fuzzer, seconds):
    fuzzer.found.mkdir(parents=True, exist_ok=True)
    fuzzer.crashes.mkdir(parents=True, exist_ok=True)
    line = [fuzzer.program, f"-max_total_time={seconds}", f"-timeout={INPUT_S}", f"-rss_limit_mb={LIMIT_MB}", "-print_final_stats=1",
            f"-artifact_prefix={fuzzer.crashes}/{fuzzer.name}-", fuzzer.found, fuzzer.corpus]
    begin = time.monotonic()
    with subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as process:
        try:
            text, _ = process.communicate(timeout=seconds + END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
            text += f"\nit did not end within {seconds + END_S} s\n"
    return Outcome(fuzzer.name, process.returncode, text, time.monotonic() - begin)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=10, help="for all of them together (10)")
    parser.add_argument("--only", default="", help="a part of the names of fuzzers")
    options = parser.parse_args()
    chosen = [fuzzer for fuzzer in fuzzers(options.root.absolute()) if options.only in fuzzer.name]
    if not chosen:
        parser.error(f"no fuzzer is named {options.only}; ./dev fuzz lists them")
    seconds = shares([fuzzer.name for fuzzer in chosen], options.minutes * 60)
    failed = []
    for fuzzer in chosen:
        outcome = run(fuzzer, seconds[fuzzer.name])
        print(outcome, flush=True)
        if outcome.failed:
            failed.append(outcome)
    for outcome in failed:
        print(f"---- the end of what {outcome.name} said:", outcome.text[-6000:], sep="\n")
    print(f"{len(chosen)} fuzzers, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
