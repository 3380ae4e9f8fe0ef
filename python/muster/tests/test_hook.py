"""The hook, in the place where a launcher puts it: torch's own optimizers, and what must not be disturbed."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from conftest import HOOK, SOURCES, environment, good, needs_torch, run, words_of

MODEL = """
import torch
weight = torch.nn.Parameter(torch.ones(3))
def backward():
    (weight ** 2).sum().backward()
"""


def hooked(program, **variables):
    """Muster itself is not on the path: the folder stands alone."""
    variables.setdefault("PYTHONPATH", HOOK)
    return run("-c", textwrap.dedent(program), **variables)


@needs_torch
@pytest.mark.parametrize("program, steps", [
    pytest.param("""
        optimizer = torch.optim.SGD([weight], lr=0.1)
        for _ in range(5): backward(); optimizer.step()
        """, 5, id="one optimizer"),
    pytest.param("""
        optimizer = torch.optim.Adam([weight])
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
        for _ in range(5): backward(); optimizer.step(); scheduler.step()
        """, 5, id="a scheduler that wraps step"),
    pytest.param("""
        import sys
        if hasattr(torch, "compile") and not hasattr(getattr(torch, "compiler", None), "is_compiling"): sys.exit(77)
        class Mine(torch.optim.SGD):
            def step(self, closure=None):
                return super().step(closure)
        optimizer = Mine([weight], lr=0.1)
        torch.optim.SGD([weight], lr=0.1)
        for _ in range(5): backward(); optimizer.step()
        """, 5, id="a class whose step calls that of its base"),
    pytest.param("""
        class Outer(torch.optim.Optimizer):
            def __init__(self): super().__init__([weight], {}); self.inner = torch.optim.SGD([weight], lr=0.1)
            def step(self, closure=None): return self.inner.step(closure)
        optimizer = Outer()
        for _ in range(5): backward(); optimizer.step()
        """, 5, id="an optimizer around another"),
    pytest.param("""
        generator, critic = torch.optim.SGD([weight], lr=0.1), torch.optim.Adam([weight])
        for _ in range(5): backward(); critic.step(); generator.step()
        """, 5, id="two optimizers by turns"),
    pytest.param("""
        generator, critic = torch.optim.SGD([weight], lr=0.1), torch.optim.Adam([weight])
        for _ in range(2):
            for _ in range(3): backward(); critic.step()
            generator.step()
        """, 6, id="one that steps more often"),
    pytest.param("""
        for _ in range(2):
            optimizer = torch.optim.SGD([weight], lr=0.1)
            for _ in range(3): backward(); optimizer.step()
        """, (5, 6), id="a second phase with a new one"),  # which may lie at the address of the first
    pytest.param("""
        optimizer = torch.optim.LBFGS([weight], max_iter=4)
        def closure(): optimizer.zero_grad(); loss = (weight ** 2).sum(); loss.backward(); return loss
        for _ in range(5): assert optimizer.step(closure) is not None
        """, 5, id="closures"),
    pytest.param("""
        import copy, pickle
        optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
        backward(); optimizer.step()
        for optimizer in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
            optimizer.step(); optimizer.step()
        """, (3, 4, 5), id="copies"),
    pytest.param("""
        import threading
        optimizer = torch.optim.SGD([weight], lr=0.1)
        backward()
        thread = threading.Thread(target=lambda: [optimizer.step() for _ in range(4)])
        thread.start(); thread.join()
        """, 4, id="another thread"),
    pytest.param("""
        optimizer = torch.optim.SGD([weight], lr=0.1)
        backward(); optimizer.step()
        import os
        if os.fork() == 0:
            for _ in range(50): optimizer.step()
            os._exit(0)
        os.wait()
        optimizer.step()
        """, 2, id="a child that was forked"),
])
def test_steps_are_seen(progress, program, steps):
    finished = hooked(MODEL + textwrap.dedent(program), MUSTER_PROGRESS=progress)
    if finished.returncode == 77:
        pytest.skip("this torch compiles and can't be asked whether it does; its own hook counts twice here")
    good(finished)
    assert finished.stderr == "" or "muster" not in finished.stderr
    count, at, source = words_of(progress)
    assert count in (steps if isinstance(steps, tuple) else (steps,)) and at > 0 and source == 1


@needs_torch
def test_an_exact_count_takes_the_place_of_the_hooks(progress):
    program = MODEL + textwrap.dedent("""
        import muster
        optimizer = torch.optim.SGD([weight], lr=0.1)
        for step in range(4):
            backward()
            for _ in range(3): optimizer.step()
            muster.step()
        """)
    good(hooked(program, MUSTER_PROGRESS=progress, PYTHONPATH=f"{HOOK}:{SOURCES}"))
    assert words_of(progress)[::2] == [4, 2]


@needs_torch
def test_compiled_programs_stay_whole(progress):
    """Under torch.compile a step that it traces can't be seen; one that runs as usual is. Neither is disturbed: what torch compiles
    without us, and in how many pieces, it compiles with us."""
    program = MODEL + textwrap.dedent("""
        import sys
        if not hasattr(torch, "compile"): sys.exit(77)
        pieces = 0
        def backend(graph, inputs):
            global pieces
            pieces += 1
            return graph.forward
        model = torch.compile(torch.nn.Linear(3, 1), backend=backend)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            model(torch.ones(2, 3)).sum().backward()
            optimizer.step()
        print("as usual", pieces)
        for whole in (False, True):
            other = torch.optim.SGD(model.parameters(), lr=0.1)
            step = torch.compile(other.step, backend=backend, fullgraph=whole)
            model(torch.ones(2, 3)).sum().backward()
            try: step(); step()
            except Exception as error: print(type(error).__name__)
            print("compiled", pieces)
        """)
    said = hooked(program, MUSTER_PROGRESS=progress)
    if said.returncode == 77:
        pytest.skip("this torch has no torch.compile")
    without = run("-c", program, PYTHONPATH="")
    if "as usual" not in without.stdout:
        pytest.skip("torch.compile does not run on this Python: " + without.stderr.strip().splitlines()[-1])
    assert good(said) == good(without)
    assert words_of(progress)[0] >= 3, said.stderr


@needs_torch
def test_who_watches_is_not_seen_by_the_program(progress):
    """Names, signatures, results, exceptions and the path are those of the program without us."""
    program = MODEL + textwrap.dedent("""
        import inspect, sys
        optimizer = torch.optim.SGD([weight], lr=0.1)
        module = sys.modules["torch.optim.optimizer"]
        print(optimizer.step.__name__, inspect.signature(torch.optim.SGD.step), module.__spec__.loader.__class__.__name__,
              module.__loader__.__class__.__name__, inspect.getsource(torch.optim.Optimizer.add_param_group)[:30],
              optimizer.step(lambda: 7), [type(finder).__name__ for finder in sys.meta_path], sys.path)
        try: optimizer.step(lambda: 1 / 0)
        except ZeroDivisionError: print("as raised")
        optimizer.state["muster"] = 1
        print(sorted(vars(optimizer)), "hooked" in vars(torch.optim.SGD.step))
        """)
    assert good(hooked(program, MUSTER_PROGRESS=progress)) == good(run("-c", program, PYTHONPATH=""))


@needs_torch
def test_what_goes_wrong_is_told_once_and_disturbs_nothing(progress):
    program = MODEL + textwrap.dedent("""
        optimizer = torch.optim.SGD([weight], lr=0.1)
        for _ in range(3): backward(); optimizer.step()
        print("trained")
        """)
    progress.unlink()
    finished = hooked(program, MUSTER_PROGRESS=progress)
    assert good(finished) == "trained\n"
    assert finished.stderr.count("muster: ") == 1 and "--no-hook" in finished.stderr and "Traceback" not in finished.stderr
    assert "Traceback" in hooked(program, MUSTER_PROGRESS=progress, MUSTER_HOOK_DEBUG=1).stderr


def fake_torch(folder, optimizer, name="torch"):
    package = folder / name / "optim"
    package.mkdir(parents=True)
    (folder / name / "__init__.py").write_text("from . import optim\n")
    (package / "__init__.py").write_text("from .optimizer import Optimizer\n")
    (package / "optimizer.py").write_text(textwrap.dedent(optimizer))


def test_a_torch_that_has_become_another_is_told(tmp_path, progress):
    fake_torch(tmp_path, "class Optimizer:\n    def step(self): return 7\n")
    finished = hooked("import torch; print(torch.optim.Optimizer().step())", PYTHONPATH=f"{HOOK}:{tmp_path}", MUSTER_PROGRESS=progress)
    assert good(finished) == "7\n"
    assert "this torch's optimizers can't be watched" in finished.stderr


def test_a_torch_that_compiles_and_can_not_be_asked(tmp_path, progress):
    """2.0 and 2.1: its own hook for all optimizers is what there is."""
    fake_torch(tmp_path, """
        hooks = []
        def register_optimizer_step_post_hook(hook): hooks.append(hook)
        class Optimizer:
            def __init__(self): self._patch_step_function()
            def _patch_step_function(self): pass
            def step(self):
                for hook in hooks: hook(self, (), {})
        """)
    good(hooked("import torch; o = torch.optim.Optimizer(); p = torch.optim.Optimizer(); o.step(); o.step(); o.step()",
                PYTHONPATH=f"{HOOK}:{tmp_path}", MUSTER_PROGRESS=progress))
    assert words_of(progress)[0] == 3


def test_an_import_that_fails_fails_as_without_us(tmp_path):
    fake_torch(tmp_path, "raise ImportError('libcudart')\n")
    program = "try: import torch\nexcept ImportError as error: print(error)\ntry: import torch\nexcept ImportError as error: print(error)"
    finished = hooked(program, PYTHONPATH=f"{HOOK}:{tmp_path}")
    assert good(finished) == "libcudart\nlibcudart\n" and finished.stderr == ""


# ---- the place on the path ----


def test_the_sitecustomize_behind_ours_runs_as_it_would(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nprint('theirs', __name__, __file__)\nmark = 1\n")
    program = "import sitecustomize, sys; print(sitecustomize.mark, sitecustomize is sys.modules['sitecustomize'], sys.path)"
    with_us = good(hooked(program, PYTHONPATH=f"{HOOK}:{tmp_path}"))
    assert with_us == good(run("-c", program, PYTHONPATH=tmp_path)) and "theirs sitecustomize" in with_us


@pytest.mark.parametrize("theirs", ["1 / 0", "import not_there"])
def test_one_that_fails_fails_as_it_would(tmp_path, theirs):
    (tmp_path / "sitecustomize.py").write_text(theirs + "\n")
    with_us, without = (run("-c", "print('runs')", PYTHONPATH=path) for path in (f"{HOOK}:{tmp_path}", tmp_path))
    assert (with_us.returncode, with_us.stdout, with_us.stderr) == (without.returncode, without.stdout, without.stderr)


def test_none_behind_ours(tmp_path):
    program = "import sys; print(%r in sys.path, '_muster_hook' in sys.modules)" % str(HOOK)
    assert good(run("-c", program, PYTHONPATH=HOOK)) == "False True\n"
    empty = tmp_path / "home"
    (empty / "lib").mkdir(parents=True)
    finished = run("-S", "-c", "import sys; sys.path.insert(0, %r); import sitecustomize; print(sitecustomize.__file__)" % str(HOOK), cwd=empty)
    assert finished.returncode == 0, finished.stderr


def test_the_start_costs_little():
    """The least of many starts, with and without: what is between them is ours. The limit is 5 ms."""
    def least(path):
        spent = []
        for _ in range(15):
            before = os.times()
            subprocess.run([sys.executable, "-c", ""], env=environment(PYTHONPATH=path, PYTHONDONTWRITEBYTECODE=""), check=True)
            after = os.times()
            spent.append(after.children_user + after.children_system - before.children_user - before.children_system)
        return min(spent)

    assert least(HOOK) - least("") < 0.02  # of processor time, whose clock ticks each 10 ms


def test_children_of_any_python_read_sitecustomize():
    """It may be Python 2 that finds it; so nothing that is newer."""
    text = (HOOK / "sitecustomize.py").read_text()
    for new in ("f\"", "f'", "->", "annotations", "nonlocal", "print("):
        assert new not in text


# ---- what a spare could import ----


@needs_torch
@pytest.mark.parametrize("end", ["", "import os; os._exit(0)"])
def test_modules_are_learnt(tmp_path, end):
    (tmp_path / "mine.py").write_text("")
    learnt = tmp_path / "learnt.json"
    program = MODEL + textwrap.dedent("""
        import json, mine, numpy.linalg, multiprocessing as mp, subprocess, sys
        optimizer = torch.optim.SGD([weight], lr=0.1)
        backward(); optimizer.step()
        subprocess.run([sys.executable, "-c", ""], check=True)
        """) + end
    good(hooked(program, MUSTER_LEARN_MODULES=learnt, PYTHONPATH=f"{HOOK}:{tmp_path}"))
    known = json.loads(learnt.read_text())
    assert (known["version"], known["python"]) == (1, sys.version)
    assert {"torch", "torch.nn", "numpy", "numpy.linalg"} <= set(known["modules"])
    assert not {"json", "mine", "__main__", "_muster_hook", "sys", "torch._C", "torch.nn.modules"} & set(known["modules"])
    assert [path.name for path in tmp_path.glob("learnt*")] == ["learnt.json"]


def test_a_list_that_can_not_be_written_is_told(tmp_path):
    finished = hooked("print('runs')", MUSTER_LEARN_MODULES=tmp_path / "no" / "learnt")
    assert good(finished) == "runs\n" and "can't be written to" in finished.stderr


@pytest.mark.parametrize("module, left", [
    pytest.param("no.such.module", "ImportError: no.such.module can't be run as a module (-m)", id="none of that name"),
    pytest.param("json", "ImportError: json can't be run as a module (-m)", id="a package without __main__"),
    pytest.param("this", None, id="one that ends well"),
    pytest.param("broken", "ValueError: broken", id="one that fails by itself"),
])
def test_a_module_that_cannot_be_run_is_told_from_one_that_fails(tmp_path, module, left):
    (tmp_path / "broken.py").write_text("raise ValueError('broken')\n")
    file = tmp_path / "error.json"
    finished = run("-m", module, "-m", cwd=tmp_path, PYTHONPATH=HOOK, MUSTER_ERRORS="1", TORCHELASTIC_ERROR_FILE=file)
    assert (finished.returncode == 0) == (left is None), finished
    told = json.loads(file.read_text())["message"]["message"] if file.exists() else None
    if sys.version_info < (3, 10) and left and left.startswith("ImportError"):
        left = left.replace(module, "what was named")
    assert told == left
