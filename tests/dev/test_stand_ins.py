"""Published manifests with programs that are here: what stands in for what."""

import pathlib
import sys

import pytest

PUBLISHED = pathlib.Path(__file__).resolve().parents[1] / "cluster" / "published"
sys.path.insert(0, str(PUBLISHED))

import stand_ins  # noqa: E402


def job(kind, replicas, field="xReplicaSpecs", **spec):
    """One container each, with these fields, beside an unknown one."""
    types = {each: {"replicas": 2, "template": {"spec": {"containers": [{"name": "main", **container}, {"name": "other"}]}}}
             for each, container in replicas.items()}
    return {"kind": kind, "spec": {**spec, field: types}}


def commands(made):
    """What each replica type's container says, with programs by their names."""
    return {kind: [pathlib.Path(word).name if word.startswith("/") else word
                   for word in template["spec"]["containers"][0].get("command", [])]
            for kind, template in stand_ins.replicas_of(made.job).items()}


@pytest.mark.parametrize("words,wanted", [
    ([], [*stand_ins.BRIEFLY, "python3", "digits.py"]),
    (["--backend", "mpi"], [*stand_ins.BRIEFLY, "python3", "digits.py"]),
    (["torchrun", "--rdzv_backend=c10d", "demo.py", "--fast"], [
        *stand_ins.BRIEFLY, "python3", "-m", "torch.distributed.run", "--redirects", "1", "--tee", "1",
        "--rdzv_backend=c10d", "digits.py"]),
    (["python", "-m", "torch.distributed.run", "/a/b.py"], [
        *stand_ins.BRIEFLY, "python3", "-m", "torch.distributed.run", "--redirects", "1", "--tee", "1", "digits.py"]),
])
def test_a_launcher_of_pytorch_keeps_its_options(words, wanted):
    made = stand_ins.stand_in(job("PyTorchJob", {"Worker": {"command": words[:1], "args": words[1:]}}))
    assert commands(made) == {"Worker": wanted} and made.environment is None


@pytest.mark.parametrize("words,wanted", [
    (["mpirun", "-n", "2", "/home/mpiuser/pi"], ["mpirun", "-n", "2"]),
    (["mpirun", "--allow-run-as-root", "-mca", "btl", "^openib", "-x", "PATH", "python", "a.py", "-n", "3"],
     ["mpirun", "--allow-run-as-root", "-mca", "btl", "^openib", "-x", "PATH"]),
    (["horovodrun", "-np", "2", "--min-np", "1", "python", "a.py"], ["mpirun", "-np", "2"]),
    ([], ["mpirun", "--bind-to", "none", "--oversubscribe"]),
])
def test_mpirun_keeps_its_options_and_workers_have_no_command(words, wanted):
    replicas = {"Launcher": {"command": words}, "Worker": {"command": ["/usr/sbin/sshd", "-De"]}}
    said = commands(stand_ins.stand_in(job("MPIJob", replicas)))
    assert said["Worker"] == [] and said["Launcher"][:-3] == [*stand_ins.AS_ROOT, *wanted]
    assert said["Launcher"][-3:-1] == ["python3", "-c"]


def test_the_one_template_of_v1alpha1_is_the_launchers():
    made = stand_ins.stand_in({"kind": "MPIJob", "spec": {"replicas": 4, "template": {"spec": {"containers": [{}]}}}})
    assert "mpirun" in commands(made)[""]


@pytest.mark.parametrize("kind,types,spec,environment,program", [
    ("TFJob", ("Worker",), {}, "tensorflow", "tensorflow_digits.py"),
    ("TFJob", ("PS", "Worker"), {}, "tensorflow", "tensorflow_ps.py"),
    ("MXJob", ("Scheduler", "Server", "Worker"), {"jobMode": "MXTrain"}, "mxnet", "mxnet_digits.py"),
    ("MXJob", ("Tuner",), {"jobMode": "MXTune"}, None, "mx_tune.py"),
    ("XGBoostJob", ("Master",), {}, "xgboost", "xgboost_cancer.py"),
    ("PaddleJob", ("Worker",), {}, "paddle", "paddle_digits.py"),
    ("JAXJob", ("Worker",), {}, "jax", "jax_digits.py"),
])
def test_all_replicas_of_a_framework_run_one_program(kind, types, spec, environment, program):
    made = stand_ins.stand_in(job(kind, {each: {"args": ["--rows=1"]} for each in types}, **spec))
    assert made.environment == environment
    assert {words[-1] for words in commands(made).values()} == {program} and set(commands(made)) == set(types)


def test_nothing_but_commands_is_changed():
    replicas = {"Master": {"command": ["a"], "args": ["b"], "env": [{"name": "A", "value": "1"}]}, "Worker": {}}
    given = job("XGBoostJob", replicas, runPolicy={"cleanPodPolicy": "None"})
    made = stand_ins.stand_in(given).job
    assert given == job("XGBoostJob", replicas, runPolicy={"cleanPodPolicy": "None"}), "what was given is left alone"
    for template in (*stand_ins.replicas_of(given).values(), *stand_ins.replicas_of(made).values()):
        template["spec"]["containers"][0].pop("command", None)
        template["spec"]["containers"][0].pop("args", None)
    assert made == given


IN_SHELL = ["/bin/bash", "-c", "cd /work && dlrover-run --nnodes=3:$NODE_NUM --nproc_per_node=2  train/cnn_train.py --epochs 5"]


def test_dlrovers_launcher_keeps_its_options_and_the_master_its_program():
    replicas = {"worker": {"command": IN_SHELL}, "dlrover-master": {"image": "x"}}
    made = stand_ins.stand_in(job("ElasticJob", replicas, field="replicaSpecs"))
    shell = f"cd /work && dlrover-run --nnodes=3:$NODE_NUM --nproc_per_node=2  {stand_ins.EXAMPLES / 'digits.py'}"
    assert commands(made) == {"worker": [*stand_ins.BRIEFLY, "bash", "-c", shell], "dlrover-master": []}


@pytest.mark.parametrize("words", [["/bin/bash", "-c", "python -m dlrover.trainer.entry.local_entry --platform=Kubernetes"],
                                   ["python", "-m", "model_zoo.iris.dnn_estimator", "--batch_size=32"]])
def test_programs_of_parameter_servers_need_nothing_but_python(words):
    made = stand_ins.stand_in(job("ElasticJob", {each: {"command": words} for each in ("ps", "worker", "evaluator")}, field="replicaSpecs"))
    wanted = [*stand_ins.BRIEFLY, "python3", "parameter_servers.py"]
    assert commands(made) == {"ps": wanted, "worker": wanted, "evaluator": wanted} and made.environment is None


def without_workers():
    given = job("ElasticJob", {"ps": {}, "worker": {}}, field="replicaSpecs")
    given["spec"]["replicaSpecs"]["worker"]["replicas"] = 0
    return given


def with_volume(source):
    given = job("TFJob", {"Worker": {}})
    stand_ins.replicas_of(given)["Worker"]["spec"]["volumes"] = [{"name": "data", **source}]
    return given


@pytest.mark.parametrize("given,why", [
    (job("MPIJob", {"Launcher": {}}, mpiImplementation="Intel"), "Intel MPI"),
    (job("MPIJob", {"Launcher": {}, "Worker": {"readinessProbe": {"tcpSocket": {"port": 2222}}}}), "sshd"),
    ({"kind": "ScalePlan", "spec": {"ownerJob": "demo"}}, "a job that it does not have"),
    (without_workers(), "no worker"),
    (job("TrainJob", {"worker": {}}), "not served"),
    (with_volume({"nfs": {"server": "far.away"}}), "nfs"),
])
def test_what_can_not_run_here_has_a_reason(given, why):
    with pytest.raises(stand_ins.CantRun, match=why):
        stand_ins.stand_in(given)


def test_a_volume_that_is_here_is_no_obstacle():
    assert stand_ins.stand_in(with_volume({"emptyDir": {}}))
