#include "cli/internal/run/run_watcher.h"

#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "apiserver/api_server.h"
#include "base/time/sim_clock.h"
#include "jobs/kind.h"
#include "kube/values/document.h"
#include "kube/values/json_access.h"

namespace muster::cli::run_watcher_test {
namespace {

using testing::ElementsAre;

constexpr std::string_view kObjects = R"(
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: digits, namespace: default}
spec: {pytorchReplicaSpecs: {Worker: {template: {spec: {containers: [{name: pytorch, image: x, command: [x]}]}}}}}
---
apiVersion: v1
kind: Pod
metadata: {name: alone, namespace: default}
spec: {containers: [{name: c, image: x, command: [x]}]}
)";

class RunWatcherTest : public testing::Test {
  public:
    RunWatcherTest()
        : api(context.get_executor(), clock, rng, store::make_memory_store()), client(api) {}

    /// Makes both objects and deletes them; only then the watcher is told that they are ours, as when
    /// the answers to their creation are late.
    Task<void> play() {
        (void)co_await api.start();
        for (json::value& definition : jobs::custom_resource_definitions(jobs::all_kinds()))
            (void)co_await client.create(kube::types::kCustomResourceDefinitions, {},
                                         std::move(definition));
        manifest::CheckResult checked =
            manifest::check_documents(manifest::read_manifest(kObjects, "m.yaml").documents, {});
        RunWatcher watcher(client, clock, rng, checked.objects,
                           {.job =
                                [&](const JobView* before, const JobView* after) {
                                    if (after == nullptr) told.push_back("gone: " + before->name);
                                },
                            .pod =
                                [&](const PodView* before, const PodView* after) {
                                    if (after == nullptr) told.push_back("gone: " + before->name);
                                },
                            .event = [](const EventView*, const EventView&) {}});
        TaskGroup tasks(context.get_executor());
        watcher.start(tasks);
        EXPECT_TRUE(co_await watcher.wait_settled());
        std::vector<std::string> uids;
        for (const manifest::CheckedObject& object : checked.objects) {
            auto made = co_await client.create(object.type, "default", object.document.object);
            EXPECT_TRUE(made);
            if (!made) continue;
            uids.emplace_back(kube::uid_of(made->object->get_object()));
            kube::DeleteOptions at_once;
            at_once.grace_period_seconds = 0;
            EXPECT_TRUE(co_await client.remove(object.type, "default", object.name, at_once));
        }
        co_await clock.sleep_for(std::chrono::seconds(1));
        EXPECT_THAT(told, ElementsAre());
        for (const std::string& uid : uids) watcher.add(uid);
        co_await tasks.stop();
        co_await api.stop();
    }

    asio::io_context context;
    SimClock clock;
    Rng rng{1};
    apiserver::ApiServer api;
    kube::Client client;
    std::vector<std::string> told;
};

TEST_F(RunWatcherTest, WhatIsGoneBeforeItIsKnownToBeOursIsTold) {
    asio::co_spawn(context, play(), [](std::exception_ptr thrown) {
        if (thrown) std::rethrow_exception(thrown);
    });
    run_simulation(context, clock);
    EXPECT_THAT(told, ElementsAre("gone: digits", "gone: alone"));
}

}  // namespace
}  // namespace muster::cli::run_watcher_test
