#include "cli/internal/run/run_session.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>

#include "apiserver/api_server.h"
#include "base/async/task_fault.h"
#include "base/time/sim_clock.h"
#include "jobs/kind.h"
#include "kube/values/document.h"
#include "kube/values/json_access.h"

namespace muster::cli::run_session_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A run against the real API on virtual time, without operator and node: the test plays both.
class RunSessionTest : public testing::Test {
  public:
    explicit RunSessionTest(bool live = false)
        : api(context.get_executor(), clock, rng, store::make_memory_store()),
          client(api),
          console({.descriptor = descriptor, .color = false, .live = live, .quiet = false}) {}

    /// Posts the manifest and returns the exit status; `play` runs beside the session.
    int run(const std::string& manifest, RunSession::Options options,
            std::function<Task<void>(RunSession&, kube::Client&)> play = {}) {
        manifest::CheckResult checked =
            manifest::check_documents(manifest::read_manifest(manifest, "m.yaml").documents, {});
        EXPECT_THAT(checked.problems, IsEmpty());
        session = std::make_unique<RunSession>(context.get_executor(), clock, rng, client, console,
                                               std::move(checked.objects), options);
        int status = -1;
        asio::co_spawn(context, drive(std::move(play)), [&](std::exception_ptr thrown, int result) {
            if (thrown) std::rethrow_exception(thrown);
            status = result;
        });
        run_simulation(context, clock);
        return status;
    }

    std::string shown() const {
        std::string text(100'000, '\0');
        ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, size)));
        return text;
    }

    int descriptor = ::memfd_create("console", MFD_CLOEXEC);
    asio::io_context context;
    SimClock clock;
    Rng rng{1};
    apiserver::ApiServer api;
    kube::Client client;
    Console console;
    std::unique_ptr<RunSession> session;

  private:
    Task<int> drive(std::function<Task<void>(RunSession&, kube::Client&)> play) {
        (void)co_await api.start();
        for (json::value& definition : jobs::custom_resource_definitions(jobs::all_kinds()))
            (void)co_await client.create(kube::types::kCustomResourceDefinitions, {},
                                         std::move(definition));
        TaskGroup tasks(context.get_executor());
        if (play) tasks.spawn("play", play(*session, client));
        int status = co_await session->run();
        co_await tasks.stop();
        co_await api.stop();
        co_return status;
    }
};

constexpr std::string_view kPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ml}\n"
    "spec: {restartPolicy: Never, containers: [{name: c, image: x, command: [x]}]}\n";

/// Waits until the pod is there, then gives it a status.
Task<void> set_status(kube::Client& client, Clock& clock, std::string status) {
    for (;;) {
        co_await clock.sleep_for(std::chrono::milliseconds(10));
        auto pod = co_await client.get(kube::types::kPods, "ml", "p");
        if (!pod) continue;
        json::value changed = kube::copy_of(**pod);
        changed.get_object()["status"] = json::parse(status);
        (void)co_await client.update(kube::types::kPods, "ml", "p", std::move(changed), "status");
        co_return;
    }
}

TEST_F(RunSessionTest, EndsWithTheContainersStatus) {
    auto play = [this](RunSession&, kube::Client& api_client) {
        return set_status(
            api_client, clock,
            R"({"phase":"Failed","containerStatuses":[{"name":"c","ready":false,"restartCount":0,"image":"x",
                              "imageID":"","state":{"terminated":{"exitCode":4,"reason":"Error"}}}]})");
    };
    EXPECT_EQ(run(std::string(kPod), {}, play), 4);
    EXPECT_THAT(shown(), HasSubstr("muster: pod p failed: it exited with code 4\n"));
    EXPECT_THAT(shown(), HasSubstr("muster: Pod ml/p failed after "));
    EXPECT_THAT(shown(),
                HasSubstr("muster:   first to fail: pod p, container c exited with code 4\n"));
}

/// A pod that has failed twenty times in a row, and succeeds after an hour.
Task<void> fail_for_an_hour(kube::Client& client, Clock& clock) {
    co_await set_status(
        client, clock,
        R"({"phase":"Running","containerStatuses":[{"name":"c","ready":false,"restartCount":19,"image":"x",
            "imageID":"","state":{"waiting":{"reason":"CrashLoopBackOff"}},
            "lastState":{"terminated":{"exitCode":4,"reason":"Error"}}}]})");
    co_await clock.sleep_for(std::chrono::hours(1));
    co_await set_status(client, clock, R"({"phase":"Succeeded"})");
}

TEST_F(RunSessionTest, RestartsThatLeadNowhereEndIt) {
    auto play = [this](RunSession&, kube::Client& api_client) {
        return fail_for_an_hour(api_client, clock);
    };
    EXPECT_EQ(run(std::string(kPod), {.logs_dir = {}, .timeout = std::chrono::hours(2)}, play), 4);
    EXPECT_LT(clock.now().time_since_epoch(), std::chrono::minutes(2));
    EXPECT_THAT(shown(), HasSubstr("container c exited with code 4, 20 times in a row"));
    EXPECT_THAT(shown(), HasSubstr("muster: restarts lead nowhere: deleting the jobs"));
    EXPECT_THAT(shown(), HasSubstr("muster: Pod ml/p failed after "));
}

TEST_F(RunSessionTest, WhatGoesWithAHopelessPodIsInterruptedAndDecidesNothing) {
    constexpr std::string_view kOther =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ml}\n"
        "spec: {restartPolicy: Never, containers: [{name: c, image: x, command: [x]}]}\n---\n";
    auto play = [this](RunSession&, kube::Client& api_client) {
        return fail_for_an_hour(api_client, clock);
    };
    EXPECT_EQ(run(std::string(kOther) + std::string(kPod),
                  {.logs_dir = {}, .timeout = std::chrono::hours(2)}, play),
              4);
    EXPECT_THAT(shown(), HasSubstr("muster: Pod ml/a interrupted after "));
    EXPECT_THAT(shown(), HasSubstr("muster: Pod ml/p failed after "));
}

TEST_F(RunSessionTest, OrAreLetContinue) {
    auto play = [this](RunSession&, kube::Client& api_client) {
        return fail_for_an_hour(api_client, clock);
    };
    EXPECT_EQ(run(std::string(kPod), {.logs_dir = {}, .timeout = {}, .give_up_after = 0}, play), 0);
    EXPECT_THAT(shown(), Not(HasSubstr("times in a row")));
}

TEST_F(RunSessionTest, OnAClusterTheyAreOnlyTold) {
    auto play = [this](RunSession&, kube::Client& api_client) {
        return fail_for_an_hour(api_client, clock);
    };
    EXPECT_EQ(
        run(std::string(kPod) + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ml}\n",
            {.logs_dir = {}, .timeout = {}, .on_cluster = true}, play),
        0);
    EXPECT_THAT(shown(), HasSubstr("20 times in a row"));
    EXPECT_THAT(shown(), Not(HasSubstr("lead nowhere")));
}

TEST_F(RunSessionTest, ASuccessIsZeroAndTheObjectsAreCollected) {
    auto play = [this](RunSession&, kube::Client& api_client) {
        return set_status(api_client, clock, R"({"phase":"Succeeded"})");
    };
    EXPECT_EQ(
        run(std::string(kPod), {.logs_dir = {}, .timeout = {}, .collect_objects = true}, play), 0);
    ASSERT_EQ(session->final_objects().size(), 1U);
    EXPECT_EQ(session->final_objects()[0].at_pointer("/status/phase"), json::value("Succeeded"));
}

TEST_F(RunSessionTest, TimeoutDeletesWhatWasPosted) {
    EXPECT_EQ(run(std::string(kPod),
                  {.logs_dir = {}, .timeout = std::chrono::seconds(5), .collect_objects = true}),
              124);
    EXPECT_THAT(session->final_objects(), IsEmpty());
    EXPECT_THAT(shown(), HasSubstr("muster: Pod ml/p timed out after "));
    EXPECT_GE(clock.now().time_since_epoch(), std::chrono::seconds(5));
    EXPECT_LT(clock.now().time_since_epoch(), std::chrono::minutes(2));
}

/// On a terminal.
class LiveRunSessionTest : public RunSessionTest {
  public:
    LiveRunSessionTest() : RunSessionTest(true) {}
};

TEST_F(LiveRunSessionTest, TheProgressLineBeginsAgainAfterAFault) {
    const TaskFault fault("progress");
    EXPECT_EQ(run(std::string(kPod), {.logs_dir = {}, .timeout = std::chrono::seconds(5)}), 124);
    EXPECT_EQ(fault.hits(), 3u) << "after 0, 1 and 3 s";
}

TEST_F(RunSessionTest, InterruptDeletesWhatWasPosted) {
    auto play = [this](RunSession& running, kube::Client&) -> Task<void> {
        auto interrupt = [](RunSession& target, Clock& time) -> Task<void> {
            co_await time.sleep_for(std::chrono::seconds(1));
            target.stop(RunSession::Stop::kInterrupt);
        };
        return interrupt(running, clock);
    };
    EXPECT_EQ(
        run(std::string(kPod), {.logs_dir = {}, .timeout = {}, .collect_objects = true}, play),
        130);
    EXPECT_THAT(session->final_objects(), IsEmpty());
}

const kube::ResourceType kJobs = {"kubeflow.org", "v1", "pytorchjobs", "PyTorchJob"};

std::string job_that(std::string_view policy) {
    return fmt::format(
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {{name: digits, namespace: ml}}\n"
        "spec: {{runPolicy: {{{}}}, pytorchReplicaSpecs: {{Worker: {{replicas: 1, "
        "restartPolicy: Never, template: {{spec: {{containers: [{{name: pytorch, image: x, "
        "command: [x]}}]}}}}}}}}}}\n",
        policy);
}

Task<void> write_status(kube::Client& client, kube::ResourceType type, std::string name,
                        std::string status) {
    auto object = co_await client.get(type, "ml", name);
    EXPECT_TRUE(object) << name;
    if (!object) co_return;
    json::value changed = kube::copy_of(**object);
    changed.get_object()["status"] = json::parse(status);
    const auto written = co_await client.update(type, "ml", name, std::move(changed), "status");
    EXPECT_TRUE(written) << name;
}

/// Makes a pod of the job that runs, and lets the job succeed.
Task<void> outlive_job(kube::Client& client, Clock& clock, std::string replica_type) {
    std::string uid;
    while (uid.empty()) {
        co_await clock.sleep_for(std::chrono::milliseconds(10));
        if (auto job = co_await client.get(kJobs, "ml", "digits"))
            uid = kube::uid_of((*job)->get_object());
    }
    json::value pod = json::parse(fmt::format(
        R"({{"metadata":{{"name":"digits-worker-0","labels":{{
             "training.kubeflow.org/job-name":"digits","training.kubeflow.org/replica-type":"{}"}},
           "ownerReferences":[{{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob",
             "name":"digits","uid":"{}","controller":true}}]}},
           "spec":{{"containers":[{{"name":"pytorch","image":"x"}}]}}}})",
        replica_type, uid));
    const auto made = co_await client.create(kube::types::kPods, "ml", std::move(pod));
    EXPECT_TRUE(made);
    co_await write_status(client, kube::types::kPods, "digits-worker-0", R"({"phase":"Running"})");
    co_await write_status(
        client, kJobs, "digits",
        R"({"conditions":[{"type":"Succeeded","status":"True","reason":"R","message":"m"}]})");
}

Task<void> finish_after_an_hour(kube::Client& client, Clock& clock) {
    co_await outlive_job(client, clock, "worker");
    co_await clock.sleep_for(std::chrono::hours(1));
    co_await write_status(client, kube::types::kPods, "digits-worker-0",
                          R"({"phase":"Succeeded"})");
}

TEST_F(RunSessionTest, PodsThatTheManifestKeepsFinishAfterTheirJob) {
    auto play = [this](RunSession&, kube::Client& api_client) {
        return finish_after_an_hour(api_client, clock);
    };
    EXPECT_EQ(run(job_that("cleanPodPolicy: None"), {}, play), 0);
    EXPECT_GE(clock.now().time_since_epoch(), std::chrono::hours(1));
    EXPECT_THAT(shown(), HasSubstr("muster: waiting for digits-worker-0: cleanPodPolicy: None lets "
                                   "pods finish after their job; Ctrl-C ends them\n"));
    EXPECT_THAT(shown(), HasSubstr("muster: pod digits-worker-0 finished\n"));
    EXPECT_THAT(shown(), HasSubstr("muster: PyTorchJob ml/digits succeeded after 0.0"))
        << "the job's time, and not that of its pods";
}

TEST_F(RunSessionTest, PodsThatTheManifestSaysNothingOfAreNotWaitedFor) {
    auto play = [this](RunSession&, kube::Client& api_client) {
        return outlive_job(api_client, clock, "worker");
    };
    EXPECT_EQ(run(job_that(""), {}, play), 0);
    EXPECT_LT(clock.now().time_since_epoch(), std::chrono::minutes(1));
    EXPECT_THAT(shown(), Not(HasSubstr("waiting for")));
}

TEST_F(RunSessionTest, ParameterServersAreNotWaitedFor) {
    auto play = [this](RunSession&, kube::Client& api_client) {
        return outlive_job(api_client, clock, "ps");
    };
    EXPECT_EQ(run(job_that("cleanPodPolicy: None"), {}, play), 0);
    EXPECT_LT(clock.now().time_since_epoch(), std::chrono::minutes(1));
    EXPECT_THAT(shown(), Not(HasSubstr("waiting for")));
}

TEST_F(RunSessionTest, CtrlCEndsPodsThatOutliveTheirJob) {
    auto interrupt = [](RunSession& running, kube::Client& api_client, Clock& time) -> Task<void> {
        co_await outlive_job(api_client, time, "worker");
        co_await time.sleep_for(std::chrono::minutes(1));
        running.stop(RunSession::Stop::kInterrupt);
    };
    auto play = [&](RunSession& running, kube::Client& api_client) {
        return interrupt(running, api_client, clock);
    };
    EXPECT_EQ(run(job_that("cleanPodPolicy: None"), {}, play), 130);
    EXPECT_GE(clock.now().time_since_epoch(), std::chrono::minutes(1));
    EXPECT_LT(clock.now().time_since_epoch(), std::chrono::minutes(5));
    EXPECT_THAT(shown(), HasSubstr("muster: PyTorchJob ml/digits succeeded after 0.0"));
}

TEST_F(RunSessionTest, TheTimeLimitEndsPodsThatOutliveTheirJob) {
    auto play = [this](RunSession&, kube::Client& api_client) {
        return outlive_job(api_client, clock, "worker");
    };
    const RunSession::Options limited{.logs_dir = {}, .timeout = std::chrono::minutes(1)};
    EXPECT_EQ(run(job_that("cleanPodPolicy: None"), limited, play), 124);
    EXPECT_LT(clock.now().time_since_epoch(), std::chrono::minutes(5));
    EXPECT_THAT(shown(), HasSubstr("muster: the time is up: "));
}

TEST_F(RunSessionTest, WhatTheApiRefusesStartsNothing) {
    // The check knows the rules of each object, the API knows what there is.
    std::string manifest(kPod);
    manifest +=
        "---\napiVersion: v1\nkind: Service\nmetadata: {name: q}\n"
        "spec: {clusterIP: 1.2.3.4, ports: [{port: 80}]}\n";
    EXPECT_EQ(run(manifest,
                  {.logs_dir = {}, .timeout = std::chrono::seconds(5), .collect_objects = false}),
              2);
    ASSERT_FALSE(session->problems().empty());
    EXPECT_THAT(format(session->problems()[0]), HasSubstr("m.yaml:9:1: error: spec.clusterIPs: "));
}

}  // namespace
}  // namespace muster::cli::run_session_test
