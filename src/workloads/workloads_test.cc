#include "workloads/workloads.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <set>

#include "apiserver/api_server.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/test_loop.h"
#include "kube/client/client.h"
#include "kube/values/document.h"
#include "kube/values/json_access.h"
#include "kube/values/read_json.h"
#include "store/store.h"

namespace muster::workloads::workloads_test {
namespace {

using namespace std::chrono_literals;

const kube::ResourceType kDeploymentType{"apps", "v1", "deployments", "Deployment"};
const kube::ResourceType kSetType{"apps", "v1", "replicasets", "ReplicaSet"};
const kube::ResourceType kCronJobType{"batch", "v1", "cronjobs", "CronJob"};

/// Loses requests and answers of writes.
class LossyTransport final : public kube::Transport {
  public:
    LossyTransport(kube::Transport& real, Clock& clock, Rng& rng)
        : real_(real), clock_(clock), rng_(rng) {}

    Task<Result<kube::Response>> call(kube::Request request) override {
        const bool loses = request.method != kube::Method::kGet && rng_.chance(loss);
        const bool before = rng_.chance(0.5);
        co_await clock_.sleep_for(Duration(static_cast<Duration::rep>(rng_.below(5'000'000))));
        if (loses && before) co_return Error(Code::kUnavailable, "the request was lost");
        auto response = co_await real_.call(std::move(request));
        if (loses) co_return Error(Code::kTimeout, "the answer was lost");
        co_return response;
    }
    Task<Result<std::unique_ptr<kube::WatchStream>>> watch(kube::Request request) override {
        return real_.watch(std::move(request));
    }
    Task<Result<std::unique_ptr<kube::TextStream>>> stream_text(kube::Request request) override {
        return real_.stream_text(std::move(request));
    }

    double loss = 0;

  private:
    kube::Transport& real_;
    Clock& clock_;
    Rng& rng_;
};

/// An API with controllers that are replaced now and then, and a node of which the test decides what
/// it does.
class WorkloadsTest : public ::testing::TestWithParam<std::uint64_t>, protected SimulatedLoop {
  protected:
    WorkloadsTest() {
        log::set_sink([](log::Level, std::string_view) {});
        const auto started = await(api.start());
        EXPECT_TRUE(started.has_value());
        start();
    }
    ~WorkloadsTest() override {
        stop();
        await(api.stop());
        log::set_sink({});
    }

    void start() {
        workloads.emplace(context.get_executor(), transport, clock, rng);
        EXPECT_TRUE(await(workloads->start()).has_value());
    }
    void stop() {
        await(workloads->stop());
        workloads.reset();
    }

    void create(const kube::ResourceType& type, const std::string& text) {
        const auto made = await(client.create(type, "default", kube::read_json(text).value()));
        ASSERT_TRUE(made.has_value()) << made.error().message();
    }
    void patch(const kube::ResourceType& type, const std::string& name, const std::string& text,
               const std::string& subresource = {}) {
        // What it was for may be gone.
        (void)await(client.patch(type, "default", name, kube::ContentType::kMergePatch,
                                 kube::read_json(text).value(), subresource));
    }
    json::object get(const kube::ResourceType& type, const std::string& name) {
        const auto got = await(client.get(type, "default", name));
        return got ? kube::copy_of((*got)->get_object()) : json::object();
    }
    std::vector<json::object> list(const kube::ResourceType& type) {
        kube::ListOptions options;
        options.namespace_ = "default";
        const auto listed = await(client.list(type, std::move(options)));
        std::vector<json::object> found;
        for (const kube::ObjectPtr& item : listed->items)
            found.push_back(kube::copy_of(item->get_object()));
        return found;
    }
    std::int64_t number(const json::object& of, std::string_view key) {
        return kube::int_at(kube::child(of, "status"), key).value_or(0);
    }
    std::string phase(const json::object& pod) {
        return std::string(kube::string_at(kube::child(pod, "status"), "phase"));
    }
    void set_phase(const json::object& pod, std::string_view to) {
        patch(
            kube::types::kPods, std::string(kube::name_of(pod)),
            fmt::format(
                R"({{"status":{{"phase":"{}","conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
                to, to == "Running" ? "True" : "False"),
            "status");
    }
    void delete_pod(const json::object& pod) {
        kube::DeleteOptions options;
        options.grace_period_seconds = 0;
        (void)await(client.remove(kube::types::kPods, "default", std::string(kube::name_of(pod)),
                                  std::move(options)));
    }
    /// The pods that have not ended all run; so until nothing more changes.
    void run_all() {
        for (int i = 0; i < 30; ++i) {
            for (const json::object& pod : list(kube::types::kPods))
                if (phase(pod) == "Pending" && !kube::is_deleting(pod)) set_phase(pod, "Running");
            advance(200ms);
        }
    }

    Rng rng{GetParam()};
    apiserver::ApiServer api{context.get_executor(), clock, rng, store::make_memory_store()};
    kube::Client client{api};
    LossyTransport transport{api, clock, rng};
    std::optional<Workloads> workloads;
};

constexpr const char* kJob = R"({"metadata":{"name":"j"},"spec":{"completions":12,"parallelism":4,
    "backoffLimit":1000,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":
    "i","command":["c"]}]}}}})";
constexpr const char* kDeployment = R"({"metadata":{"name":"d"},"spec":{"replicas":4,"selector":
    {"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":
    [{"name":"c","image":"i","command":["c"]}]}}}})";

TEST_P(WorkloadsTest, AJobCountsEachPodOnceWhateverIsLost) {
    transport.loss = 0.2;
    create(kube::types::kBatchJobs, kJob);
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;
    for (int step = 0; step < 4000 && number(get(kube::types::kBatchJobs, "j"), "succeeded") < 12;
         ++step) {
        advance(Duration(static_cast<Duration::rep>(rng.below(400'000'000))));
        if (rng.chance(0.02)) {
            stop();
            transport.loss = 0;
            start();
            transport.loss = 0.2;
        }
        for (const json::object& pod : list(kube::types::kPods)) {
            if (phase(pod) == "Pending" && rng.chance(0.5)) {
                const bool ends_well = rng.chance(0.6);
                (ends_well ? succeeded : failed) += 1;
                set_phase(pod, ends_well ? "Succeeded" : "Failed");
            } else if (phase(pod) != "Pending" && rng.chance(0.1)) {
                delete_pod(pod);
            }
        }
    }
    transport.loss = 0;
    advance(60s);
    const json::object job = get(kube::types::kBatchJobs, "j");
    EXPECT_EQ(number(job, "succeeded"), succeeded);
    EXPECT_EQ(number(job, "failed"), failed);
    EXPECT_GE(succeeded, 12);
    EXPECT_FALSE(kube::string_at(kube::child(job, "status"), "completionTime").empty());
    for (const json::object& pod : list(kube::types::kPods))
        EXPECT_TRUE(kube::strings_at(kube::metadata_of(pod), "finalizers").empty());
}

constexpr const char* kJobOfIndexes = R"({"metadata":{"name":"j"},"spec":{"completions":6,
    "parallelism":3,"completionMode":"Indexed","backoffLimitPerIndex":2,"template":{"spec":
    {"restartPolicy":"Never","containers":[{"name":"c","image":"i","command":["c"]}]}}}})";

TEST_P(WorkloadsTest, AnIndexHasItsTriesWhateverIsLost) {
    transport.loss = 0.2;
    create(kube::types::kBatchJobs, kJobOfIndexes);
    std::map<std::string, int> failures;
    std::set<std::string> succeeded;
    const auto ended = [&] {
        const json::object job = get(kube::types::kBatchJobs, "j");
        for (const json::object* one : kube::objects_at(kube::child(job, "status"), "conditions"))
            if (kube::string_at(*one, "type") == "Complete" ||
                kube::string_at(*one, "type") == "Failed")
                return true;
        return false;
    };
    for (int step = 0; step < 4000 && !ended(); ++step) {
        advance(Duration(static_cast<Duration::rep>(rng.below(4'000'000'000))));
        if (rng.chance(0.02)) {
            stop();
            transport.loss = 0;
            start();
            transport.loss = 0.2;
        }
        for (const json::object& pod : list(kube::types::kPods)) {
            const json::object& annotations = kube::child(kube::metadata_of(pod), "annotations");
            const std::string index(
                kube::string_at(annotations, "batch.kubernetes.io/job-completion-index"));
            if (phase(pod) == "Pending" && rng.chance(0.5)) {
                EXPECT_EQ(
                    kube::string_at(annotations, "batch.kubernetes.io/job-index-failure-count"),
                    std::to_string(failures[index]))
                    << index;
                const bool ends_well = rng.chance(0.5);
                if (ends_well) succeeded.insert(index);
                if (!ends_well) ++failures[index];
                set_phase(pod, ends_well ? "Succeeded" : "Failed");
            } else if (phase(pod) != "Pending" && rng.chance(0.1)) {
                delete_pod(pod);
            }
        }
    }
    transport.loss = 0;
    advance(60s);
    const json::object job = get(kube::types::kBatchJobs, "j");
    std::vector<std::string> hopeless;
    std::int64_t failed = 0;
    for (const auto& [index, times] : failures) {
        failed += times;
        EXPECT_LE(times, 3) << index;
        if (times == 3) hopeless.push_back(index);
    }
    EXPECT_EQ(succeeded.size() + hopeless.size(), 6u);
    EXPECT_EQ(number(job, "failed"), failed);
    EXPECT_EQ(number(job, "succeeded"), static_cast<std::int64_t>(succeeded.size()));
    EXPECT_EQ(kube::string_at(kube::child(job, "status"), "completionTime").empty(),
              !hopeless.empty());
    for (const json::object& pod : list(kube::types::kPods))
        EXPECT_TRUE(kube::strings_at(kube::metadata_of(pod), "finalizers").empty());
}

TEST_P(WorkloadsTest, PodsOfADeletedJobAreLetGo) {
    create(kube::types::kBatchJobs, kJob);
    advance(1s);
    ASSERT_EQ(list(kube::types::kPods).size(), 4u);
    // While no controller is there.
    stop();
    kube::DeleteOptions options;
    options.propagation = kube::Propagation::kBackground;
    ASSERT_TRUE(await(client.remove(kube::types::kBatchJobs, "default", "j", std::move(options))));
    advance(60s);
    for (const json::object& pod : list(kube::types::kPods)) delete_pod(pod);
    EXPECT_EQ(list(kube::types::kPods).size(), 4u) << "held by their finalizer";
    start();
    advance(5s);
    EXPECT_EQ(list(kube::types::kPods).size(), 0u);
}

TEST_P(WorkloadsTest, ADeploymentComesToRestWhateverIsLost) {
    create(kDeploymentType, kDeployment);
    transport.loss = 0.2;
    for (int round = 0; round < 6; ++round) {
        patch(kDeploymentType, "d",
              fmt::format(R"({{"spec":{{"replicas":{},"template":{{"metadata":{{"annotations":
                  {{"round":"{}"}}}}}}}}}})",
                          2 + rng.below(5), round / 2));
        for (int step = 0; step < 10; ++step) {
            advance(Duration(static_cast<Duration::rep>(rng.below(400'000'000))));
            for (const json::object& pod : list(kube::types::kPods))
                if (phase(pod) == "Pending" && rng.chance(0.5))
                    set_phase(pod, "Running");
                else if (rng.chance(0.05))
                    delete_pod(pod);
        }
        stop();
        transport.loss = 0;
        start();
        transport.loss = 0.2;
    }
    transport.loss = 0;
    advance(120s);
    run_all();
    const json::object deployment = get(kDeploymentType, "d");
    const std::int64_t wanted = kube::int_at(kube::child(deployment, "spec"), "replicas").value();
    EXPECT_EQ(number(deployment, "availableReplicas"), wanted) << json::serialize(deployment);
    EXPECT_EQ(number(deployment, "updatedReplicas"), wanted);
    EXPECT_EQ(number(deployment, "replicas"), wanted);
    std::int64_t in_sets = 0;
    for (const json::object& set : list(kSetType))
        in_sets += kube::int_at(kube::child(set, "spec"), "replicas").value();
    EXPECT_EQ(in_sets, wanted);
    EXPECT_EQ(list(kube::types::kPods).size(), static_cast<std::size_t>(wanted));
}

TEST_P(WorkloadsTest, ACronJobMakesOneJobForEachTime) {
    create(kCronJobType, R"({"metadata":{"name":"c"},"spec":{"schedule":"*/10 * * * *","timeZone":
        "Etc/UTC","jobTemplate":{"spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never",
        "containers":[{"name":"c","image":"i","command":["c"]}]}}}}}})");
    transport.loss = 0.2;
    advance(1h);
    transport.loss = 0;
    advance(5min);
    EXPECT_EQ(list(kube::types::kBatchJobs).size(), 6u);
    EXPECT_EQ(kube::objects_at(kube::child(get(kCronJobType, "c"), "status"), "active").size(), 6u);
    // What was missed is made up for once.
    stop();
    advance(3h);
    start();
    advance(1min);
    EXPECT_EQ(list(kube::types::kBatchJobs).size(), 7u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, WorkloadsTest, ::testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace muster::workloads::workloads_test
