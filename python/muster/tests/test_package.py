"""What pip installs."""

import ast
import importlib.util
import re
import shutil
import subprocess
import sys

import pytest

from conftest import HERE, SOURCES, environment, good, run

TOOLS = all(importlib.util.find_spec(name) for name in ("pip", "setuptools", "wheel"))


@pytest.mark.skipif(not TOOLS, reason=f"{sys.executable} lacks pip, setuptools or wheel")
def test_the_package_is_whole_where_it_is_installed(tmp_path):
    shutil.copytree(HERE.parent, tmp_path / "source", ignore=shutil.ignore_patterns("tests", "__pycache__", "build", "*.egg-info"))
    made = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-index", "--no-deps", "--target",
                           str(tmp_path / "there"), str(tmp_path / "source")], env=environment(), capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    installed = {path.relative_to(tmp_path / "there" / "muster").as_posix() for path in (tmp_path / "there" / "muster").rglob("*.*")
                 if path.suffix != ".pyc"}
    assert installed == {path.relative_to(SOURCES / "muster").as_posix() for path in (SOURCES / "muster").rglob("*.*") if path.suffix != ".pyc"}
    said = good(run("-c", "import muster; muster.step(); print(muster.__file__, muster.world().size)", PYTHONPATH=tmp_path / "there"))
    assert said == f"{tmp_path}/there/muster/__init__.py 1\n"


def test_one_version():
    declared = re.search(r'^version = "(.+)"', (HERE.parent / "pyproject.toml").read_text(), re.M).group(1)
    assert declared == good(run("-c", "import muster; print(muster.__version__)")).strip()


@pytest.mark.parametrize("path", ["zygote.py", "hook/_muster_hook.py", "hook/_muster_errors.py", "hook/sitecustomize.py", "pods/sitecustomize.py"])
def test_what_is_shipped_alone_needs_nothing_of_ours(path):
    tree = ast.parse((SOURCES / "muster" / path).read_text())
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level
            names.add(node.module.split(".")[0])
    # What lies beside it in the folder that PYTHONPATH names, and the next sitecustomize on the path.
    own = {"_muster_errors", "_muster_hook", "sitecustomize"} if path.endswith("sitecustomize.py") else set()
    standard = getattr(sys, "stdlib_module_names", names)
    assert names - own <= set(standard), names
