#include "operator/internal/execution/cascading_deleter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_loop.h"
#include "kube/objects/api_status.h"
#include "kube/values/json_access.h"
#include "operator/internal/job_fixture.h"

namespace muster::operators::cascading_deleter_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const JobUid kJobUid("job-uid");
const std::string kKey = "PyTorchJob/default/demo";

/// Takes deletions and answers as it is told.
class Deletions final : public kube::Transport {
  public:
    Task<Result<kube::Response>> call(kube::Request request) override {
        const json::object& preconditions = request.body->at("preconditions").as_object();
        seen.push_back(request.path.substr(request.path.rfind('/') + 1) + "@" +
                       std::string(kube::string_at(preconditions, "resourceVersion")));
        kube::Response answer;
        answer.status = refusal ? kube::http_status(refusal->code()) : 200;
        answer.body = std::make_shared<const json::value>(
            refusal ? kube::status_from_error(*refusal) : json::value(json::object()));
        co_return answer;
    }
    Task<Result<std::unique_ptr<kube::WatchStream>>> watch(kube::Request) override {
        co_return Error(Code::kInternal, "not asked for here");
    }
    Task<Result<std::unique_ptr<kube::TextStream>>> stream_text(kube::Request) override {
        co_return Error(Code::kInternal, "not asked for here");
    }

    std::vector<std::string> seen;
    std::optional<Error> refusal;
};

class CascadingDeleterTest : public testing::Test, protected SimulatedLoop {
  protected:
    CascadingDeleterTest() {
        job.kind = &pytorch();
        job.namespace_ = "default";
        job.name = "demo";
        job.uid = kJobUid;
    }
    ~CascadingDeleterTest() override { await(tasks.stop()); }

    PodPtr pod(PodSketch sketch, const std::string& version) {
        auto made = std::make_shared<PodRecord>(*make_pod(sketch));
        made->resource_version = version;
        return made;
    }
    void has(const PodPtr& made) { table.apply(nullptr, &made); }
    void has(const ServicePtr& made) { table.apply(nullptr, &made); }

    JobRecord job;
    Table table;
    TaskGroup tasks{context.get_executor()};
    Deletions server;
    kube::Client client{server};
    CascadingDeleter deleter{client, tasks, table, 1};
};

TEST_F(CascadingDeleterTest, PodsGoFirstAndEachIsTheOneThatWeSaw) {
    const std::vector<PodPtr> pods = {pod({.type = "Worker", .index = 0}, "7"),
                                      pod({.type = "Master", .index = 0}, "6"),
                                      pod({.type = "Worker", .index = 1, .deleting = true}, "8")};
    has(make_service("Worker", 0));
    for (const PodPtr& each : pods) has(each);
    deleter.add(kKey, job);
    EXPECT_TRUE(await(deleter.reconcile(kKey)));
    EXPECT_THAT(server.seen, ElementsAre("demo-master-0@6", "demo-worker-0@7"));
    EXPECT_TRUE(await(deleter.reconcile(kKey)));
    EXPECT_EQ(server.seen.size(), 2u) << "asked once";
    for (const PodPtr& each : pods) {
        EXPECT_TRUE(await(deleter.reconcile(kKey)));
        EXPECT_EQ(server.seen.size(), 2u) << "services wait for the last pod";
        table.apply(&each, nullptr);
    }
    EXPECT_TRUE(await(deleter.reconcile(kKey)));
    EXPECT_EQ(server.seen.back(), "demo-worker-0@");
    EXPECT_EQ(server.seen.size(), 3u);
}

TEST_F(CascadingDeleterTest, NobodyElsesJobIsTouched) {
    has(pod({}, "7"));
    EXPECT_TRUE(await(deleter.reconcile(kKey)));
    JobRecord other = job;
    other.uid = JobUid("of another one");
    deleter.add(kKey, other);
    EXPECT_TRUE(await(deleter.reconcile(kKey)));
    EXPECT_THAT(server.seen, IsEmpty());
}

TEST_F(CascadingDeleterTest, WhatChangedSinceIsAskedForAgainAsItIsThen) {
    const PodPtr before = pod({}, "7");
    has(before);
    deleter.add(kKey, job);
    server.refusal = Error(Code::kConflict, "the resourceVersion is another");
    EXPECT_FALSE(await(deleter.reconcile(kKey)));
    server.refusal.reset();
    const PodPtr after = pod({}, "9");
    table.apply(&before, &after);
    EXPECT_TRUE(await(deleter.reconcile(kKey)));
    EXPECT_THAT(server.seen, ElementsAre("demo-worker-0@7", "demo-worker-0@9"));
}

TEST_F(CascadingDeleterTest, WhatIsGoneIsDoneAndWhatFailedIsTriedAgain) {
    has(pod({}, "7"));
    deleter.add(kKey, job);
    server.refusal = Error(Code::kTimeout, "no answer");
    EXPECT_FALSE(await(deleter.reconcile(kKey)));
    server.refusal = Error(Code::kNotFound, "gone");
    EXPECT_TRUE(await(deleter.reconcile(kKey)));
    EXPECT_TRUE(await(deleter.reconcile(kKey)));
    EXPECT_EQ(server.seen.size(), 2u);
}

}  // namespace
}  // namespace muster::operators::cascading_deleter_test
