"""Which programs a real cluster is made of, where each comes from, and how it is built once.

A program is found in $KUBEBUILDER_ASSETS, in the cache, or is built from what the folders beside this file name.
Nothing here starts one.
"""

import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CACHE = pathlib.Path(os.environ.get("HOME", "/root")) / ".cache" / "muster"
BUILT = CACHE / "peers"


KUBERNETES = "k8s.io/kubernetes"
TRAINING_OPERATOR = "github.com/kubeflow/training-operator"
MPI_OPERATOR = "github.com/kubeflow/mpi-operator"
TRAINER = "github.com/kubeflow/trainer/v2"
JOBSET = "sigs.k8s.io/jobset"
KUEUE = "sigs.k8s.io/kueue"
SAMPLE_APISERVER = "k8s.io/sample-apiserver"


class Missing(Exception):
    """A program that can't be had here, with the reason: what needs it is skipped."""


class BuildFailed(Exception):
    """A program that should build and does not."""


# ---- decisions ----

def required_version(go_mod, module):
    """The version of `module` that the text of a go.mod requires."""
    found = re.search(rf"^(?:require)?\s*{re.escape(module)} (v\S+)", go_mod, re.M)
    if not found:
        raise ValueError(f"go.mod does not require {module}")
    return found[1]


def numbers(version):
    """go1.26.8, v1.33.13 or 1.27rc1 as numbers that compare."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def too_old(go_version, go_mod):
    """Why this Go can't build the module, or None."""
    wanted = re.search(r"^go (\S+)", go_mod, re.M)[1]
    return None if numbers(go_version) >= numbers(wanted) else f"{go_version} is here, Go {wanted} is needed"


def build_name(folder, version, contents):
    """The cache folder's name of what is built from these (path, bytes): another input, another folder."""
    digest = hashlib.sha256()
    for path, content in sorted(contents):
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return "-".join(filter(None, (folder, version, digest.hexdigest()[:10])))


def linker_flags(module, version):
    """A program of Kubernetes that was not told its version says v0.0.0, and behaves as if it were that old."""
    if module != KUBERNETES:
        return "-s -w"
    major, minor = numbers(version)[:2]
    package = "k8s.io/component-base/version"
    return f"-s -w -X {package}.gitVersion={version} -X {package}.gitMajor={major} -X {package}.gitMinor={minor}"


# ---- where programs come from ----

def ask(command, folder=HERE, environment=None):
    """A command's status and all that it said."""
    run = subprocess.run([str(word) for word in command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return run.returncode, run.stdout


def one_line(said):
    return " ".join(said.split())[-300:]


class GoProgram:
    """A package of one of the Go modules beside this file; `module` is where it is published, None for our own.
    `versions` names the file that says what is required, where that is not go.mod."""

    verb = ("build",)

    def __init__(self, folder, package, module=None, versions="go.mod"):
        self.folder, self.package, self.module, self.versions = HERE / folder, package, module, versions
        self.version = module and required_version(self.go_mod(), module)

    def go_mod(self):
        return (self.folder / self.versions).read_text()

    def go(self, *words):
        tool = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
        if not tool:
            raise Missing("there is no go")
        # Go's caches are where ./dev clean all can remove them, and so are the counters of telemetry, which lie beside its settings.
        settings = os.environ.get("GOENV") or os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "go", "env")
        other = "" if self.versions == "go.mod" else f" -modfile={self.versions}"
        return ask([tool, *words], self.folder, {
            **os.environ, "GOMODCACHE": str(CACHE / "go" / "mod"), "GOCACHE": str(CACHE / "go" / "build"), "CGO_ENABLED": "0",
            "GOFLAGS": f"-modcacherw -buildvcs=false -mod=readonly{other}", "GOWORK": "off",
            "GOENV": settings, "XDG_CONFIG_HOME": str(CACHE / "go" / "config")})

    def home(self):
        contents = [(str(path.relative_to(self.folder)), path.read_bytes()) for path in self.folder.rglob("*")
                    if path.suffix in (".go", ".mod", ".sum")]
        return BUILT / build_name(self.folder.name, self.version, contents)

    def path(self, name):
        return self.home() / name

    def fetch(self):
        status, version = self.go("env", "GOVERSION")
        reason = too_old(version.strip(), self.go_mod()) if status == 0 else one_line(version)
        if reason:
            raise Missing(f"what is in {self.folder.name} can't be built: {reason}")
        status, said = self.go("mod", "download")
        if status != 0:
            raise Missing(f"the Go modules of {self.folder.name} can't be fetched: {one_line(said)}")

    def make(self, name, scratch):
        home = self.home()  # of what is here now: it may change while it is built
        status, said = self.go(*self.verb, "-trimpath", "-ldflags", linker_flags(self.module, self.version),
                               "-o", scratch / name, self.package)
        if status != 0:
            raise BuildFailed(f"go build of {name} failed:\n{said[-3000:]}")
        home.mkdir(exist_ok=True)
        # Others see no program, or the whole of it.
        (scratch / name).rename(home / name)

    def module_folder(self, module=None):
        """Where the published module lies, or another one that it stands on: manifests are in it. It is fetched if it is
        not there yet."""
        status, said = self.go("mod", "download", "-json", module or self.module)
        if status != 0:
            raise Missing(f"the module {module or self.module} is not here: {one_line(said)}")
        return pathlib.Path(json.loads(said[said.index("{"):])["Dir"])


class GoTests(GoProgram):
    """The tests of a package, as one program. They want to be started in the package's folder."""

    verb = ("test", "-c")


class PythonEnvironment:
    """An interpreter that has the packages of a requirements file."""

    venv_options, pip_options = (), ()

    def __init__(self, requirements):
        self.requirements = requirements

    def home(self):
        return BUILT / build_name("python", None, [("requirements", self.requirements.read_bytes())])

    def path(self, name):
        del name
        return self.home() / "bin" / "python"

    def fetch(self):
        status, said = ask([sys.executable, "-c", "import venv, ensurepip"])
        if status != 0:
            raise Missing(f"python3 can't make virtual environments: {one_line(said)}")

    def make(self, name, scratch):
        made = scratch / name
        status, said = ask([sys.executable, "-m", "venv", *self.venv_options, made])
        if status != 0:
            raise Missing(f"python3 can't make virtual environments: {one_line(said)}")
        self.install(made, *self.packages())
        # The interpreter finds its packages from where it lies; only the scripts beside it don't survive this.
        made.rename(self.home())

    def packages(self):
        """What pip is asked for, one call each."""
        return [["-r", self.requirements]]

    def install(self, made, *calls):
        for words in calls:
            status, said = ask([made / "bin" / "python", "-m", "pip", "install", "-q", "--no-compile", *self.pip_options, *words])
            if status != 0:
                raise Missing(f"the packages of {self.requirements.name} can't be installed: {one_line(said)}")


class TorchEnvironment(PythonEnvironment):
    """One that has the system's packages too, PyTorch above all, whose package elsewhere is of many gigabytes. What the
    file names is all that is installed, so that nothing brings another PyTorch along."""

    venv_options, pip_options = ("--system-site-packages",), ("--no-deps", "--no-build-isolation")

    def fetch(self):
        super().fetch()
        status, said = ask([sys.executable, "-c", "import torch"])
        if status != 0:
            raise Missing(f"{sys.executable} has no torch: {one_line(said)}")

    def packages(self):
        # Those that others are built with come first.
        tools = [line for line in self.requirements.read_text().splitlines() if line.startswith(("setuptools==", "wheel=="))]
        return ([tools] if tools else []) + super().packages()


def environment(requirements):
    return (TorchEnvironment if requirements.stem.startswith("torch") else PythonEnvironment)(requirements)


def need_tools_for(program, package):
    for tool in ("apt-get", "dpkg"):
        if not shutil.which(tool):
            raise Missing(f"there is no {program} (Debian's package {package}), and no {tool} to get it with")


def unpack(program, packages, scratch):
    """The folder with the files of Debian packages."""
    options = ("-q", "-o", "Acquire::Retries=3", "-o", "APT::Sandbox::User=root")
    status, said = ask(["apt-get", *options, "download", *packages], scratch)
    if status != 0:
        raise Missing(f"the packages of {program} can't be fetched: {one_line(said)}")
    made = scratch / "unpacked"
    for package in sorted(scratch.glob("*.deb")):
        status, said = ask(["dpkg", "-x", package, made])
        if status != 0:
            raise BuildFailed(f"unpacking {package.name} failed:\n{said[-3000:]}")
    return made


class DebianProgram:
    """A program of a Debian package of its own, which is unpacked and not installed, as it would start a server."""

    def __init__(self, package, version_flag):
        self.package = package
        self.version_flag = version_flag

    def home(self):
        return BUILT / build_name(self.package, None, [("package", self.package.encode())])

    def path(self, name):
        return self.home() / "usr" / "bin" / name

    def fetch(self):
        need_tools_for(self.package, self.package)

    def make(self, name, scratch):
        made = unpack(name, [self.package], scratch)
        status, said = ask([made / "usr" / "bin" / name, self.version_flag])
        if status != 0:
            raise Missing(f"the {name} of Debian's package does not run here: {one_line(said)}")
        made.rename(self.home())


# The package would have made the user that sshd shuts itself in as: here sshd alone knows of it.
SSHD = """#!/bin/sh
here=$(dirname "$0")
libraries=$(dirname "$here"/usr/lib/*/libnss_wrapper.so)
exec env LD_LIBRARY_PATH="$libraries" LD_PRELOAD=libnss_wrapper.so NSS_WRAPPER_PASSWD="$here/passwd" \\
    NSS_WRAPPER_GROUP=/etc/group "$here/usr/sbin/sshd" "$@"
"""
SSHD_USERS = "root:x:0:0:root:/root:/bin/bash\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n"


class Sshd:
    """OpenSSH's server: the system's, or that of Debian's packages. These are unpacked and not installed, as they would
    start a server that lets people into the machine."""

    packages = ("openssh-server", "libwrap0", "libnss-wrapper")
    installed = pathlib.Path("/usr/sbin/sshd")

    def home(self):
        return BUILT / build_name("sshd", None, [("packages", " ".join(self.packages).encode()),
                                                  ("sshd", SSHD.encode()), ("passwd", SSHD_USERS.encode())])

    def path(self, name):
        return self.installed if self.installed.exists() else self.home() / name

    def fetch(self):
        need_tools_for("sshd", "openssh-server")

    def make(self, name, scratch):
        made = unpack("sshd", self.packages, scratch)
        (made / "passwd").write_text(SSHD_USERS)
        (made / name).write_text(SSHD)
        (made / name).chmod(0o755)
        status, said = ask([made / name, "-V"])
        if "OpenSSH" not in said:
            raise Missing(f"the sshd of Debian's packages does not run here: {one_line(said)}")
        made.rename(self.home())


# Minor versions beside the one of ./dev test, for ./dev drill versions.
OTHER_MINORS = ("1.32", "1.36")
# The packages of training-operator whose tests want a server.
TRAINING_OPERATOR_SUITES = ("pytorch", "tensorflow", "xgboost", "paddlepaddle", "jax", "mpi")
# Two versions each, for ./dev drill foreign.
MPI_OPERATORS = ("mpi-operator", "mpi-operator-0.8")
JOBSETS = ("jobset", "jobset-0.10")
TRAINERS = ("trainer", "trainer-2.1")
TRAINING_OPERATORS = ("training-operator", "training-operator-1.8")
KUEUES = ("kueue", "kueue-0.16")
# The same of torch: with Debian's 1.13, and the 2.7 beside which muster-run is measured, from the oldest to the newest.
OTHER_TORCHES = ("2.0", "2.1", "2.4", "2.6", "2.10", "2.15")

SOURCES = {
    **{name: GoProgram("kubernetes", f"{KUBERNETES}/cmd/{name}", KUBERNETES)
       for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")},
    **{f"kube-apiserver-{minor}": GoProgram(f"kubernetes-{minor}", f"{KUBERNETES}/cmd/kube-apiserver", KUBERNETES)
       for minor in OTHER_MINORS},
    "kubectl-next": GoProgram("kubectl", f"{KUBERNETES}/cmd/kubectl", KUBERNETES),
    "helm": GoProgram("helm", "helm.sh/helm/v3/cmd/helm", "helm.sh/helm/v3"),
    "prometheus-pushgateway": DebianProgram("prometheus-pushgateway", "--version"),
    "kwok": GoProgram("kwok", "sigs.k8s.io/kwok/cmd/kwok", "sigs.k8s.io/kwok"),
    **{name: GoProgram(name, f"{TRAINING_OPERATOR}/cmd/training-operator.v1", TRAINING_OPERATOR) for name in TRAINING_OPERATORS},
    **{name: GoProgram(name, f"{MPI_OPERATOR}/cmd/mpi-operator", MPI_OPERATOR) for name in MPI_OPERATORS},
    **{name: GoProgram(name, JOBSET, JOBSET) for name in JOBSETS},
    **{name: GoProgram(name, f"{TRAINER}/cmd/trainer-controller-manager", TRAINER) for name in TRAINERS},
    **{name: GoProgram(name, f"{KUEUE}/cmd/kueue", KUEUE) for name in KUEUES},
    "sample-apiserver": GoProgram("sample-apiserver", SAMPLE_APISERVER, SAMPLE_APISERVER),
    **{f"training-operator-{package}-suite": GoTests("training-operator", f"{TRAINING_OPERATOR}/pkg/controller.v1/{package}",
                                                     TRAINING_OPERATOR) for package in TRAINING_OPERATOR_SUITES},
    **{f"{name}-suite": GoTests(name, f"{MPI_OPERATOR}/test/integration", MPI_OPERATOR) for name in MPI_OPERATORS},
    "envtest-suite": GoTests("envtest", "."),
    "envtest-suite-0.18": GoTests("envtest", ".", versions="controller-runtime-0.18.mod"),
    "cel-go": GoProgram("cel", "."),
    "load": GoProgram("clients", "./load"),
    "controllers": GoProgram("clients", "./controllers"),
    "informers-0.36": GoProgram("clients", "./informers"),
    **{f"informers-{minor}": GoProgram("clients", "./informers", versions=f"client-go-{minor}.mod")
       for minor in ("0.29", "0.32")},
    "sshd": Sshd(),
    "python-clients": PythonEnvironment(HERE / "python-clients" / "requirements.txt"),
    # The launchers beside which muster-run is measured.
    "python-elastic-peers": PythonEnvironment(ROOT / "bench" / "elastic_peers.txt"),
    # Clients of the store that muster-run serves, for ./dev drill store-versions.
    **{f"python-torch-{minor}": PythonEnvironment(HERE / "torch" / f"{minor}.txt") for minor in OTHER_TORCHES},
    # The frameworks of the examples.
    **{f"python-{file.stem}": environment(file) for file in (ROOT / "examples" / "requirements").glob("*.txt")},
}


# ---- what callers ask ----

def find(name):
    """The program's path when nothing has to be built for it, else None."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if assets and (pathlib.Path(assets) / name).exists():
        return pathlib.Path(assets) / name
    if name in SOURCES:
        path = SOURCES[name].path(name)
        return path if path.exists() else None
    found = shutil.which(name) or shutil.which(name, path=CACHE / "etcd" / "usr" / "bin")
    return found and pathlib.Path(found)


def fetch(name):
    """Makes sure that the program is here or can be built, or raises Missing with the reason."""
    if find(name):
        return
    if name not in SOURCES:
        raise Missing(f"there is no {name} in the PATH")
    SOURCES[name].fetch()


def build(name):
    """The program's path; builds it when it is not there yet. Raises Missing or BuildFailed."""
    found = find(name)
    if found:
        return found
    fetch(name)
    BUILT.mkdir(parents=True, exist_ok=True)
    # Two builds by Go would compile the same packages twice. What is downloaded does not wait for their minutes.
    with open(BUILT / ("lock" if isinstance(SOURCES[name], GoProgram) else "lock-downloads"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not find(name):
            print(f"building {name}, once", flush=True)
            with tempfile.TemporaryDirectory(dir=BUILT) as scratch:
                SOURCES[name].make(name, pathlib.Path(scratch))
    return find(name)


def module_folder(name, module=None):
    return SOURCES[name].module_folder(module)
