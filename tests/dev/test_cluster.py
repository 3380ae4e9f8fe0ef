"""./dev cluster: what it decides before it starts anything."""

import fcntl
import pathlib
import re
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parents[1] / "cluster"
sys.path.insert(0, str(HERE))

import cluster  # noqa: E402
import peers  # noqa: E402
import programs  # noqa: E402


@pytest.mark.parametrize("wanted,parts", [
    ({}, "etcd kube-apiserver kube-controller-manager kube-scheduler"),
    ({"bare": True}, "etcd kube-apiserver"),
    ({"with_kwok": True, "peer": "mpi-operator"},
     "etcd kube-apiserver kube-controller-manager kube-scheduler kwok mpi-operator")])
def test_the_parts_of_a_cluster(wanted, parts):
    assert cluster.parts_of(**wanted) == parts.split()


@pytest.mark.parametrize("text,version", [
    ("require k8s.io/kubernetes v1.33.13\n", "v1.33.13"),
    ("require (\n\tk8s.io/kubernetes/other v9.9.9\n\tk8s.io/kubernetes v1.2.3\n)\n", "v1.2.3")])
def test_the_version_that_a_module_requires(text, version):
    assert programs.required_version(text, "k8s.io/kubernetes") == version


def test_other_minors_are_an_older_and_a_newer_one():
    def minor_of(name):
        return programs.numbers(programs.SOURCES[name].version)[:2]
    older, newer = programs.OTHER_MINORS
    assert [minor_of(f"kube-apiserver-{each}") for each in (older, newer)] == [programs.numbers(each) for each in (older, newer)]
    assert minor_of(f"kube-apiserver-{older}") < minor_of("kube-apiserver") < minor_of(f"kube-apiserver-{newer}")


def test_a_module_that_is_not_required_is_no_guess():
    with pytest.raises(ValueError, match="k8s.io/kubernetes"):
        programs.required_version("replace k8s.io/kubernetes => ../here\n", "k8s.io/kubernetes")


@pytest.mark.parametrize("go,wanted,old", [
    ("go1.26.8", "1.26.0", False), ("go1.26", "1.26.0", True), ("go1.9.7", "1.24.0", True), ("go1.27rc1", "1.26.0", False),
    ("go1.24.0", "1.24.0", False)])
def test_a_go_that_is_too_old_is_named(go, wanted, old):
    reason = programs.too_old(go, f"module m\n\ngo {wanted}\n")
    assert (reason is not None) == old
    assert not old or (go in reason and wanted in reason)


def test_another_input_is_built_into_another_folder():
    names = {programs.build_name("kwok", "v1", contents) for contents in (
        [("go.mod", b"a"), ("go.sum", b"b")], [("go.mod", b"ab"), ("go.sum", b"")], [("go.mod", b"a")], [("main.go", b"a")])}
    assert len(names) == 4 and all(name.startswith("kwok-v1-") for name in names)
    assert programs.build_name("clients", None, [("a", b"1"), ("b", b"2")]) == \
        programs.build_name("clients", None, [("b", b"2"), ("a", b"1")])


def test_assets_of_the_caller_come_first(tmp_path, monkeypatch):
    (tmp_path / "kube-apiserver").write_text("")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    assert programs.find("kube-apiserver") == tmp_path / "kube-apiserver"
    assert programs.build("kube-apiserver") == tmp_path / "kube-apiserver"
    assert programs.find("kwok") != tmp_path / "kwok"


def test_packages_do_not_wait_for_a_build_by_go(tmp_path, monkeypatch):
    class Made:
        def path(self, _):
            return tmp_path / "made"

        def fetch(self):
            pass

        def make(self, *_):
            self.path("").write_text("")

    monkeypatch.setattr(programs, "BUILT", tmp_path)
    monkeypatch.setitem(programs.SOURCES, "python-one", Made())
    with open(tmp_path / "lock", "w") as by_go:
        fcntl.flock(by_go, fcntl.LOCK_EX)
        assert programs.build("python-one") == tmp_path / "made"


def test_without_go_the_reason_says_so(tmp_path, monkeypatch):
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setattr(programs, "BUILT", tmp_path)
    monkeypatch.setattr(programs.shutil, "which", lambda *_, **__: None)
    with pytest.raises(programs.Missing, match="no go"):
        programs.build("kube-apiserver")
    with pytest.raises(programs.Missing, match="no etcd"):
        programs.build("etcd")


def test_an_sshd_that_is_installed_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "BUILT", tmp_path)
    monkeypatch.setattr(programs.Sshd, "installed", tmp_path / "sshd")
    monkeypatch.setattr(programs.shutil, "which", lambda *_, **__: None)
    with pytest.raises(programs.Missing, match="no sshd.* no apt-get"):
        programs.build("sshd")
    (tmp_path / "sshd").write_text("")
    assert programs.build("sshd") == tmp_path / "sshd"


GO = {name: source for name, source in programs.SOURCES.items() if isinstance(source, programs.GoProgram)}


@pytest.mark.parametrize("name", GO)
def test_each_program_is_a_tool_of_its_module_or_ours(name):
    source = GO[name]
    if source.module is None:
        assert (source.folder / source.package).is_dir()
    elif isinstance(source, programs.GoTests):
        # Tests are no tool; what they need beside the operator is required all the same.
        assert source.package.startswith(source.module + "/") and "sigs.k8s.io/controller-runtime " in source.go_mod()
    else:
        assert re.search(rf"^(?:tool)?\s+{re.escape(source.package)}$", source.go_mod(), re.M)
        assert source.version.startswith("v")
    assert (source.folder / source.versions).with_suffix(".sum").exists()


@pytest.mark.parametrize("module,version,said", [
    ("k8s.io/kubernetes", "v1.33.13", ["gitVersion=v1.33.13", "gitMajor=1", "gitMinor=33"]), ("sigs.k8s.io/kwok", "v0.7.0", [])])
def test_a_program_of_kubernetes_is_told_its_version(module, version, said):
    flags = programs.linker_flags(module, version)
    assert all(each in flags for each in said) and ("git" in flags) == bool(said)


def test_the_staging_modules_have_the_version_of_kubernetes():
    for folder in ("kubernetes", "kubectl"):
        text = (HERE / folder / "go.mod").read_text()
        version = programs.required_version(text, "k8s.io/kubernetes")
        replaced = re.findall(r"^\t(\S+) => (\S+) v0\.(\S+)$", text, re.M)
        assert len(replaced) > 20
        assert {(old == new, f"v1.{rest}") for old, new, rest in replaced} == {(True, version)}


def test_definitions_are_found_among_other_documents():
    texts = ["kind: Namespace\n---\nkind: CustomResourceDefinition\nmetadata: {name: a}\n", "", "kind: Kustomization\n"]
    assert [each["metadata"]["name"] for each in peers.definitions_in(texts)] == ["a"]


def test_free_ports_differ():
    ports = cluster.free_ports("abcdefgh")
    assert len(set(ports.values())) == 8 and all(ports.values())


@pytest.mark.parametrize("arguments,command,kwok,peer", [
    (["up"], [], False, None), (["up", "--with", "kwok", "--peer", "mpi-operator"], [], True, "mpi-operator"),
    (["run", "--with", "kwok", "--", "pytest", "-q", "--peer"], ["pytest", "-q", "--peer"], True, None)])
def test_what_the_command_line_means(arguments, command, kwok, peer):
    options = cluster.parse(arguments)
    assert (options.command, options.with_kwok, options.peer) == (command, kwok, peer)


def test_down_without_a_cluster_is_no_error(tmp_path, capsys):
    assert cluster.down(cluster.parse(["down", "--state", str(tmp_path / "none")])) == 0
    assert "No cluster is up" in capsys.readouterr().out


def test_an_environment_beside_the_systems_pytorch_brings_no_other(tmp_path):
    file = tmp_path / "torch-x.txt"
    file.write_text("# words\nx==1\nwheel==2\n")
    made = programs.environment(file)
    assert made.packages() == [["wheel==2"], ["-r", file]]
    assert "--no-deps" in made.pip_options and "--system-site-packages" in made.venv_options
    assert type(programs.environment(tmp_path / "jax.txt")) is programs.PythonEnvironment


@pytest.mark.parametrize("file", sorted((HERE.parents[1] / "examples" / "requirements").glob("torch*.txt")), ids=lambda file: file.name)
def test_packages_beside_the_systems_pytorch_are_pinned(file):
    names = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    assert names and all(re.fullmatch(r"[\w-]+==[\d.]+", line) for line in names)
    assert not any(line.startswith("torch==") for line in names)
