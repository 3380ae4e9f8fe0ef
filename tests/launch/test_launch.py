"""What muster-run, torchrun and dlrover-run are told, held against the real torchrun of /usr/bin/python3.

LAUNCH_REFERENCE names the program that answers for us (src/launch/reference_main.cc). Runs under pytest and by
itself, which is how ctest runs it; without torch there is nothing to hold it against.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("LAUNCH_REFERENCE", str(ROOT / "build" / "release" / "src" / "launch" / "launch_reference"))
PYTHON = "/usr/bin/python3"
BASE = {"PATH": "/usr/bin:/bin", "HOME": "/tmp"}
# torch 1.13 under Python 3.11 makes None of its own default "0", and falls over it.
STREAMS = {"PET_REDIRECTS": "1", "PET_TEE": "1"}

# What newer torch has changed since the installed one, or what a flag without a value is to each.
OTHER_DEFAULTS = {"monitor-interval": {"5", "0.1"}}

# Prints torch's parser, then what it makes of each [words, variables] of standard input.
TORCHS = r"""
import contextlib, io, json, os, sys
from torch.distributed.run import get_args_parser
def shown(value):
    return "" if value is None else value if isinstance(value, bool) else str(value)
print(json.dumps([{"names": a.option_strings, "dest": a.dest, "default": shown(a.default),
                   "choices": list(a.choices or []), "variable": type(a).__name__ in ("env", "check_env")}
                  for a in get_args_parser()._actions if a.option_strings and a.dest != "help"]))
for line in sys.stdin:
    words, variables = json.loads(line)
    for name in [name for name in os.environ if name.startswith("PET_")]:
        del os.environ[name]
    os.environ.update(variables)
    try:
        with contextlib.redirect_stderr(io.StringIO()) as error:
            args = vars(get_args_parser().parse_args(words))
        print(json.dumps({name: value if isinstance(value, list) else shown(value) for name, value in args.items()}))
    except (SystemExit, ValueError) as failure:
        print(json.dumps({"error": error.getvalue() or str(failure)}))
"""

# Writes what a worker was given to the directory that is named before its arguments.
WORKER = """
import json, os, sys
with open(os.path.join(sys.argv[1], os.environ["RANK"]), "w") as file:
    json.dump({"words": sys.argv[2:], "environment": dict(os.environ)}, file)
"""

# Command lines and variables that both take, and mean the same by.
ACCEPTED = [
    (["a.py"], {}),
    (["--nnodes=2", "a.py"], {}),
    (["--nnodes", "1:4", "--nproc_per_node", "auto", "a.py", "--nnodes", "x"], {}),
    (["-m", "-r", "3", "-t=0:1", "a.b", "-m"], {}),
    (["-mr3", "a"], {}),
    (["--no_python", "--run_path", "a", "--", "-x"], {}),
    (["--", "a.py", "--", "-x"], {}),
    (["--", "-a.py"], {}),
    (["a.py", "-x", "--"], {}),
    (["-r", "-1", "a.py"], {}),
    (["--rdzv_conf=join_timeout=3,is_host=1", "--rdzv_id=-x", "a.py"], {}),
    (["--role", "a b", "a.py"], {}),
    (["--max_restarts=1", "--max_restarts=2", "a.py"], {}),
    (["--start_method", "fork", "--monitor_interval=2.5", "--log_dir", "/x", "a.py"], {}),
    (["--node_rank=1", "--master_addr=[::1]", "--master_port", "7", "a.py"], {}),
    (["--standalone", "a.py", "--help"], {}),
    (["a.py"], {"PET_NNODES": "2:3", "PET_NPROC_PER_NODE": "gpu", "PET_MODULE": "1", "PET_NO_PYTHON": "0"}),
    (["--nnodes=4", "-m", "a"], {"PET_NNODES": "2", "PET_MODULE": "0", "PET_RDZV_ENDPOINT": ""}),
    (["a.py"], {"PET_REDIRECTS": "3", "PET_TEE": "1", "PET_LOG_DIR": "/l", "PET_RUN_PATH": "2"}),
    (["a.py"], {"PET_MASTER_PORT": "23456", "PET_MASTER_ADDR": "j-master-0", "PET_NODE_RANK": "2"}),
    (["a.py"], {"PET_STANDALONE": "1", "PET_ROLE": "x", "PET_RDZV_ID": "y", "PET_MAX_RESTARTS": "3"}),
]

# What both refuse.
REFUSED = [
    ([], {}),
    (["--nnodes"], {}),
    (["--rdzv_id", "-m", "a.py"], {}),
    (["--standalone=1", "a.py"], {}),
    (["--max_restarts=x", "a.py"], {}),
    (["--start_method=thread", "a.py"], {}),
    (["--no-such-flag", "a.py"], {}),
    (["-x", "a.py"], {}),
    (["a.py"], {"PET_MODULE": "yes"}),
    (["a.py"], {"PET_MAX_RESTARTS": "x"}),
]

# What only we take, and why.
ONLY_OURS = [
    (["a.py"], {"PET_STANDALONE": ""}),  # training-operator injects it so, and torchrun falls over it
]


def torch_is_there():
    return subprocess.run([PYTHON, "-c", "import torch.distributed.run"], capture_output=True,
                          check=False).returncode == 0


class Launch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not pathlib.Path(PROGRAM).exists():
            raise unittest.SkipTest(f"{PROGRAM} is not built")
        if not torch_is_there():
            raise unittest.SkipTest(f"{PYTHON} has no torch")
        questions = ACCEPTED + REFUSED + ONLY_OURS
        lines = cls.say([PYTHON, "-c", TORCHS], [list(question) for question in questions])
        cls.parser = lines[0]
        cls.torchs = lines[1:]
        cls.ours = cls.ask([{"called": "torchrun", "arguments": words, "variables": {**BASE, **variables}}
                            for words, variables in questions])
        cls.table = {row["name"]: row for row in cls.ask([{"table": True}])[0]}

    @staticmethod
    def say(command, questions):
        text = "".join(json.dumps(question) + "\n" for question in questions)
        ran = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=120,
                             env=BASE)
        assert ran.returncode == 0, ran.stderr[-3000:]
        return [json.loads(line) for line in ran.stdout.splitlines()]

    @classmethod
    def ask(cls, questions):
        return cls.say([PROGRAM, "answer"], questions)

    def test_every_flag_of_torch_is_known_with_its_default_and_variable(self):
        self.assertGreater(len(self.parser), 15)
        for action in self.parser:
            longest = action["names"][-1]
            row = self.table[longest.removeprefix("--").replace("_", "-")]
            with self.subTest(longest):
                self.assertTrue(row["torchs"])
                for name in action["names"]:
                    if not name.startswith("--"):
                        self.assertEqual(name, "-" + row["letter"])
                if action["variable"]:
                    self.assertEqual(row["variables"][0], "PET_" + action["dest"].upper())
                else:
                    self.assertEqual(row["variables"], [])
                if action["default"] is False:
                    self.assertTrue(row["switch"])
                elif row["name"] in OTHER_DEFAULTS:
                    self.assertEqual({action["default"], row["default"]}, OTHER_DEFAULTS[row["name"]])
                else:
                    self.assertEqual(row["default"], action["default"])
                if action["choices"]:
                    self.assertEqual(row["value"].split("|"), action["choices"])

    def test_command_lines_are_read_as_torch_reads_them(self):
        for (words, variables), torchs, ours in zip(ACCEPTED, self.torchs, self.ours):
            with self.subTest(words=words, variables=variables):
                self.assertNotIn("error", torchs)
                # A plan may still be refused, say two nodes without a place to meet; not the words.
                if "error" in ours:
                    self.assertRegex(ours["error"], "nothing says where|has no gpu|from 0 to")
                    continue
                self.assertEqual(ours["script"], torchs["training_script"])
                self.assertEqual(ours["arguments"], torchs["training_script_args"])
                for name, value in torchs.items():
                    flag = name.replace("_", "-")
                    if flag in ours["texts"] and not (flag in OTHER_DEFAULTS and value in OTHER_DEFAULTS[flag]):
                        self.assertEqual(ours["texts"][flag], value, flag)

    def test_what_torch_refuses_is_refused(self):
        first = len(ACCEPTED)
        for i, (words, variables) in enumerate(REFUSED, first):
            with self.subTest(words=words, variables=variables):
                self.assertIn("error", self.torchs[i])
                self.assertIn("error", self.ours[i])
        for i, (words, variables) in enumerate(ONLY_OURS, first + len(REFUSED)):
            with self.subTest(words=words, variables=variables):
                self.assertIn("error", self.torchs[i])
                self.assertNotIn("error", self.ours[i])

    def run_torchrun(self, nodes, variables):
        """What the workers of the real one were given, by rank; `nodes`: the words of each node."""
        with tempfile.TemporaryDirectory() as directory:
            script = pathlib.Path(directory, "worker.py")
            script.write_text(WORKER)
            out = pathlib.Path(directory, "out")
            out.mkdir()
            running = [subprocess.Popen([PYTHON, "-m", "torch.distributed.run", *flags, str(script), str(out), *words],
                                        env={**BASE, **variables}, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                       for flags, words in nodes]
            for process in running:
                _, error = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 0, error.decode()[-3000:])
            return {int(file.name): json.loads(file.read_text()) for file in out.iterdir()}

    def check_workers(self, sizes, nodes, variables):
        variables = {**STREAMS, **variables}
        given = self.run_torchrun(nodes, variables)
        self.assertEqual(sorted(given), list(range(sum(sizes))))
        rank = 0
        for position, (flags, words) in enumerate(nodes):
            for local_rank in range(sizes[position]):
                answer = self.ask([{
                    "called": "torchrun", "arguments": [*flags, "worker.py", "out", *words],
                    "variables": {**BASE, **variables},
                    "world": {"sizes": sizes, "position": position, "local_rank": local_rank}}])[0]
                self.assertNotIn("error", answer)
                with self.subTest(rank=rank):
                    self.compare(answer["worker"], given[rank])
                rank += 1

    def compare(self, ours, torchs):
        self.assertEqual(ours["command"][ours["command"].index("worker.py") + 2:], torchs["words"])
        # Addresses and files are each launcher's own; we serve the store ourselves with any backend.
        own = {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_ERROR_FILE", "TORCHELASTIC_USE_AGENT_STORE"}
        for name, value in torchs["environment"].items():
            if name == "LC_CTYPE":  # Python sets it for itself and its children
                continue
            self.assertIn(name, ours["environment"])
            if name not in own:
                self.assertEqual(ours["environment"][name], value, name)
        more = set(ours["environment"]) - set(torchs["environment"])
        self.assertEqual({name for name in more if not name.startswith(("MUSTER_", "DLROVER_"))},
                         {"RUNTIME_METRICS_PATH", "TORCH_NCCL_ASYNC_ERROR_HANDLING"})

    def test_workers_of_one_node(self):
        words = ["--out=${local_rank}", "$$x", "--nnodes", "7"]
        self.check_workers([2], [(["--nproc_per_node=2", "--role=r", "--max_restarts=2", "--rdzv_id=j",
                                   "--rdzv_backend=c10d", "--rdzv_endpoint=localhost:0"], words)], {})

    def test_a_worker_of_nothing_but_a_script(self):
        self.check_workers([1], [(["--master_port=29617"], ["--", "a"])], {"OMP_NUM_THREADS": "3"})

    def test_workers_of_two_nodes(self):
        shared = ["--nnodes=2", "--master_port=29618", "--nproc_per_node=2"]
        self.check_workers([2, 2], [([*shared, "--node_rank=0"], []), ([*shared, "--node_rank=1"], [])],
                           {"NCCL_ASYNC_ERROR_HANDLING": "0"})


if __name__ == "__main__":
    unittest.main()
