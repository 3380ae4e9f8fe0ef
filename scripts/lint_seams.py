"""The rules of this repository that no compiler checks. lint_seams.py ROOT; exits 1 with one line a finding.

Time, chance, threads and the environment enter through a few files, so that everything else can run
on virtual time and be replayed; heavy or foreign headers stay in the few files that need them; folders
use only the folders that they declare. A file that may do what others may not stands in ALLOWED below
with its reason, and an entry that is no longer needed is a finding too.
"""

import pathlib
import re
import sys

import lint_rooms
from cpp_text import INCLUDE, TEST_FILE, argument, blank, line_of

# rule -> (pattern in code without comments and strings, what to do instead)
CODE_RULES = {
    "clock": (
        r"\b(steady_clock|system_clock|high_resolution_clock)\s*::\s*now\b"
        r"|\b(clock_gettime|gettimeofday|timespec_get|timerfd_create)\s*\("
        r"|\btime\s*\(\s*(nullptr|NULL|0|&)"
        r"|\basio\s*::\s*(steady_timer|system_timer|high_resolution_timer|deadline_timer)\b",
        "take time as a parameter, or use base/time/clock.h",
    ),
    "sleep": (r"\bthis_thread\s*::\s*sleep|\b(u|nano)sleep\s*\(|::sleep\s*\(", "await Clock::sleep_for"),
    "environment": (r"\b(secure_)?getenv\s*\(|\benviron\b", "take what you need as a parameter"),
    "chance": (
        r"\b(s?rand|s?random|drand48|rand_r)\s*\(|\brandom_device\b|\bmt19937|\bgetrandom\s*\(",
        "use base/rng.h",
    ),
    "thread": (
        r"\bstd\s*::\s*(thread|jthread|async)\b|\bpthread_create\b|\basio\s*::\s*thread_pool\b",
        "there is one loop thread; spawn a task in a TaskGroup",
    ),
    "mutex": (r"\bstd\s*::\s*(\w*mutex|lock_guard|scoped_lock|unique_lock)\b", "there is one loop thread"),
    "detached": (r"\bdetached\b|\.\s*detach\s*\(", "spawn it in a TaskGroup, which owns it"),
    "json": (r"\bjson\s*::\s*parse\s*\(", "use kube/values/read_json.h, which has the limits and does not throw"),
}

# rule -> (pattern of an included path, what to do instead)
INCLUDE_RULES = {
    "beast": (r"^boost/beast", "Beast costs seconds a file; it parses HTTP in the few files below"),
    "spdlog": (r"^spdlog/", "use base/log.h"),
    "cli11": (r"^CLI/", "keep option parsing in few files"),
    "yaml-cpp": (r"^yaml-cpp/", "keep YAML in the reader and the writer"),
    "soci": (r"^soci/", "not used here yet"),
    "sqlite": (r"^sqlite3", "go through store/internal/file/sqlite.h"),
}

# rule -> {file: why it may}
ALLOWED = {
    "clock": {
        "src/base/time/real_clock.cc": "the real clock",
        "src/base/thread_time.h": "what a thread has taken, which decides nothing",
        "src/base/async/signal.h": "a timer that never expires is Asio's condition variable",
        "src/workers/shim/program/shim.cc": "a program of its own without a loop of ours",
    },
    "chance": {"src/base/rng.h": "the one generator", "src/base/rng.cc": "its seed when none is given"},
    "spdlog": {
        "src/base/log.cc": "the sink",
        "src/base/static/spdlog.cc": "its compiled part, for static programs",
    },
    "beast": {
        "src/net/internal/http/http_parser.cc": "the parser of HTTP messages",
        "src/runtime/internal/lifecycle/network_check.cc": "the parser of what a pod answers a probe",
    },
    "environment": {
        "src/control_plane/daemon/caller.cc": "what the person's shell hands over",
        "src/base/test_seeds.cc": "which part of a random test a run plays",
        "src/base/test_seeds_test.cc": "the same",
        "src/base/test_inputs.cc": "where a test says what it reads",
        "src/base/test_inputs_test.cc": "the same",
    },
    "thread": {
        "src/base/async/side_thread.cc": "what would hold the loop for too long",
        "src/checkpoint/copy/copier.cc": "memory is faster than one core",
        "src/checkpoint/storage/in_parallel.cc": "a disk is faster than one core that makes digests",
        "src/checkpoint/storage/storage_contract_test.cc": "a file is written by several at once",
        "src/checkpoint/checkpoint_bench.cc": "the same, as its peer has it",
        "src/checkpoint/checkpoint_durable_bench.cc": "a disk's own speed",
        "src/checkpoint/format/crc32.cc": "checksums of gigabytes, which one core makes too slowly; the threads end before it returns",
        "src/store/internal/file/thread.cc": "a commit blocks in fsync",
        "src/master/file_records.cc": "a lock that another process holds blocks, and a network's file system",
    },
    "mutex": {
        "src/checkpoint/copy/copier.cc": "the threads of a copy",
        "src/checkpoint/storage/in_parallel.cc": "the threads of a file that is written",
        "src/checkpoint/storage/shard_writer.cc": "what the threads of a file have found",
        "src/checkpoint/storage/memory_storage.cc": "a disk that several threads use",
        "src/base/log.cc": "the store's threads log, too",
        "src/store/internal/file/file_writer.cc": "the queue between the loop and the writer",
        "src/store/internal/file/file_reader.cc": "threads that parse take turns at reading",
        "src/kube/schema/schema_pool.h": "large definitions are read beside the loop",
        "src/kube/schema/schema_pool.cc": "the same",
        "src/apiserver/internal/types/crd.h": "the same",
        "src/apiserver/internal/types/crd.cc": "the same",
        "src/store/power_cut_fixture.cc": "a disk that the store's threads use",
        "src/control_plane/daemon/daemon_log.h": "the store's threads write lines, too",
        "src/control_plane/daemon/daemon_log.cc": "the same",
    },
    "sqlite": {
        "src/store/internal/file/sqlite.h": "the connection",
        "src/store/power_cut_fixture.cc": "a disk of SQLite's for tests",
    },
    "cli11": {"src/cli/internal/flags/flags.cc": "the flags of all verbs"},
    "json": {
        "src/kube/values/read_json.cc": "the reader",
        "src/kube/transport/http_transport.cc": "an object has memory of its own",
        "src/store/object_text.cc": "what was read before it was stored",
        "src/apiserver/objects/text_fields.cc": "the same, a part of it",
        "src/apiserver_http/internal/protobuf/message_reader.cc": "tells what is wrong",
        "src/operator/internal/cache/packed_status.cc": "what it has encoded itself",
        "src/launch/plan_json.cc": "the same",
        # These do not know kube/. What is too deep or broken is told there, and ends nothing.
        "src/checkpoint/image/table.cc": "tables of images, which have a limit of their own",
        "src/checkpoint/commit/manifest.cc": "the same, and a manifest has its own limits",
        "src/muster_run/node/error_files.cc": "files of workers",
        "src/workers/worker/error_file.cc": "the same",
        "src/workers/worker/worker_set_state.cc": "records of ours, read where exceptions are caught",
        "src/workers/warm/messages.cc": "the same, of spares",
        "src/workers/warm/verdict.cc": "the same",
        "src/cel/cel_main.cc": "a program of tests",
        "src/launch/reference_main.cc": "the same",
        "bench/creates_bench.cc": "the same",
        "bench/nodes_bench.cc": "the same",
    },
    "yaml-cpp": {"src/manifest/yaml/yaml_document.cc": "the reader"},
}

# A test owns its whole loop, and writes the JSON that it reads.
FREE_IN_TESTS = ("detached", "json")

# Names that say nothing about what a thing does.
EMPTY_WORDS = r"util|utils|utility|utilities|helper|helpers|manager|common|misc"
EMPTY_FILE = re.compile(rf"(^|[/_])({EMPTY_WORDS})([/_.]|$)")
EMPTY_TYPE = re.compile(r"\b(?:class|struct|enum|enum\s+class|namespace|concept)\s+(\w*(?:Util|Utils|Helper|Manager|Common)\w*)\b")

UNOWNED = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))")
MAX_LINES = 600


class Lint:
    def __init__(self, root):
        self.root = root
        self.findings = []
        self.used = set()
        self.folders = {
            path.parent.name: self.declared(path) for path in sorted(root.glob("src/*/CMakeLists.txt"))
        }

    def declared(self, path):
        """What a folder's CMakeLists.txt lets it use: (in code, in tests besides)."""
        text = re.sub(r"#[^\n]*", "", path.read_text())
        tests = re.findall(r"\bmuster_([a-z_0-9]+)\b", " ".join(re.findall(r"muster_test\(([^)]*)\)", text)))
        return set(argument(text, "muster_library", "DEPENDS")), set(tests)

    def find(self, path, line, rule, message):
        if path in ALLOWED.get(rule, {}):
            self.used.add((rule, path))
            return
        self.findings.append(f"{path}:{line}: {rule}: {message}")

    def file(self, path):
        name = path.relative_to(self.root).as_posix()
        text = path.read_text(errors="replace")
        code = blank(text)

        for rule, (pattern, instead) in CODE_RULES.items():
            if rule in FREE_IN_TESTS and TEST_FILE.search(name):
                continue
            for match in re.finditer(pattern, code):
                self.find(name, line_of(code, match), rule, f"'{match.group(0).strip()}': {instead}")
        for match in EMPTY_TYPE.finditer(code):
            self.find(name, line_of(code, match), "name", f"'{match.group(1)}' does not say what it does")
        if EMPTY_FILE.search(name):
            self.find(name, 1, "name", "the file's name does not say what it does")
        for match in UNOWNED.finditer(text):
            self.find(name, line_of(text, match), "todo", f"{match.group(1)} without an issue: {match.group(1)}(#123)")
        if name.endswith(".h") and "#pragma once" not in text:
            self.find(name, 1, "header", "no #pragma once")
        lines = text.count("\n")
        if lines > MAX_LINES:
            self.find(name, lines, "length", f"{lines} lines; more than {MAX_LINES} is more than one reason to change")
        self.includes(name, blank(text, keep_strings=True))

    def includes(self, name, text):
        for match in INCLUDE.finditer(text):
            quote, target = match.groups()
            line = line_of(text, match)
            for rule, (pattern, instead) in INCLUDE_RULES.items():
                if re.search(pattern, target):
                    self.find(name, line, rule, f"includes {target}: {instead}")
            if quote == '"':
                self.arrow(name, line, target)

    def arrow(self, name, line, target):
        parts = name.split("/")
        if parts[0] == "bench":
            self.arrow_of_bench(name, line, target)
        if parts[0] != "src" or len(parts) < 3:
            return
        own, (head, *rest) = parts[1], target.split("/")
        if head not in self.folders:
            self.find(name, line, "include", f'"{target}" does not start with a folder of src/')
        elif head != own:
            in_code, in_tests = self.folders.get(own, (set(), set()))
            if head not in (in_code | in_tests if TEST_FILE.search(name) else in_code):
                self.find(name, line, "arrow", f"{own} does not declare {head} in DEPENDS of its CMakeLists.txt")
            if "internal" in rest:
                self.find(name, line, "arrow", f'"{target}" is internal to {head}')

    def arrow_of_bench(self, name, line, target):
        """A benchmark may use each folder, but what all others see of it."""
        head, *rest = target.split("/")
        if not rest:
            if not (self.root / "bench" / target).exists():
                self.find(name, line, "include", f'"{target}" is not in bench/')
        elif head not in self.folders:
            self.find(name, line, "include", f'"{target}" does not start with a folder of src/')
        elif "internal" in rest:
            self.find(name, line, "arrow", f'"{target}" is internal to {head}')

    def house(self):
        """The folders among themselves: arrows point to folders that were added before."""
        top = self.root / "CMakeLists.txt"
        order = re.findall(r"add_subdirectory\(src/(\w+)\)", top.read_text()) if top.exists() else []
        for folder, (depends, _) in self.folders.items():
            path = f"src/{folder}/CMakeLists.txt"
            if folder not in order:
                self.find(path, 1, "house", "the folder is not added in the top CMakeLists.txt")
                continue
            for other in sorted(depends):
                if other not in order[: order.index(folder)]:
                    self.find(path, 1, "house", f"{folder} depends on {other}, which does not come before it")
            if not (self.root / "src" / folder / "README.md").exists():
                self.find(path, 1, "house", "the folder has no README.md")

    def stale(self):
        for rule, files in ALLOWED.items():
            for path in files:
                if (rule, path) not in self.used and (self.root / path).exists():
                    self.findings.append(f"{path}:1: {rule}: does not need its permission in scripts/lint_seams.py any more")

    def run(self):
        paths = [p for top in ("src", "cmake", "bench") for p in sorted((self.root / top).rglob("*")) if p.suffix in (".cc", ".h")]
        for path in paths:
            self.file(path)
        self.house()
        self.stale()
        return self.findings


def main(root):
    where = pathlib.Path(root).resolve()
    findings = Lint(where).run() + lint_rooms.findings(where)
    print(*findings, sep="\n")
    if findings:
        print(f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
