"""CronJobs: the Jobs that they make, what they write down of them, and what a schedule may say."""

import pytest

from workloads import end_pod, events_about, objects_when, template, when


@pytest.fixture
def jobs(namespace):
    return f"/apis/batch/v1/namespaces/{namespace}/jobs"


@pytest.fixture
def cron_jobs(namespace):
    return f"/apis/batch/v1/namespaces/{namespace}/cronjobs"


def cron_job(schedule="@every 1s", name="c", **spec):
    pods = {"metadata": {"labels": {"of": name}}, "spec": {"template": template()}}
    return {"metadata": {"name": name}, "spec": {"schedule": schedule, "jobTemplate": pods, **spec}}


def make_cron_job(api, cron_jobs, *words, **spec):
    made = api.post(cron_jobs, cron_job(*words, **spec))
    assert made.status == 201, made
    assert "Warning" not in made.headers, made.headers["Warning"]
    return made.json


def test_a_job_is_made_and_followed(api, namespace, cron_jobs, jobs):
    made = make_cron_job(api, cron_jobs)
    job, *_ = objects_when(api, jobs, "of=c", lambda found: found)
    metadata = job["metadata"]
    assert metadata["name"].startswith("c-") and metadata["name"][2:].isdigit()
    assert metadata["ownerReferences"] == [{"apiVersion": "batch/v1", "kind": "CronJob", "name": "c",
                                            "uid": made["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}]
    assert metadata["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    status = when(api, cron_jobs, "c", lambda seen: seen["status"].get("active"))["status"]
    assert status["active"][0]["name"] == metadata["name"] and status["active"][0]["kind"] == "Job"
    assert status["lastScheduleTime"]
    assert f"Created job {metadata['name']}" in events_about(api, namespace, "c", "SuccessfulCreate")
    assert api.patch(f"{cron_jobs}/c", {"spec": {"suspend": True}}).status == 200
    pod, *_ = objects_when(api, f"/api/v1/namespaces/{namespace}/pods", f"job-name={metadata['name']}", lambda found: found)
    end_pod(api, pod, "Succeeded", 0)
    when(api, cron_jobs, "c", lambda seen: seen["status"].get("lastSuccessfulTime"))
    assert f"Saw completed job: {metadata['name']}, condition: Complete" in events_about(api, namespace, "c", "SawCompletedJob")
    assert api.delete(f"{cron_jobs}/c", {"propagationPolicy": "Background"}).status == 200
    objects_when(api, jobs, "of=c", lambda found: not found)


def test_the_history_is_limited(api, cron_jobs, jobs, namespace):
    make_cron_job(api, cron_jobs, successfulJobsHistoryLimit=0)
    job, *_ = objects_when(api, jobs, "of=c", lambda found: found)
    name = job["metadata"]["name"]
    pod, *_ = objects_when(api, f"/api/v1/namespaces/{namespace}/pods", f"job-name={name}", lambda found: found)
    end_pod(api, pod, "Succeeded", 0)
    api.gone(jobs, name)


@pytest.mark.parametrize("spec, message", [
    ({"schedule": "* * *"}, 'Invalid value: "* * *": expected exactly 5 fields, found 3: [* * *]'),
    ({"schedule": "60 * * * *"}, 'Invalid value: "60 * * * *": end of range (60) above maximum (59): 60'),
    ({"schedule": "* * 0 * *"}, 'Invalid value: "* * 0 * *": beginning of range (0) below minimum (1): 0'),
    ({"schedule": "*/0 * * * *"}, 'Invalid value: "*/0 * * * *": step of range should be a positive number: */0'),
    ({"schedule": "5-1 * * * *"}, 'Invalid value: "5-1 * * * *": beginning of range (5) beyond end of range (1): 5-1'),
    ({"schedule": "1-2-3 * * * *"}, 'Invalid value: "1-2-3 * * * *": too many hyphens: 1-2-3'),
    ({"schedule": "1/2/3 * * * *"}, 'Invalid value: "1/2/3 * * * *": too many slashes: 1/2/3'),
    ({"schedule": "* * * x *"}, 'Invalid value: "* * * x *": failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
    ({"schedule": "@often"}, 'Invalid value: "@often": unrecognized descriptor: @often'),
    ({"schedule": "@every x"}, 'Invalid value: "@every x": failed to parse duration @every x: time: invalid duration "x"'),
    ({"schedule": "TZ=UTC * * * * *"},
     'Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead'),
    ({"schedule": "* * * * *", "timeZone": ""}, 'Invalid value: "": timeZone must be nil or non-empty string'),
    ({"schedule": "* * * * *", "timeZone": "No/Where"}, 'Invalid value: "No/Where": unknown time zone No/Where'),
    ({"schedule": "* * * * *", "timeZone": "../etc/passwd"}, 'Invalid value: "../etc/passwd": unknown time zone ../etc/passwd'),
])
def test_what_is_wrong_with_a_schedule(api, cron_jobs, spec, message):
    refused = api.post(cron_jobs, cron_job(**spec))
    assert refused.status == 422, refused
    assert message in [cause["message"] for cause in refused.json["details"]["causes"]], refused


@pytest.mark.parametrize("schedule", ["@hourly", "@every 1h30m", "*/5 0-6/2,12 ? jan-MAR,6 MON-fri", "0 0 31 2 *"])
def test_what_a_schedule_may_be(api, cron_jobs, schedule):
    made = api.post(f"{cron_jobs}?dryRun=All", cron_job(schedule, timeZone="Etc/UTC"))
    assert made.status == 201, made
