"""Which program here does the work of the one that a published manifest names and only its image has.

Nothing of a manifest is changed but the commands of its containers. The program is chosen by the job's kind, its replica
types and the words of its command, never by the file.
"""

import copy
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parents[2] / "examples"

TORCH_LAUNCHERS = ("torchrun", "torch.distributed.run", "torch.distributed.launch")
# In the text of a shell, the script that a launcher starts, and its arguments.
LAUNCHED = re.compile(r"(?<=\s)\S+\.py\b.*", re.S)
# What is here of mpirun's options, by the words that they take.
MPIRUN_OPTIONS = {"-np": 1, "-n": 1, "-x": 1, "-bind-to": 1, "--bind-to": 1, "-map-by": 1, "--map-by": 1, "-mca": 2, "--mca": 2}
# The containers are root's here, which Open MPI wants to be told.
AS_ROOT = ["env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"]


# That they train is enough; how well is for the examples' own runs to say.
BRIEFLY = ["env", "EPOCHS=5", "ROUNDS=5", "OMP_NUM_THREADS=1"]


class CantRun(Exception):
    """Why a published job can't run here, whatever its command."""


class StandIn:
    """The job with other commands, and the environment in examples/requirements that they need (None: the system's)."""

    def __init__(self, job, environment):
        self.job, self.environment = job, environment


def replicas_of(job):
    """The pod templates by replica type; an MPIJob of v1alpha1 has one for all."""
    spec = job["spec"]
    types = next((value for field, value in spec.items() if field.lower().endswith("replicaspecs")), None)
    return {kind: replica["template"] for kind, replica in types.items()} if types else {"": spec["template"]}


def words_of(container):
    return [str(word) for word in [*(container.get("command") or []), *(container.get("args") or [])]]


def give(container, words):
    container.pop("args", None)
    container.pop("command", None)
    if words:
        container["command"] = [str(word) for word in words]


def of_torch(words):
    program = EXAMPLES / "digits.py"
    launcher = next((at for at, word in enumerate(words) if word.rsplit("/", 1)[-1] in TORCH_LAUNCHERS), None)
    if launcher is None:
        return [*BRIEFLY, "python3", program]
    script = next(at for at, word in enumerate(words) if word.endswith(".py"))
    # PyTorch 1.13 can't find out for itself with Python 3.11 where output goes.
    return [*BRIEFLY, "python3", "-m", "torch.distributed.run", "--redirects", "1", "--tee", "1",
            *words[launcher + 1:script], program]


def of_mpirun(words):
    """mpirun with the options that the manifest has, and a program that any user can read, as it stands in the command."""
    program = ["python3", "-c", (HERE / "mpi_pi.py").read_text()]
    if words[:1] == ["horovodrun"]:
        words = ["mpirun", *words[1:3], "python"]  # -np N; how it looks for hosts is its own
    if words[:1] != ["mpirun"]:
        words = ["mpirun", "--bind-to", "none", "--oversubscribe", "python"]
    end = 1
    while words[end].startswith("-"):
        end += 1 + MPIRUN_OPTIONS.get(words[end], 0)
    return [*AS_ROOT, *words[:end], *program]


def of_mpi(job):
    if job["spec"].get("mpiImplementation") == "Intel":
        raise CantRun("Intel MPI can't be had here")
    if "Worker" in replicas_of(job):
        for container in replicas_of(job)["Worker"]["spec"]["containers"]:
            if "tcpSocket" in container.get("readinessProbe", {}):
                raise CantRun("its workers are probed at a port of the sshd of their image")
    for kind, template in replicas_of(job).items():
        container = template["spec"]["containers"][0]
        # Workers whose sshd is not here are reached as those without a command.
        give(container, [] if kind == "Worker" else of_mpirun(words_of(container)))
    return


def with_one_program(environment, words):
    def change(job):
        for template in replicas_of(job).values():
            give(template["spec"]["containers"][0], [*BRIEFLY, *words])
        return environment
    return change


def of_pytorch(job):
    for template in replicas_of(job).values():
        container = template["spec"]["containers"][0]
        give(container, of_torch(words_of(container)))
    return


def of_tensorflow(job):
    program = HERE / "tensorflow_ps.py" if "PS" in replicas_of(job) else EXAMPLES / "tensorflow_digits.py"
    return with_one_program("tensorflow", ["python3", program])(job)


def of_dlrover(job):
    """The shell keeps its call of `dlrover-run`; programs that ask parameter servers need TensorFlow there, and nothing here. The
    master's is Muster's own."""
    types = job["spec"]["replicaSpecs"]
    if not any(types.get(each, {}).get("replicas", 1) for each in ("worker", "chief") if each in types):
        raise CantRun("it has no worker until someone scales it")
    for kind, template in replicas_of(job).items():
        if kind == "dlrover-master":
            continue
        container = template["spec"]["containers"][0]
        words = words_of(container)
        if words and "dlrover-run" in words[-1]:
            give(container, [*BRIEFLY, *words[:-1], LAUNCHED.sub(str(EXAMPLES / "digits.py"), words[-1])])
        else:
            give(container, [*BRIEFLY, "python3", HERE / "parameter_servers.py"])
    return


def of_mxnet(job):
    if job["spec"].get("jobMode") == "MXTune":
        return with_one_program(None, ["python3", HERE / "mx_tune.py"])(job)
    return with_one_program("mxnet", ["python3", EXAMPLES / "mxnet_digits.py"])(job)


KINDS = {
    "PyTorchJob": of_pytorch,
    "TFJob": of_tensorflow,
    "MXJob": of_mxnet,
    "XGBoostJob": with_one_program("xgboost", ["python3", EXAMPLES / "xgboost_cancer.py"]),
    "PaddleJob": with_one_program("paddle", ["python3", "-m", "paddle.distributed.launch", "--log_dir", "/tmp/paddle",
                                             EXAMPLES / "paddle_digits.py"]),
    "JAXJob": with_one_program("jax", ["python3", EXAMPLES / "jax_digits.py"]),
    "MPIJob": of_mpi,
    "ElasticJob": of_dlrover,
}

NO_VOLUMES = {"nfs"}

# What the stand-ins say when they have done it.
DONE = r"accuracy: |pi is 3\.14159|tuned with"


def stand_in(job):
    """The published job with programs that are here; raises CantRun."""
    if job["kind"] == "ScalePlan":
        raise CantRun("it changes a job that it does not have")
    if job["kind"] not in KINDS:
        raise CantRun(f"{job['kind']} is not served")
    for template in replicas_of(job).values():
        for volume in template["spec"].get("volumes") or []:
            for source in NO_VOLUMES & set(volume):
                raise CantRun(f"there is no volume of {source} on one machine")
    changed = copy.deepcopy(job)
    return StandIn(changed, KINDS[job["kind"]](changed))
