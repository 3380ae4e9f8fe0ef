"""All tests of this folder run as the account that `muster manifests` makes, so what it may not do they can't. Here: that no
right of it is unused, once the tests of the files below have ended."""

import os
import pathlib

import pytest

from conftest import RIGHTS, USED

# Granted and not asked for by any test of this folder, each with its reason.
ELSEWHERE = {
    ("get", "pods/exec"): "as create",
    ("create", "pods/exec"): "passed on to launchers that use kubectl, who may not get what we don't have",
    ("get", "scaleplans"): "passed on to masters of ElasticJobs, as update: a role can give only what its maker has",
    ("update", "scaleplans"): "as get",
    ("update", "finalizers"): "ownerReferences with blockOwnerDeletion need it where OwnerReferencesPermissionEnforcement is on",
}


def granted(manifests):
    """(verb, resources of one rule): kinds of jobs are alike, so one of them stands for the others."""
    for role in (each for kind in RIGHTS if not kind.endswith("Binding") for each in manifests.get(kind, [])):
        if "aggregat" in str(role["metadata"].get("labels", {})):
            continue  # of people
        for rule in role["rules"]:
            for verb in rule["verbs"]:
                yield verb, tuple(rule["resources"])


def alike(resources):
    """A group of its own holds one kind, of which no job need run here."""
    for each in resources:
        kind, slash, part = each.partition("/")
        yield f"pytorchjobs{slash}{part}" if kind == "elasticjobs" else each


def elsewhere(verb, resources):
    return any((verb, each) in ELSEWHERE or (verb, each.split("/")[-1]) in ELSEWHERE for each in resources)


def test_every_right_is_used(manifests):
    notes = [line.split(" ") for line in pathlib.Path(os.environ[USED]).read_text().splitlines()]
    used = {(verb, resource) for verb, resource, _ in notes}
    if not {"test_jobs.py", "test_bad_clusters.py", "test_replicas.py", "test_process.py", "test_integrations.py"} <= {file for *_, file in notes}:
        pytest.skip("only some of the tests ran")
    unused = [f"{verb} {'/'.join(resources)}" for verb, resources in granted(manifests)
              if not any((verb, each) in used for each in alike(resources)) and not elsewhere(verb, resources)]
    assert not unused, "; ".join(unused)
