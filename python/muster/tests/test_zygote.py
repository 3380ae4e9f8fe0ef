"""Warm spares: a worker that comes of one is as one that was started cold, or is started cold."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import HERE, HOOK, SOURCES, environment, needs_torch, words_of
from spares import ZYGOTE, Spare

PROGRAMS = HERE / "programs"
WHO, ENDINGS = PROGRAMS / "who_am_i.py", PROGRAMS / "endings.py"


def cold(*words, cwd, options=(), variables=None, **more):
    finished = subprocess.run([sys.executable, *options, *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False, timeout=120,
                              env={**(environment(PYTHONPATH=SOURCES) if variables is None else variables), **more})
    return finished.returncode, finished.stdout, finished.stderr


def warm(*target, args=(), cwd, start_in=None, modules=("json",), expect=True, options=(), **more):
    with Spare(*target, modules=modules, cwd=cwd, options=options) as spare:
        assert spare.ready["warm"], spare.ready
        started = spare.start(*args, cwd=cwd, **more)
        assert (started["started"], started["warm"]) == (True, expect), started
        return spare.finish()


# ---- the same as a cold start ----


@pytest.mark.parametrize("script, options", [
    ("{}/who_am_i.py", ()), ("who_am_i.py", ()), ("./who_am_i.py", ("-u",)), ("link/../who_am_i.py", ("-B", "-Wignore")),
    ("linked.py", ()), ("{}/who_am_i.py", ("-I",)), ("who_am_i.py", ("-X", "dev")),
])
def test_a_script_sees_no_difference(tmp_path, script, options):
    shutil.copy(WHO, tmp_path)
    (tmp_path / "link").mkdir()
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(WHO, tmp_path / "elsewhere" / "real.py")
    (tmp_path / "linked.py").symlink_to("elsewhere/real.py")
    check_no_difference(tmp_path, [script.format(tmp_path)], options)


def test_a_module_sees_no_difference(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    shutil.copy(WHO, package / "who.py")
    shutil.copy(WHO, package / "__main__.py")
    check_no_difference(tmp_path, ["-m", "package.who"], ())
    check_no_difference(tmp_path, ["-m", "package"], ())


def check_no_difference(folder, target, options):
    args = ["--lr", "0.1", "", "ü"]
    expected = cold(*target, *args, cwd=folder, options=options, RANK="3", ODD="a=b\n\u00fc")
    status, out, err = warm(*target, args=args, cwd=folder, options=options, RANK="3", ODD="a=b\n\u00fc")
    assert (status, err) == (expected[0], expected[2]) and status == 0
    there, here = json.loads(expected[1]), json.loads(out)
    assert here == there


@pytest.mark.parametrize("how", ["nothing", "exception", "chained", "interrupted", "excepthook", "bad excepthook", "status", "message", "killed",
                                 "at once", "spawn"])
def test_it_ends_as_a_cold_one(tmp_path, how):
    status, out, err = warm(ENDINGS, args=[how], cwd=tmp_path)
    # A child's output comes when it likes.
    expected = cold(ENDINGS, how, cwd=tmp_path)
    assert (status, sorted(out.split("\n")), err) == (expected[0], sorted(expected[1].split("\n")), expected[2])


@pytest.mark.parametrize("text", ["def broken(:\n", "x = '\\xff", "raise SyntaxError", "# coding: latin-1\nprint('\xfc')\n"])
def test_sources_are_read_as_always(tmp_path, text):
    script = tmp_path / "script.py"
    script.write_text(text, encoding="latin-1")
    ours = warm(script, cwd=tmp_path)
    assert ours == cold(script, cwd=tmp_path)


def test_output_goes_where_it_is_told(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import os, sys\nprint('out', flush=True)\nprint('err', file=sys.stderr)\nprint(sys.stdin.read())\n"
                      "os.system('echo child')\nos.write(7, b'seven')\n")
    paths = {number: tmp_path / f"fd{number}" for number in (0, 1, 2, 7)}
    paths[0].write_text("in")
    with Spare(script, modules=["json"], cwd=tmp_path) as spare:
        # One number that the socket has there, as a spare may have any.
        control = int(next(part for part in pathlib.Path(f"/proc/{spare.process.pid}/cmdline").read_text().split("\0") if part.isdigit()))
        paths[control] = tmp_path / "control"
        files = {number: os.open(path, os.O_RDWR | os.O_CREAT) for number, path in paths.items()}
        assert spare.start(cwd=tmp_path, descriptors=files)["warm"]
        status, out, err = spare.finish()
        for file in files.values():
            os.close(file)
    assert (status, out, err) == (0, "", "")
    assert paths[1].read_text() == "out\nchild\nin\n" or paths[1].read_text() == "out\nin\nchild\n"
    assert (paths[2].read_text(), paths[7].read_text()) == ("err\n", "seven")


def test_what_imports_leave_in_the_environment_stays(tmp_path):
    (tmp_path / "sets.py").write_text("import os\nos.environ.setdefault('LEFT', 'by import')\nos.environ.pop('TAKEN', None)\nos.putenv\n")
    script = tmp_path / "script.py"
    script.write_text("import sets, os, subprocess\nprint(os.environ.get('LEFT'), 'TAKEN' in os.environ, 'GONE' in os.environ, os.environ['NEW'])\n"
                      "subprocess.run('echo $LEFT $TAKEN $GONE $NEW', shell=True)\n")
    before = environment(PYTHONPATH=SOURCES, TAKEN="x", GONE="y")
    after = {**{name: value for name, value in before.items() if name != "GONE"}, "NEW": "z"}
    with Spare(script, modules=["sets"], cwd=tmp_path, variables=before) as spare:
        assert spare.start(cwd=tmp_path, variables=after) == {"started": True, "warm": True, "why": ""}
        ours = spare.finish()
    expected = cold(script, cwd=tmp_path, variables=after)
    assert sorted(ours[1].split("\n")) == sorted(expected[1].split("\n")) and ours[0] == expected[0] == 0


def test_imports_find_the_same_files(tmp_path):
    """The script's folder comes first, as it will."""
    (tmp_path / "colorsys.py").write_text("mine = True\n")
    script = tmp_path / "script.py"
    script.write_text("import colorsys, __main__\nprint(colorsys.mine, seen.file == __file__)\n".replace("seen", "__import__('seen')"))
    (tmp_path / "seen.py").write_text("import __main__\nfile = __main__.__file__\n")
    assert warm(script, cwd="/", modules=["colorsys", "seen"])[1] == "True True\n"


# ---- or a cold start ----


def reason_for(tmp_path, module_text, start=None, variables=None, args=(), module="looks", script_text="import os; print('ran', os.getpid())"):
    """Why it started cold; it must have run all the same, in the same process."""
    (tmp_path / "looks.py").write_text(module_text)
    script = tmp_path / "script.py"
    script.write_text(script_text)
    with Spare(script, modules=[module], cwd=tmp_path, variables=environment(PYTHONPATH=SOURCES, **(start or {}))) as spare:
        pid = spare.ready["pid"]
        assert pid == spare.process.pid
        started = spare.start(*args, cwd=tmp_path, variables=environment(PYTHONPATH=SOURCES, **(variables or {})))
        status, out, err = spare.finish()
    assert started["started"] and not started["warm"], started
    assert (status, out, err) == (0, f"ran {pid}\n", "")
    return spare.ready, started["why"]


@pytest.mark.parametrize("module, start, then, named", [
    ("import os; os.environ.get('RANK')", {}, {"RANK": "1"}, "RANK was unset"),
    ("import os; os.getenv('MODE')", {"MODE": "a"}, {"MODE": "b"}, "MODE was 'a'"),
    ("import os; 'MODE' in os.environ", {"MODE": "a"}, {}, "is unset for the worker"),
    ("from os import environ; environ.setdefault('MODE', 'a')", {}, {"MODE": "b"}, "MODE"),
    ("import os; os.environb.get(b'MODE')", {}, {"MODE": "b"}, "MODE"),
    ("", {"CUDA_VISIBLE_DEVICES": "0"}, {"CUDA_VISIBLE_DEVICES": "1"}, "CUDA_VISIBLE_DEVICES was '0'"),
    ("", {}, {"OMP_NUM_THREADS": "3"}, "OMP_NUM_THREADS"),
    ("", {}, {"LD_PRELOAD": ""}, "LD_PRELOAD"),
    ("", {}, {"PYTHONHASHSEED": "1"}, "PYTHONHASHSEED"),
    ("", {}, {"LC_ALL": "C"}, "LC_ALL"),
])
def test_imports_under_another_environment_do_not_count(tmp_path, module, start, then, named):
    ready, why = reason_for(tmp_path, module, start, then)
    assert ready["warm"] and named in why


@pytest.mark.parametrize("module", ["import os; os.environ.get('HOME')", "import os; os.environ['HOME']", "import json"])
def test_what_does_not_differ_does_not_matter(tmp_path, module):
    (tmp_path / "looks.py").write_text(module)
    assert warm(WHO, cwd=tmp_path, modules=["json"], RANK="1", MASTER_PORT="29500")[0] == 0


@pytest.mark.parametrize("module, named", [
    ("1 / 0", "looks can't be imported: ZeroDivisionError"),
    ("import not_there", "looks can't be imported: ModuleNotFoundError: No module named 'not_there'"),
    ("import sys; sys.exit(3)", "looks can't be imported: SystemExit: 3"),
    ("import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()", "looks started a thread"),
    ("import os; {name for name in os.environ if name.startswith('LOOKS_')}", "looks reads the whole environment"),
    ("import os; dict(os.environ)", "looks reads the whole environment"),
    ("import os; os.environ.copy()", "looks reads the whole environment"),
])
def test_modules_that_can_not_be_imported_ahead_are_named(tmp_path, module, named):
    ready, why = reason_for(tmp_path, module)
    assert not ready["warm"] and ready["module"] == "looks" and named in ready["why"] and why == ready["why"]


def test_a_package_is_named_before_what_lies_in_it(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("import os; dict(os.environ)")
    (tmp_path / "package" / "part.py").write_text("1 / 0")
    ready, why = reason_for(tmp_path, "", module="package.part")
    assert ready["module"] == "package" and "package reads the whole environment" in why


def test_a_device_that_was_opened_is_seen(tmp_path):
    """Stands for CUDA: what counts is an open file of that kind."""
    devices = list(pathlib.Path("/dev").glob("nvidia[0-9]*")) + list(pathlib.Path("/dev/dri").glob("render*"))
    if not devices:
        pytest.skip("this machine has no accelerator")
    ready, why = reason_for(tmp_path, f"file = open({str(devices[0])!r})")
    assert not ready["warm"] and "CUDA" in why


def test_another_directory_is_told(tmp_path):
    (tmp_path / "there").mkdir()
    script = tmp_path / "script.py"
    script.write_text("import os; print(os.getcwd())")
    with Spare(script, modules=["json"], cwd=tmp_path) as spare:
        assert "the worker runs in" in spare.start(cwd=tmp_path / "there")["why"]
        assert spare.finish()[1] == f"{tmp_path}/there\n"


@pytest.mark.parametrize("make, named", [
    (lambda path: None, "can't be opened"), (lambda path: path.mkdir(), "can't be opened"),
    (lambda path: path.write_bytes(b"PK\3\4"), "is no source"),
])
def test_what_is_no_script_is_left_to_the_interpreter(tmp_path, make, named):
    script = tmp_path / "script.py"
    make(script)
    with Spare(script, modules=["json"], cwd=tmp_path) as spare:
        assert named in spare.start(cwd=tmp_path)["why"]
        assert spare.finish() == cold(script, cwd=tmp_path)


def test_a_command_that_can_not_be_started_is_told(tmp_path):
    with Spare(WHO, modules=["not_there"], cwd=tmp_path):
        pass
    ours, theirs = __import__("socket").socketpair()
    with ours, theirs:
        process = subprocess.Popen([sys.executable, str(ZYGOTE), "--control", str(theirs.fileno()), "--", "/not/there", "script.py"],
                                   pass_fds=[theirs.fileno()], stderr=subprocess.PIPE, text=True, env=environment())
        message = json.dumps({"start": True, "version": 1, "args": [], "env": {}, "cwd": "/"}).encode()
        ours.sendall(len(message).to_bytes(4, "little") + message)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 127 and "/not/there can't be started" in err


# ---- the protocol ----


def test_a_spare_that_nobody_needs_ends_quietly(tmp_path):
    with Spare(WHO, modules=["json"], cwd=tmp_path) as spare:
        spare.control.close()
        assert spare.finish() == (0, "", "")


@pytest.mark.parametrize("data, why", [
    (b"\xff\xff\xff\xff", "at most 8388608 are allowed"), (b"\3\0\0\0{{{", "Expecting"), (b"\2\0\0\0[]", "not an object"),
    (b"\2\0\0\0{}", "not a start"), (b"\2\0", "ended after 2 bytes"),
])
def test_what_is_no_message_is_refused(tmp_path, data, why):
    with Spare(WHO, modules=["json"], cwd=tmp_path) as spare:
        spare.send(data)
        spare.control.shutdown(1)
        answer = spare.hear()
        assert answer["refused"] and why in answer["why"]
        assert spare.finish()[0] == 1


SOUND = {"start": True, "version": 1, "args": [], "env": {}, "cwd": "/", "fds": []}


@pytest.mark.parametrize("change, why", [
    ({"version": 2}, "version 1"), ({"args": "x"}, "args"), ({"args": [1]}, "args"), ({"args": ["\0"]}, "args"), ({"env": []}, "env"),
    ({"env": {"A": 1}}, "env"), ({"env": {"A=B": "1"}}, "env"), ({"env": {"": "1"}}, "env"),
    ({"cwd": None}, "cwd"), ({"cwd": "/not/there"}, "/not/there"), ({"fds": [1]}, "0 descriptors"), ({"fds": [-1]}, "fds"), ({"fds": "1"}, "fds"),
])
def test_orders_that_are_unsound_are_refused(tmp_path, change, why):
    with Spare(WHO, modules=["json"], cwd=tmp_path) as spare:
        spare.say({**SOUND, **change})
        answer = spare.hear()
        assert answer["refused"] and why in answer["why"]
        assert spare.finish()[0] == 1


@pytest.mark.parametrize("words", [
    [], ["--control"], ["--control", "x", "--", "a", "b"], ["--wrong", "1", "--", "a", "b"], ["--control", "0", "--", "a"]])
def test_a_wrong_call_is_told(words):
    finished = subprocess.run([sys.executable, str(ZYGOTE), *words], capture_output=True, text=True, check=False, env=environment())
    assert finished.returncode == 2 and finished.stderr.startswith("zygote: ")


# ---- with what is learnt, and with torch ----


@pytest.mark.parametrize("text, note", [
    (None, "does not exist"), ("{", "can't be read"), ("[]", "can't be read"), ('{"version": 1, "python": "2.7", "modules": []}', "another Python"),
])
def test_a_list_of_no_use_is_told(tmp_path, text, note):
    learnt = tmp_path / "learnt"
    if text is not None:
        learnt.write_text(text)
    with Spare(WHO, learnt=learnt, cwd=tmp_path) as spare:
        assert note in spare.ready["note"] and not spare.ready["warm"] and "no modules" in spare.ready["why"]
    with Spare(WHO, learnt=learnt, modules=["json"], cwd=tmp_path) as spare:
        assert note in spare.ready["note"] and spare.ready["warm"]


@needs_torch
def test_a_spare_of_a_torch_job_starts_in_milliseconds(tmp_path, progress):
    """A worker teaches, and its spare becomes the next worker: with the hook, and the environment of a rank that was not known before."""
    learnt = tmp_path / "learnt"
    script = tmp_path / "train.py"
    script.write_text("import time\nfirst = time.monotonic_ns()\nimport torch, torch.distributed as dist, os\nimported = time.monotonic_ns()\n"
                      "dist.init_process_group('gloo')\nweight = torch.nn.Parameter(torch.ones(3))\n"
                      "optimizer = torch.optim.SGD([weight], lr=0.1)\nfor _ in range(4): (weight ** 2).sum().backward(); optimizer.step()\n"
                      "print(first, imported, os.environ['RANK'], dist.get_world_size())\n")
    before = environment(PYTHONPATH=HOOK)
    # Gloo warns where the name of the machine is of no address, as in a bare root.
    of_rank = {**before, "GLOO_SOCKET_IFNAME": "lo", "RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0",
               "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0",
               "TORCHELASTIC_RESTART_COUNT": "3", "MUSTER_PROGRESS": str(progress), "MUSTER_LEARN_MODULES": str(learnt)}
    asked = time.monotonic_ns()
    status, out, err = cold(script, cwd=tmp_path, variables=of_rank)
    assert status == 0, err
    first, imported = map(int, out.split()[:2])
    cold_start, cold_import = (first - asked) / 1e6, (imported - first) / 1e6
    assert words_of(progress)[0] == 4
    progress.write_bytes(bytes(64))
    learnt_modules = json.loads(learnt.read_text())["modules"]
    assert "torch" in learnt_modules and "torch.distributed" in learnt_modules

    with Spare(script, learnt=learnt, cwd=tmp_path, variables=before) as spare:
        assert spare.ready["warm"], spare.ready
        assert "RANK" not in spare.ready["reads"] and "*" not in spare.ready["reads"]
        asked = time.monotonic_ns()
        started = spare.start(cwd=tmp_path, variables=of_rank)
        assert started == {"started": True, "warm": True, "why": ""}
        status, out, err = spare.finish()
    assert (status, err) == (0, "")
    first, imported = map(int, out.split()[:2])
    assert out.split()[2:] == ["0", "1"]
    warm_start, warm_import = (first - asked) / 1e6, (imported - first) / 1e6
    print(f"cold: first line after {cold_start:.1f} ms, torch imported {cold_import:.1f} ms later; "
          f"warm: {warm_start:.1f} ms and {warm_import:.2f} ms")
    assert words_of(progress)[0] == 4
    # Not a limit in milliseconds, as others use the machine; a spare that imported anything again would not hold it.
    assert warm_start + warm_import < (cold_start + cold_import) / 4


def test_a_spare_that_is_interrupted_is_not_a_worker_yet(tmp_path):
    with Spare(WHO, modules=["json"], cwd=tmp_path) as spare:
        spare.process.send_signal(signal.SIGTERM)
        assert spare.finish()[0] == -signal.SIGTERM


def test_what_a_worker_dies_of_is_written_as_after_a_cold_start(tmp_path):
    """MUSTER_ERRORS and the file are of the worker: its spare was started without them."""
    script = tmp_path / "train.py"
    script.write_text("raise ValueError('no such column')\n")
    before, file = environment(PYTHONPATH=HOOK), tmp_path / "error.json"
    with Spare(script, modules=["json"], cwd=tmp_path, variables=before) as spare:
        started = spare.start(cwd=tmp_path, variables=before, MUSTER_ERRORS="1", TORCHELASTIC_ERROR_FILE=str(file))
        assert started["warm"], started
        status, _, err = spare.finish()
    assert status == 1 and err.count("ValueError: no such column") == 1, err
    told = json.loads(file.read_text())["message"]
    assert told["message"] == "ValueError: no such column" and "zygote" not in told["extraInfo"]["py_callstack"]


def test_the_locale_that_python_chooses_by_itself_is_no_difference(tmp_path):
    """Without LANG the interpreter sets LC_CTYPE in its own environment, which a launcher knows nothing of."""
    variables = {name: value for name, value in environment(PYTHONPATH=HOOK).items() if name != "LANG" and not name.startswith("LC_")}
    script = tmp_path / "train.py"
    script.write_text("import os\nprint(os.environ.get('LC_CTYPE'))\n")
    with Spare(script, modules=["json"], cwd=tmp_path, variables=variables) as spare:
        assert spare.start(cwd=tmp_path, variables=variables) == {"started": True, "warm": True, "why": ""}
        assert spare.finish()[:2] == (0, cold(script, cwd=tmp_path, variables=variables)[1])
    with Spare(script, modules=["json"], cwd=tmp_path, variables=variables) as spare:
        assert "LC_ALL" in spare.start(cwd=tmp_path, variables=variables, LC_ALL="C.UTF-8")["why"]
