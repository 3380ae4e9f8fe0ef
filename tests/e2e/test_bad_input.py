"""Bad input: one message with file, line, column and field path, all at once, exit status 2, nothing
started."""

import re

import pytest

from conftest import NOBODY, needs_root, pytorchjob

GOOD = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: good
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: Never
      template:
        spec:
          containers:
          - name: pytorch
            image: local
            command: ["true"]
    Worker:
      replicas: 1
      template:
        spec:
          containers:
          - name: pytorch
            image: local
            command: ["true"]
"""
WORKER = "spec.pytorchReplicaSpecs.Worker"


def changed(old, new, count=1):
    assert old in GOOD
    return GOOD.replace(old, new, count)


# name: (manifest, what the output must contain besides file:line:column)
CASES = {
    "not YAML": (changed("spec:\n  py", "spec: [\n  py"), []),
    "two keys the same": (changed("  name: good", "  name: good\n  name: bad"), ["name", ":5:3: ", "line 4, column 3"]),
    "wrong type": (changed("replicas: 1\n      restart", "replicas: [1]\n      restart"),
                   ["spec.pytorchReplicaSpecs.Master.replicas", "8:17"]),
    "unknown kind": (changed("kind: PyTorchJob", "kind: PyTorchJobb"), ["PyTorchJobb", "PyTorchJob"]),
    "unknown version": (changed("kubeflow.org/v1", "kubeflow.org/v7"), ["kubeflow.org/v7", "kubeflow.org/v1"]),
    "no replica specs": (changed(GOOD[GOOD.index("  pytorchReplicaSpecs"):], "  runPolicy: {}\n"),
                         ["spec.pytorchReplicaSpecs"]),
    "an unknown replica type": (changed("    Worker:", "    Wroker:"), ["Wroker", "Worker"]),
    "Master replicas not 1": (changed("replicas: 1\n      restart", "replicas: 2\n      restart"),
                              ["spec.pytorchReplicaSpecs.Master.replicas", "8:17"]),
    "wrong container name": (changed("- name: pytorch", "- name: trainer"),
                             ["spec.pytorchReplicaSpecs.Master.template.spec.containers", "pytorch"]),
    "negative replicas": (changed("    Worker:\n      replicas: 1", "    Worker:\n      replicas: -1"),
                          [WORKER + ".replicas", "17:17"]),
    "fractional replicas": (changed("    Worker:\n      replicas: 1", "    Worker:\n      replicas: 1.5"),
                            [WORKER + ".replicas", "17:17"]),
    "NaN replicas": (changed("    Worker:\n      replicas: 1", "    Worker:\n      replicas: .nan"), ["17:17"]),
    "bad quantity": (changed("            image: local\n", "            image: local\n            resources: {limits: {cpu: 1.5xyz}}\n"),
                     ["limits", "1.5xyz"]),
    "a name too long for its pods": (changed("name: good", "name: " + "a" * 60), ["metadata.name", "4:9"]),
    "a bad restart policy": (changed("restartPolicy: Never", "restartPolicy: Sometimes"),
                             ["spec.pytorchReplicaSpecs.Master.restartPolicy", "Sometimes", "OnFailure"]),
    "port out of range": (changed("            image: local\n",
                                  "            image: local\n            ports: [{name: pytorchjob-port, containerPort: 70000}]\n"),
                          ["containerPort", "70000"]),
    "a mount without its volume": (changed("            image: local\n",
                                           "            image: local\n            volumeMounts: [{name: data, mountPath: /data}]\n"),
                                   ["volumeMounts[0].name", "data"]),
    "minReplicas above maxReplicas": (changed("  pytorchReplicaSpecs:",
                                              "  elasticPolicy: {minReplicas: 4, maxReplicas: 2}\n  pytorchReplicaSpecs:"),
                                      ["spec.elasticPolicy.minReplicas"]),
    "a 2 MB manifest": (GOOD + "# " + "x" * 2_000_000 + "\n", ["the limit is"]),
    "20,000 levels of nesting": ("a: " + "[" * 20000 + "]" * 20000 + "\n", ["200"]),
    "an alias bomb": ("a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)), ["alias"]),
    "an empty file": ("", []),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("verb", ["validate", "run"])
def test_bad_input(muster, verb, case):
    text, wanted = CASES[case]
    path = muster.write("bad.yaml", "")
    path.write_text(text)
    finished = muster.run(verb, path, limit=30)
    assert finished.status == 2, finished
    assert re.search(re.escape(str(path)) + r":\d+:\d+: ", finished.text), finished
    for part in wanted:
        assert part in finished.text, (part, finished)
    assert len(finished.text) < 5000, "the message drowns the reader"


def test_invalid_utf8(muster):
    path = muster.directory / "bad.yaml"
    path.write_bytes(GOOD.encode().replace(b"good", b"go\xff\xfed"))
    finished = muster.run("validate", path, limit=30)
    assert finished.status == 2, finished
    assert "4:" in finished.text and "UTF-8" in finished.text


def test_all_problems_at_once(muster):
    text = (changed("replicas: 1\n      restart", "replicas: 3\n      restart")
            .replace("restartPolicy: Never", "restartPolicy: Sometimes")
            .replace("    Worker:\n      replicas: 1", "    Worker:\n      replicas: -2"))
    finished = muster.run("validate", muster.write("bad.yaml", text))
    assert finished.status == 2
    for field in ("Master.replicas", "Master.restartPolicy", "Worker.replicas"):
        assert field in finished.text, finished


def test_an_unknown_field_is_a_warning_and_with_strict_an_error(muster):
    text = changed("            image: local", "            image: local\n            comand: [x]")
    path = muster.write("typo.yaml", text)
    finished = muster.run("validate", path)
    assert finished.status == 0, finished
    assert "comand" in finished.text and "command" in finished.text and "warning" in finished.text
    strict = muster.run("validate", "--strict", path)
    assert strict.status == 2, strict
    assert re.search(r":15:13: ", strict.text), strict


def test_a_good_file_is_good(muster):
    finished = muster.run("validate", muster.write("good.yaml", GOOD))
    assert finished.status == 0, finished


def test_a_file_that_is_not_there(muster):
    finished = muster.run("run", muster.directory / "missing.yaml")
    assert finished.status == 2
    assert "missing.yaml" in finished.text


@pytest.mark.parametrize("name, text, wanted", [
    ("train.py", "import torch\nx: int = {}\n", "muster init"),
    ("train.sh", "echo a: b: c\n", "the command of a job's container"),
    ("train", "#!/usr/bin/python3\n", "the command of a job's container"),
])
def test_a_program_in_place_of_a_manifest(muster, name, text, wanted):
    path = muster.write(name, text)
    # `run` takes a script for what it is, whatever is named by -f for a manifest.
    for line in (["run", "-f", path], ["validate", path]):
        finished = muster.run(*line)
        assert finished.status == 2 and "not a manifest" in finished.err and wanted in finished.err, finished


@pytest.mark.parametrize("args, wanted", [(["rnu"], "run"), (["run", "--quite", "x"], "--quiet"), (["run"], "manifest")])
def test_a_wrong_word_on_the_command_line(muster, args, wanted):
    finished = muster.run(*args)
    assert finished.status == 2, finished
    assert wanted in finished.text


def test_one_bad_file_of_two_starts_nothing(muster, shared):
    good = muster.write("good.yaml", pytorchjob("good", f"touch {shared}/started"))
    bad = muster.write("bad.yaml", "kind: Nonsense\n")
    assert muster.run("run", good, bad).status == 2
    assert not (shared / "started").exists()


KEYS = """\
apiVersion: v1
kind: Pod
metadata: {name: keys}
spec:
  containers:
  - name: main
    image: local
    command: ["true"]
    volumeMounts: [{name: keys, mountPath: /root/.ssh}]
  volumes: [{name: keys, emptyDir: {}}]
"""


@needs_root
def test_a_volume_where_its_user_may_not_go(muster):
    muster.become(NOBODY)
    finished = muster.run("run", muster.write("keys.yaml", KEYS))
    assert finished.status == 2, finished
    assert ('keys.yaml:9:44: error: spec.containers[0].volumeMounts[0].mountPath: volume "keys" can\'t be mounted at '
            "/root/.ssh: you may not enter /root; mount it elsewhere, or start as root") in finished.text, finished
    assert "nothing was started" in finished.text
