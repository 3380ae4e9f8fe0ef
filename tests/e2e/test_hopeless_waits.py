"""What a pod of `muster run` would wait for in vain ends the run before it starts."""

import re

import pytest

JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: waits}
spec:
  pytorchReplicaSpecs:
    Master:
      restartPolicy: Never
      template:
        spec:
          terminationGracePeriodSeconds: 1
          containers:
          - name: pytorch
            image: local
            command: [sh, -c, "echo ran"]
"""
OTHER = (JOB.replace("PyTorchJob", "XGBoostJob").replace("pytorchReplicaSpecs", "xgbReplicaSpecs")
         .replace("name: pytorch", "name: xgboost"))


def with_pod(line):
    return JOB.replace("          containers:", f"          {line}\n          containers:")


CASES = {
    "a scheduling gate": (with_pod("schedulingGates: [{name: g}]"), "schedulingGates"),
    "another node": (with_pod("nodeName: gpu-7"), 'there is no node "gpu-7"'),
    "another scheduler": (with_pod("schedulerName: kai-scheduler"), 'there is no scheduler "kai-scheduler" here'),
    "a ConfigMap": (with_pod("volumes: [{name: v, configMap: {name: c}}]"), 'nothing makes the ConfigMap "c"'),
    "a Secret": (JOB + "            envFrom: [{secretRef: {name: s}}]\n", 'nothing makes the Secret "s"'),
    "a key": (JOB + "            env: [{name: A, valueFrom: {configMapKeyRef: {name: c, key: k}}}]\n"
              "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {other: x}\n", 'has no key "k"'),
    "a claim of no class": (
        with_pod("volumes: [{name: v, persistentVolumeClaim: {claimName: p}}]")
        + "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: p}\n"
        "spec: {storageClassName: '', accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n",
        "--volume p=DIR"),
    "a probe that the node has not": (JOB + "            livenessProbe: {grpc: {port: 80}}\n", "grpc"),
    "a sysctl of the machine": (with_pod('securityContext: {sysctls: [{name: vm.swappiness, value: "1"}]}'), "vm.swappiness"),
    "a job that is suspended": (JOB.replace("  pytorchR", "  runPolicy: {suspend: true}\n  pytorchR"), "suspended"),
    "two pods of one name": (f"{JOB}---\n{OTHER}", '"waits-master-0" like one of PyTorchJob waits'),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_told_before_anything_starts(muster, case):
    text, wanted = CASES[case]
    path = muster.write("waits.yaml", "")
    path.write_text(text)
    for verb in ("run", "validate"):
        finished = muster.run(verb, path, limit=30)
        assert finished.status == 2 and wanted in finished.err, finished
        assert "ran" not in finished.out


def test_who_means_it_waits(muster):
    path = muster.write("waits.yaml", "")
    path.write_text(f"{JOB.replace('spec:', 'spec:' + chr(10) + '  runPolicy: {cleanPodPolicy: All}', 1)}---\n{OTHER}")
    finished = muster.run("run", "--wait-for-others", path, limit=60)
    assert finished.status == 0, finished
    assert "warning" in finished.err and finished.out.count("waits-master-0 | ran") == 2, finished


def test_the_advice_for_another_scheduler_lets_the_job_run(muster):
    path = muster.write("scheduler.yaml", with_pod("schedulerName: kai-scheduler"))
    refused = muster.run("run", path, limit=30)
    advice = re.search(r"--set (\S+=default-scheduler)", refused.err)
    assert refused.status == 2 and advice, refused
    finished = muster.run("run", path, "--set", advice.group(1), limit=30)
    assert finished.status == 0 and "waits-master-0 | ran" in finished.out, finished


def test_a_program_in_tmp_is_not_in_a_pod(muster, tmp_path):
    program = tmp_path / "train"
    program.write_text("#!/bin/sh\necho ran\n")
    program.chmod(0o755)
    if not str(program).startswith("/tmp/"):
        pytest.skip("the tests' directory is not below /tmp")
    path = muster.write("tmp.yaml", JOB.replace('[sh, -c, "echo ran"]', f"[{program}]"))
    finished = muster.run("run", path, limit=30)
    if "share this machine's network" in finished.text:  # and its /tmp
        assert finished.status == 0, finished
        return
    hint = f"--mount {tmp_path}={tmp_path}"
    assert finished.status == 2 and "a /tmp of its own" in finished.err and hint in finished.err, finished
    mounted = muster.run("run", path, *hint.split(), limit=30)
    assert mounted.status == 0 and "waits-master-0 | ran" in mounted.out, mounted
    shared = muster.run("run", path, "--sandbox", "none", limit=30)
    assert shared.status == 0 and "waits-master-0 | ran" in shared.out, shared


def test_a_job_whose_name_is_made_is_followed_to_its_end(muster):
    path = muster.write("named.yaml", JOB.replace("name: waits", "generateName: made-"))
    finished = muster.run("run", path, limit=30)
    assert finished.status == 0 and "PyTorchJob default/made-" in finished.out, finished
    assert "default/made-*" in muster.run("validate", path).out


def test_a_pod_that_only_a_helper_keeps_alive_is_told(muster):
    path = muster.write("helper.yaml", JOB + """\
          - name: shipper
            image: local
            command: [sleep, "600"]
""")
    started = muster.start("run", path)
    started.wait_for("continues to run, and its job with it, until its container shipper ends")
    started.interrupt()
    finished = started.finish()
    assert finished.status == 130, finished
    assert "exited with code 143" not in finished.text, "we have ended it"
