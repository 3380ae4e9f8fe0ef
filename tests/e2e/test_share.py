"""muster share: several processes of one command, with real processes and no server."""

import json
import os
import signal
import time

import pytest

# What each process says of itself, as its last act but for the status that it ends with.
SHOW = "import os, sys; print(sys.argv[1:], os.environ['PROCESS_INDEX'], os.environ['PROCESS_NUM'], sorted(os.sched_getaffinity(0)))"
FOREVER = "import signal, sys, time\nprint('here', flush=True)\nwhile True: time.sleep(1000)"


def on(sent, act):
    """A program that does so about a signal."""
    return f"import signal, sys\nsignal.signal({int(sent)}, lambda *_: {act})\n" + FOREVER


def share(muster, count, *words):
    return muster.run("share", "-n", count, *words)


def python(text, *args):
    return ["--", "python3", "-u", "-c", text, *args]


def gone(muster):
    deadline = time.monotonic() + 20
    while muster.processes() and time.monotonic() < deadline:
        time.sleep(0.01)
    return muster.processes()


def test_each_process_is_told_its_index_and_their_number(muster):
    done = share(muster, 3, *python(SHOW, "--lr", "1"))
    assert done.status == 0, done
    lines = sorted(done.out.splitlines())
    assert len(lines) == 3 and done.err == "", done
    for index, line in enumerate(lines):
        words = ["--lr", "1", "--process_index", str(index), "--process_num", "3"]
        assert line.startswith(f"[{index}] {words} {index} 3 "), done


def test_cpus_are_apart_where_there_are_enough(muster):
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("one CPU")
    sets = [set(json.loads(line[line.rindex("["):])) for line in share(muster, 2, *python(SHOW)).out.splitlines()]
    assert not sets[0] & sets[1] and sets[0] | sets[1] == set(cpus)
    done = share(muster, 2, "--cpus", "shared", *python(SHOW))
    assert all(line.endswith(str(cpus)) for line in done.out.splitlines()), done
    done = share(muster, len(cpus) + 1, *python(SHOW))
    assert done.status == 0 and all(line.endswith(str(cpus)) for line in done.out.splitlines()), done


def test_the_names_can_be_others_and_the_words_left_away(muster):
    shell = ["--", "sh", "-c", 'echo "$RANK/$WORLD_SIZE $*"', "sh"]
    done = share(muster, 2, "--names", "rank,world_size", *shell)
    assert sorted(done.out.splitlines()) == ["[0] 0/2 --rank 0 --world_size 2", "[1] 1/2 --rank 1 --world_size 2"], done
    done = share(muster, 2, "--names", "rank,world_size", "--no-words", *shell)
    assert sorted(done.out.splitlines()) == ["[0] 0/2 ", "[1] 1/2 "], done


def test_words_arrive_as_they_are_written(muster):
    odd = "a 'b' \"c\" $HOME `d`\n\te;&|\\"
    done = share(muster, 1, "--no-words", *python("import sys; print(repr(sys.argv[1]))", odd))
    assert done.out == f"[0] {odd!r}\n", done


def test_lines_stay_whole(muster):
    """Written in pieces, by both at once; the last one has no end."""
    text = ("import os, sys, time\n"
            "for i in range(2000):\n"
            "    sys.stdout.write('x' * 50); sys.stdout.flush(); sys.stdout.write('y' * 50 + '\\n'); sys.stdout.flush()\n"
            "sys.stdout.write('end')\n")
    done = share(muster, 2, *python(text))
    for index in (0, 1):
        mine = [line for line in done.out.splitlines() if line.startswith(f"[{index}] ")]
        assert mine == [f"[{index}] " + "x" * 50 + "y" * 50] * 2000 + [f"[{index}] end"], index
    assert len(done.out.splitlines()) == 4002


def test_the_first_failure_ends_the_others_and_is_the_status(muster):
    done = share(muster, 3, *python("import os, sys, time\nif os.environ['PROCESS_INDEX'] == '1': sys.exit(7)\ntime.sleep(1000)"))
    assert done.status == 7, done
    assert "process 1 failed first: exit code 7; the others get SIGTERM" in done.err, done
    assert not gone(muster)


def test_a_signal_that_ends_a_process_is_the_status(muster):
    done = share(muster, 2, "--", "sh", "-c", "[ $PROCESS_INDEX = 0 ] || kill -SEGV $$; exec sleep 1000")
    assert done.status == 128 + signal.SIGSEGV, done
    assert "process 1 failed first: SIGSEGV" in done.err, done


def test_what_does_not_hear_sigterm_is_killed_after_the_grace(muster):
    deaf = ("trap '' TERM; [ $PROCESS_INDEX = 0 ] || { while [ ! -e ready ]; do sleep 0.01; done; exit 4; }; "
            ": >ready; while :; do sleep 1; done")
    muster.cwd = muster.directory
    done = share(muster, 2, "--grace", "200ms", "--", "sh", "-c", deaf)
    assert done.status == 4, done
    assert not gone(muster)


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_is_passed_on(muster, sent):
    # As in the background of a shell without job control, but not below nohup.
    muster.prefix = ["env", "--ignore-signal=INT", "--default-signal=HUP"]
    text = on(sent, "(print('saved', flush=True), sys.exit(0))")
    started = muster.start("share", "-n", "2", *python(text))
    started.wait_for("[0] here")
    started.wait_for("[1] here")
    started.process.send_signal(sent)
    done = started.finish()
    assert done.status == 128 + sent, done
    assert "[0] saved" in done.out and "[1] saved" in done.out, done
    assert f"{sent.name} is passed on" in done.err, done


def test_a_second_signal_kills_at_once(muster):
    text = on(signal.SIGINT, "print('no', flush=True)")
    started = muster.start("share", "-n", "2", "--grace", "1h", *python(text))
    started.wait_for("[0] here")
    started.wait_for("[1] here")
    started.interrupt()
    started.wait_for("[0] no")
    started.interrupt()
    assert started.finish().status == 130
    assert not gone(muster)


def test_after_a_failure_a_signal_leaves_the_others_their_time(muster):
    """The pod is deleted while they save: the first SIGTERM changes nothing, and the second one kills."""
    text = ("import os, signal, sys, time\n"
            "if os.environ['PROCESS_INDEX'] == '1':\n"
            "    while not os.path.exists(os.environ['READY']): time.sleep(0.01)\n"
            "    sys.exit(6)\n"
            "signal.signal(signal.SIGTERM, lambda *_: print('saving', flush=True))\n"
            "open(os.environ['READY'], 'w').close()\n" + FOREVER)
    muster.environment["READY"] = str(muster.directory / "ready")
    started = muster.start("share", "-n", "2", "--grace", "1h", *python(text))
    started.wait_for("[0] saving")
    started.process.terminate()
    started.wait_for("SIGTERM: the processes are being ended")
    assert started.process.poll() is None
    started.process.terminate()
    assert started.finish().status == 6
    assert not gone(muster)


def test_a_user_signal_reaches_the_processes_and_ends_nothing(muster):
    text = on(signal.SIGUSR1, "(print('checkpoint', flush=True), sys.exit(0))")
    started = muster.start("share", "-n", "2", *python(text))
    started.wait_for("[0] here")
    started.wait_for("[1] here")
    started.process.send_signal(signal.SIGUSR1)
    done = started.finish()
    assert done.status == 0 and done.out.count("checkpoint") == 2, done


def test_nothing_is_left_when_muster_is_killed(muster):
    """Neither the processes, nor what they started in sessions of their own, nor files."""
    text = "import subprocess\nsubprocess.Popen(['setsid', 'sleep', '1000'])\n" + FOREVER
    muster.environment["TMPDIR"] = str(muster.directory)
    started = muster.start("share", "-n", "2", *python(text))
    started.wait_for("[0] here")
    started.wait_for("[1] here")
    assert len(muster.processes()) >= 5
    started.kill()
    started.process.wait()
    assert not gone(muster)
    deadline = time.monotonic() + 20
    while list(muster.directory.glob("muster-*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not list(muster.directory.glob("muster-*"))


def test_no_files_are_left_by_an_ordinary_run(muster):
    muster.environment["TMPDIR"] = str(muster.directory)
    assert share(muster, 2, "--", "true").status == 0
    assert not list(muster.directory.glob("muster-*"))


def test_a_read_only_tmp_is_no_hindrance(muster):
    muster.environment["TMPDIR"] = "/proc"
    done = share(muster, 2, "--", "true")
    assert done.status == 0, done


MPS = """\
#!/bin/sh
echo "$CUDA_MPS_PIPE_DIRECTORY" >>{log}
[ -d "$CUDA_MPS_PIPE_DIRECTORY" ] && [ -d "$CUDA_MPS_LOG_DIRECTORY" ] && [ "$1" = -d ] || exit 9
[ -z "$CUDA_VISIBLE_DEVICES" ] || exit 8
setsid sleep 1000 &
echo started
exit {status}
"""


def fake_mps(muster, status=0):
    (muster.directory / "bin").mkdir()
    program = muster.write("bin/nvidia-cuda-mps-control", MPS.format(log=muster.directory / "log", status=status))
    program.chmod(0o755)
    muster.environment["PATH"] = f"{program.parent}:{muster.environment['PATH']}"
    muster.environment["CUDA_VISIBLE_DEVICES"] = "0"
    muster.environment.pop("CUDA_MPS_PIPE_DIRECTORY", None)


def test_mps_is_started_for_these_processes_and_ends_with_them(muster):
    fake_mps(muster)
    muster.environment["TMPDIR"] = str(muster.directory)
    done = share(muster, 4, "--mps", "--gpu-memory", "8Gi", "--no-words", "--", "sh", "-c",
                 "echo $CUDA_MPS_PIPE_DIRECTORY $CUDA_MPS_ACTIVE_THREAD_PERCENTAGE $CUDA_MPS_PINNED_DEVICE_MEM_LIMIT")
    assert done.status == 0 and "[mps] started" in done.out, done
    [pipes] = (muster.directory / "log").read_text().splitlines()
    assert sorted(line for line in done.out.splitlines() if "[mps]" not in line) == [
        f"[{index}] {pipes} 50 0=8192M" for index in range(4)], done
    assert not gone(muster)
    assert not list(muster.directory.glob("muster-*"))


def test_mps_that_does_not_start_or_is_missing_is_told(muster):
    muster.environment.pop("CUDA_MPS_PIPE_DIRECTORY", None)
    done = share(muster, 2, "--mps", "--", "echo", "ran")
    assert done.status == 2 and "PATH has no nvidia-cuda-mps-control" in done.err and "ran" not in done.out, done
    fake_mps(muster, status=3)
    done = share(muster, 2, "--mps", "--", "echo", "ran")
    assert done.status == 2 and "nvidia-cuda-mps-control -d ended with exit code 3" in done.err and "ran" not in done.out, done
    assert not gone(muster)


def test_mps_of_the_caller_is_used(muster):
    fake_mps(muster)
    muster.environment["CUDA_MPS_PIPE_DIRECTORY"] = "/theirs"
    done = share(muster, 2, "--mps", "--no-words", "--", "sh", "-c", "echo $CUDA_MPS_PIPE_DIRECTORY")
    assert done.status == 0 and sorted(done.out.splitlines()) == ["[0] /theirs", "[1] /theirs"], done
    assert not (muster.directory / "log").exists()


def test_mps_ends_when_muster_is_killed(muster):
    fake_mps(muster)
    started = muster.start("share", "-n", "2", "--mps", *python(FOREVER))
    started.wait_for("[1] here")
    started.kill()
    started.process.wait()
    assert not gone(muster)


def test_a_dry_run_shows_what_each_would_get(muster):
    for name in ("TF_FORCE_GPU_ALLOW_GROWTH", "XLA_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_MEM_FRACTION"):
        muster.environment.pop(name, None)
    done = share(muster, 2, "--dry-run", "--", "python3", "a b.py")
    assert done.status == 0, done
    assert ("  PROCESS_INDEX=1 PROCESS_NUM=2 TF_FORCE_GPU_ALLOW_GROWTH=true XLA_PYTHON_CLIENT_MEM_FRACTION=0.45 "
            "python3 'a b.py' --process_index 1 --process_num 2\n") in done.out, done


@pytest.mark.parametrize("words, wanted", [
    (["--", "true"], "say how many processes: --processes N"),
    (["-n", "0", "--", "true"], "--processes wants a number from 1 to 256, not 0"),
    (["-n", "257", "--", "true"], "from 1 to 256, not 257"),
    (["-n", "two", "--", "true"], "two"),
    (["-n", "2"], "say what to run"),
    (["-n", "2", "--"], "say what to run"),
    (["-n", "2", "--names", "rank", "--", "true"], "--names wants two names"),
    (["-n", "2", "--cpus", "all", "--", "true"], "--cpus wants apart or shared"),
    (["-n", "2", "--gpu-memory", "lots", "--", "true"], "--gpu-memory wants auto, none, a fraction"),
    (["-n", "2", "--gpu-memory", "8Gi", "--", "true"], "Add --mps, or write a fraction"),
    (["-n", "2", "--grace", "soon", "--", "true"], "--grace wants a duration"),
    (["-n", "2", "--proceses", "true"], "did you mean --processes?"),
    (["-n", "2", "--", "no-such-program"], "PATH has no program no-such-program"),
    (["-n", "2", "--", "train.py"], "PATH has no program train.py; did you mean python3 train.py?"),
    (["-n", "2", "--", "/etc/passwd"], "/etc/passwd can't be executed"),
])
def test_wrong_words_say_what_is_wanted(muster, words, wanted):
    done = muster.run("share", *words)
    assert done.status == 2 and wanted in done.err and done.out == "", done


def test_it_works_in_a_pod(muster):
    """Of a job on this machine, in namespaces where they are allowed."""
    # The second one fails when the first has spoken.
    said = f"/dev/shm/{muster.mark}"
    script = (f"echo $RANK $PROCESS_INDEX; [ $PROCESS_INDEX = 1 ] || {{ : >{said}; exec sleep 1000; }}; "
              f"while [ ! -e {said} ]; do sleep 0.01; done; rm {said}; exit 5")
    manifest = muster.write("job.yaml", f"""\
        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {{name: shared}}
        spec:
          pytorchReplicaSpecs:
            Master:
              replicas: 1
              restartPolicy: Never
              template:
                spec:
                  containers:
                  - name: pytorch
                    image: none
                    command: [{muster.binary}, share, -n, "2", --, sh, -c, "{script}"]
        """)
    done = muster.run("run", manifest)
    assert done.status == 5, done
    assert "| [0] 0 0" in done.out and "| [1] 0 1" in done.out, done
