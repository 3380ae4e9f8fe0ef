"""`muster run --elastic`: agents before the commands of a PyTorchJob, each in a pod of its own."""

import os
import shutil
import subprocess

import pytest
import yaml

from conftest import BINARY, LIMIT_S

MORTAL = """
    import json, os, signal, sys, time
    import torch, torch.distributed as dist
    def tell(what):
        line = {"what": what, "rank": int(os.environ["RANK"]), "world": int(os.environ["WORLD_SIZE"]),
                "attempt": int(os.environ["TORCHELASTIC_RESTART_COUNT"])}
        fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(fd, (json.dumps(line) + "\\n").encode())
        os.close(fd)
    dist.init_process_group("gloo")
    for step in range(5):
        dist.all_reduce(torch.ones(1))
        if step == 2 and os.environ["RANK"] == "1" and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
            os.kill(os.getpid(), signal.SIGKILL)
    tell("done")
    dist.destroy_process_group()
"""


def pytorch_job(command, workers):
    template = {"spec": {"containers": [{"name": "pytorch", "image": "train", "command": command}]}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "elastic"},
            "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "restartPolicy": "Never", "template": template},
                                             "Worker": {"replicas": workers, "restartPolicy": "Never", "template": template}}}}


def begin(job, manifest, *flags):
    """A run in the background, with its output in files."""
    file = job.write("job.yaml", yaml.safe_dump(manifest))
    with open(job.place / "run.txt", "wb") as output:
        return subprocess.Popen([BINARY, "run", file, "--elastic", *flags], stdin=subprocess.DEVNULL, stdout=output,
                                stderr=subprocess.STDOUT, cwd=job.place)


def drill(verb, *words):
    done = subprocess.run([BINARY, verb, *words], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run(job, manifest, *flags):
    file = job.write("job.yaml", yaml.safe_dump(manifest))
    return subprocess.run([BINARY, "run", file, "--elastic", *flags], capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          cwd=job.place, env={**os.environ})


def test_a_dead_worker_is_started_again_and_no_pod_is(job):
    script = job.write("mortal.py", MORTAL)
    ended = run(job, pytorch_job(["python3", str(script), str(job.said)], 1), "--env", "PET_MAX_RESTARTS=1")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "no restarts" in ended.stdout + ended.stderr, "the pods were never started again"
    assert {(line["rank"], line["world"], line["attempt"]) for line in job.lines("done")} == {(0, 2, 1), (1, 2, 1)}


def test_it_takes_the_place_of_torchrun(job):
    script = job.write("mortal.py", MORTAL)
    ended = run(job, pytorch_job(["torchrun", "--nproc-per-node", "2", str(script), str(job.said)], 1), "--env", "PET_MAX_RESTARTS=1")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert {line["rank"] for line in job.lines("done", world=4, attempt=1)} == {0, 1, 2, 3}


def test_a_shell_that_calls_torchrun_calls_muster_run(job):
    script = job.write("mortal.py", MORTAL)
    text = f"set -e; cd {script.parent}; exec torchrun --nproc-per-node 2 {script.name} {job.said}"
    ended = run(job, pytorch_job(["bash", "-c", text], 1), "--env", "PET_MAX_RESTARTS=1")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert {line["rank"] for line in job.lines("done", world=4, attempt=1)} == {0, 1, 2, 3}


def test_a_torchrun_in_a_shell_that_can_t_be_replaced_is_refused(job):
    ended = run(job, pytorch_job(["bash", "-c", "RUN=torchrun; $RUN x.py"], 1))
    assert ended.returncode == 2 and "write torchrun where it is called" in ended.stderr, ended.stderr


@pytest.mark.parametrize("command", [["{env}/bin/torchrun"], ["bash", "-c", "{env}/bin/torchrun {script}"],
                                     ["{env}/bin/python", "-m", "torch.distributed.run"]], ids=["torchrun", "shell", "module"])
def test_workers_get_the_interpreter_that_the_command_names(job, command):
    """Not the first python along PATH, but that of the virtual environment that torchrun belongs to."""
    programs = job.place / "env" / "bin"
    programs.mkdir(parents=True)
    for name, text in (("python", "#!/bin/sh\nMINE=yes exec python3 \"$@\"\n"), ("torchrun", f"#!{programs}/python\n")):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    script = job.write("mine.py", f"""
        import os
        with open({str(job.place / "mine.txt")!r}, "a") as out:
            out.write(os.environ.get("MINE", "no") + "\\n")
    """)
    words = [word.format(env=job.place / "env", script=script) for word in command]
    ended = run(job, pytorch_job(words if words[0] == "bash" else [*words, str(script)], 1))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert set((job.place / "mine.txt").read_text().split()) == {"yes"}


def test_a_binary_below_tmp_runs_where_pods_share_the_files_of_the_machine(job, tmp_path):
    assert str(tmp_path).startswith("/tmp/")
    binary = shutil.copy(BINARY, tmp_path / "muster")
    file = job.write("job.yaml", yaml.safe_dump(pytorch_job(["true"], 1)))
    ended = subprocess.run([binary, "run", file, "--elastic", "--sandbox", "none"], capture_output=True, text=True, timeout=LIMIT_S,
                           check=False, cwd=job.place)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("words", [["worker-0", "--rank", "1"], ["worker-0"], ["master-0"]], ids=" ".join)
def test_a_job_lives_through_what_drills_do_to_it(job, words):
    """A rank, a node, and the node of the master: the others continue with its replacement."""
    manifest = pytorch_job(["python3", str(job.script), "120", str(job.said)], 1)
    for replica in manifest["spec"]["pytorchReplicaSpecs"].values():
        replica["restartPolicy"] = "OnFailure"
    ended = begin(job, manifest, "--env", "PET_MAX_RESTARTS=1")
    try:
        job.until(lambda: len(job.lines("step", step=3)) == 2)
        assert "is resumed" in drill("pause", "elastic", "worker-0", "--for", "100ms")
        assert "SIGKILL to " in drill("kill", "elastic", *words)
        assert ended.wait(LIMIT_S) == 0, (job.place / "run.txt").read_text()
    finally:
        if ended.poll() is None:
            ended.terminate()
            ended.wait()
    assert {line["rank"] for line in job.lines("done", world=2)} == {0, 1}
    assert len(job.lines("started")) > 2


def test_other_kinds_are_refused(job):
    manifest = pytorch_job(["true"], 1)
    manifest["kind"] = "JAXJob"
    specs = manifest["spec"].pop("pytorchReplicaSpecs")
    specs["Worker"]["template"]["spec"]["containers"][0]["name"] = "jax"
    manifest["spec"]["jaxReplicaSpecs"] = {"Worker": specs["Worker"]}
    ended = run(job, manifest)
    assert ended.returncode == 2 and "--elastic is for PyTorchJobs" in ended.stderr, ended.stderr
