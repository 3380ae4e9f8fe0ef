"""Every command that the documentation tells people to type is run, or at least read by its program; test_help_commands.py does the same
with the examples of `muster VERB --help`.

A new block is run as it is, in a directory like a user's (`doc_world.py`) beside a `muster up` with the job `digits`, and has to succeed.
Where that can't be, it gets a line in READ_ONLY with the reason, and its programs have to understand its words. A program that is
neither Muster's nor kubectl gets a line in ELSEWHERE.
"""

import re
import subprocess

import pytest

from conftest import BINARY, ROOT
from doc_commands import Block, all_blocks, blocks_of, examples_of, without_comment
from doc_world import JOB, KUBECTL, World, recorded
from test_up import needs_kubectl

pytestmark = needs_kubectl

# Programs that do nothing and succeed in a block that is run -> what would be needed.
ELSEWHERE = {
    "docker": "a container runtime and a registry",
    "go": "the suites of others: test_foreign_controllers.py, test_envtest.py",
    "helm": "test_deploy.py has the chart",
    "jupyter": "a tool of users",
    "mail": "a tool of users",
    "nvidia-smi": "a GPU",
    "pip": "a package registry; python/muster/tests have the package",
    "py-spy": "a tool of users",
    "sudo": "the packages of a machine",
}

# Blocks that are not run, by the beginning of their names -> why.
READ_ONLY = {
    "CONTRIBUTING.md": "how we build and test: `./dev test` is what runs",
    "README.md: ./dev run": "`./dev drill bare-root` runs both commands on a bare Debian",
    "docs/cluster.md: kubectl create": "what a cluster refuses: tests/conformance",
    "docs/cluster.md: kubectl -n kubeflow delete": "a cluster with the operator: tests/operator",
    "docs/dlrover.md: kubectl -n dlrover scale": "a cluster with DLRover's operator: tests/operator/test_beside_dlrover.py",
    "docs/elastic.md: export MUSTER_TOKEN": "several machines: tests/elastic/test_master_process.py",
    "docs/elastic.md: muster-run": "several machines: tests/elastic",
    "docs/elastic.md: head -c": "several machines: tests/elastic",
    "docs/elastic.md: muster run pytorchjob.yaml --elastic": "faults of a job that runs: test_drills.py",
    "docs/foreign-controllers.md: kubectl annotate crd": "test_foreign_controllers.py",
    "docs/install.md": "changes the machine: tests/dev/test_package.py",
    "docs/migrate.md": "a cluster with the old operator: tests/operator/test_takeover.py",
    "docs/tutorial.md": "test_tutorial.py runs the page from its beginning to its end",
    "muster completion --help: muster completion fish": "a shell of its own: test_completion.py",
    "muster completion --help: source <(muster completion zsh)": "a shell of its own: test_completion.py",
    "muster kill --help": "faults of a job that runs: test_drills.py",
    "muster partition --help": "faults of a job that runs: test_drills.py",
    "muster pause --help": "faults of a job that runs: test_drills.py",
    "muster share --help: muster share -n 3 --mps": "a GPU: test_share.py",
    "muster step --help: muster step pytorch --image train:1 --num_worker 4 --gpu 8": "32 GPUs: test_step.py",
}

# A run that has no others beside it.
ALONE = "export MUSTER_RUNS_DIR=$PWD/runs && muster run train.py && muster run train.py"

# What was typed before, where a block continues.
BEFORE = {
    "docs/cluster.md: kubectl apply -k": 'rm -r deploy && cp -r "$CHECKOUT/deploy" deploy',
    "docs/cluster.md: muster manifests --image registry.example/muster:1 | kubectl delete": "muster manifests --image a:1 | kubectl apply -f -",
    "muster up --help: kubectl create": "muster up --detach && export KUBECONFIG=~/.muster/kubeconfig",
    "muster restore --help": "muster backup ~/muster-2026-01-31.backup",
    "docs/features.md: muster run -d": "muster run -q train.py",
    "docs/runs.md: muster run -d": "export STAY=1",
    "muster explain --help: muster explain job.yaml --rank worker-3": "sed -i 's/replicas: 2/replicas: 4/' job.yaml",
    "muster --help: muster validate *.yaml": "rm my-faults.yaml muster-entrypoints.yaml old.yaml",
    "muster logs --help: muster logs train": "muster run train.py",
    "muster describe --help: muster describe train": "muster run train.py",
    "muster attach --help": ALONE,
    "muster why --help: muster why train": ALONE,
    "muster stop --help: muster stop train": ALONE,
    "muster rerun --help: muster rerun train": ALONE,
    "muster rm --help": ALONE,
    "muster diff --help": f"{ALONE} && muster run train.py",
    "muster scale --help: muster scale tfjob/mnist": "muster launch tf --name mnist --workers 2 --servers 2 --print -- sleep 100 | muster apply -f -",
}

# They change what others look at, and get a server of their own.
CHANGES = re.compile(r"\bmuster (up|down|restore|apply|delete|scale)\b|\bkubectl (create|apply|delete|config)\b|--context\b")
# They are about the runs of their user, and the names of these mean no job of a server.
RUNS = re.compile(r"\bmuster (ps|stop|attach|why|diff|rerun|rm)\b|\bmuster run (-d|--detach)\b|\btrain-\d")
JOB_OF_A_SERVER = re.compile(r"\b[a-z]+job/")
INSTALLS = re.compile(r"muster manifests\b.*\| *kubectl|deploy/kustomize|\bhelm\b")
STARTS = re.compile(r"\bmuster (up|down|backup|restore)\b")
USAGE = {
    "muster": re.compile(r"--help' (explains|lists)"),
    "muster-run": re.compile(r"--help' (explains|lists)"),
    "kubectl": re.compile(r"unknown (shorthand )?(flag|command)|See 'kubectl|^error: (invalid|unexpected) argument", re.M),
}

BLOCKS = all_blocks(ROOT, BINARY)


# The same commands stand in several places; they are run once.
ONCE = {without_comment(block.text): block for block in reversed(BLOCKS)}.values()


def entry(table, block):
    return next((name for name in table if str(block).startswith(name)), None)


# ---- the words are understood ----


def dead_kubeconfig(directory):
    path = directory / "kubeconfig"
    path.write_text("apiVersion: v1\nkind: Config\ncurrent-context: prod\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n"
                    "users: [{name: u, user: {}}]\ncontexts: [{name: prod, context: {cluster: c, user: u}}]\n")
    return path


def refused(directory, words):
    """What the program says against its words; "" if it understands them. There is nothing that it could do."""
    program, *rest = words
    if program == "muster" and rest[:1] == ["up"]:
        rest += ["--state", "/proc/nothing"] if "--state" not in rest else ["--help"]
    real = {"muster": BINARY, "muster-run": directory / "muster-run", "kubectl": KUBECTL}[program]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(directory), "TMPDIR": str(directory), "KUBECONFIG": str(dead_kubeconfig(directory))}
    empty = directory / "empty"
    empty.mkdir(exist_ok=True)
    try:
        done = subprocess.run([real, *rest], text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=2, check=False,
                              cwd=empty, env=environment)
    except subprocess.TimeoutExpired:
        return ""  # it had begun
    return done.stderr if USAGE[program].search(done.stderr) else ""


def problems_of(directory, block):
    (directory / "muster-run").unlink(missing_ok=True)
    (directory / "muster-run").symlink_to(BINARY)
    commands, shown = recorded(directory, block.text, [*USAGE, *ELSEWHERE, "dev"])
    problems = [] if commands or "syntax error" not in shown else [shown]
    dev = (ROOT / "dev").read_text()
    for program, *rest in commands:
        if program == "unknown":
            problems.append(f"{rest[0]}: no test has this program; see ELSEWHERE")
        elif program == "dev":
            if not re.search(rf"^  \./dev {re.escape(rest[0])}\b", dev, re.M):
                problems.append(f"./dev has no {rest[0]}")
        elif program in USAGE:
            said = refused(directory, [program, *rest])
            if said:
                problems.append(f"{' '.join([program, *rest])}: {said}")
    return problems


def in_help(block):
    return block.where.endswith("--help")


def check_words(directory, where):
    found = [problem for block in BLOCKS if block.where == where for problem in problems_of(directory, block)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("where", dict.fromkeys(block.where for block in BLOCKS if not in_help(block)))
def test_programs_understand_what_is_to_be_typed(tmp_path, where):
    check_words(tmp_path, where)


# ---- it works ----


@pytest.fixture(scope="module")
def shared_world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("shared"), ELSEWHERE)
    world.serve()
    yield world
    world.close()


@pytest.fixture
def own_world(tmp_path):
    world = World(tmp_path / "own", ELSEWHERE)
    yield world
    world.close()


def world_for(block, request):
    text = BEFORE.get(entry(BEFORE, block), "") + "\n" + block.text
    if "condition=Succeeded" not in text and not any(words.search(text) for words in (CHANGES, INSTALLS, RUNS)):
        return request.getfixturevalue("shared_world")
    world = request.getfixturevalue("own_world")
    if RUNS.search(text) and not CHANGES.search(text) and not JOB_OF_A_SERVER.search(text):
        return world
    if INSTALLS.search(text):
        world.serve("--api-only", jobs=False)
    elif not (first := STARTS.search(text)) or first[1] != "up":
        world.serve(jobs="condition=Succeeded" not in text)
        if "condition=Succeeded" in text:
            world.apply(JOB)
    return world


def check_run(request, block):
    world = world_for(block, request)
    done = world.type("\n".join(filter(None, [BEFORE.get(entry(BEFORE, block)), block.text])))
    assert done.returncode == 0, f"{block.text}\n---\n{done.stdout[-6000:]}"
    if "https://hooks." in block.text and "-d" not in block.text.split():
        assert [told["result"] for told in world.told] == ["succeeded"], world.told
    for line in block.text.splitlines():
        if re.match(r"muster (run|launch) ", line) and not re.search(r"--(dry-run|print|help|output|detach|context)\b| -d\b", line):
            assert "succeeded after" in done.stdout, done.stdout


RUN = [block for block in ONCE if not entry(READ_ONLY, block)]


@pytest.mark.parametrize("block", [block for block in RUN if not in_help(block)], ids=str)
def test_the_commands_work(request, block):
    check_run(request, block)


# ---- and the tables and the search themselves ----


def test_each_exception_is_needed():
    for table in (READ_ONLY, BEFORE):
        assert [name for name in table if not any(entry({name: ""}, block) for block in BLOCKS)] == []


def test_blocks_are_found_in_every_form():
    page = "```sh\nmuster get pods\n```\ntext\n```\n$ muster a\nits output\n$ muster b\n```\n```\nno command\n```\n  ```bash\n  muster c\n  ```\n" \
           "```yaml\n- $ x\n```\n"
    assert blocks_of("p", page) == [Block("p", 1, "muster get pods"), Block("p", 5, "muster a\nmuster b"), Block("p", 13, "muster c")]
    with pytest.raises(AssertionError):
        blocks_of("p", "```sh\nmuster get pods\n")
    text = "Usage: muster x\n\nExamples:\n  muster x y       what it does\n  a | muster x -\n\nFlags:\n  --all   everything\n"
    assert [block.text for block in examples_of("h", text)] == ["muster x y", "a | muster x -"]


@pytest.mark.parametrize("line", [
    "muster get --nosuch pods", "muster nosuch", "x=$(muster run --nosuch a)", "kubectl get pods --nosuch", "kubectl nosuch", "muster get",
    "muster up --detach --nosuch", "muster-run --nosuch x.py", "nosuch --a", "./dev nosuch", "true | muster logs",
])
def test_a_wrong_word_is_found(tmp_path, line):
    assert problems_of(tmp_path, Block("p", 1, line)), line
