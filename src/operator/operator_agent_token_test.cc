#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/array.hpp>

#include "base/test_seeds.h"
#include "operator/internal/world_fixture.h"

// The token of the agents of a PyTorchJob, through the embedded API.

namespace muster::operators::operator_agent_token_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr const char* kToken = "demo-muster-token";

/// The job "demo" of one master and two workers, whose commands are as given.
class Agents {
  public:
    explicit Agents(bool tokens = true, std::uint64_t seed = 1)
        : w(seed, {.namespace_ = {}, .platform = {.agent_tokens = tokens}}) {}

    void create(const json::array& command = {"muster-run", "train.py"}) {
        json::object job = job_object({});
        for (const char* type : {"Master", "Worker"})
            job["spec"]
                .at_pointer(fmt::format("/pytorchReplicaSpecs/{}/template/spec/containers/0", type))
                .as_object()["command"] = command;
        auto made = w.wait(w.client.create(pytorch().resource, "default", std::move(job)));
        ASSERT_TRUE(made.has_value()) << made.error().message();
        w.settle();
    }
    std::optional<json::value> secret() { return w.object(kube::types::kSecrets, kToken); }
    void remove_secret() {
        ASSERT_TRUE(w.wait(w.client.remove(kube::types::kSecrets, "default", kToken)).has_value());
        w.run_for(1s);
    }
    /// The Secret to which a pod's variable refers; "" without one.
    std::string token_of(const std::string& pod) {
        const auto found = w.object(kube::types::kPods, pod);
        if (!found) return "no pod";
        for (const json::value& variable : found->at_pointer("/spec/containers/0/env").as_array())
            if (variable.at("name") == "MUSTER_TOKEN")
                return std::string(variable.at_pointer("/valueFrom/secretKeyRef/name").as_string());
        return {};
    }

    World w;
};

TEST(AgentTokens, AreMadeBeforeTheFirstPod) {
    Agents job;
    std::vector<std::string> order;
    job.w.transport.before_write = [&](const kube::Request& request) {
        if (request.path.ends_with("/secrets")) order.emplace_back("secret");
        if (request.path.ends_with("/pods")) order.emplace_back("pod");
    };
    job.w.start_operator();
    job.create();
    EXPECT_THAT(order, ElementsAre("secret", "pod", "pod", "pod"));
    const auto secret = job.secret();
    ASSERT_TRUE(secret.has_value());
    EXPECT_EQ(secret->at("immutable"), true);
    EXPECT_THAT(secret->at_pointer("/data/token").as_string(), SizeIs(88)) << "64 digits";
    const json::value& owner = secret->at_pointer("/metadata/ownerReferences/0");
    EXPECT_EQ(owner.at("kind"), "PyTorchJob");
    EXPECT_EQ(owner.at("name"), "demo");
    EXPECT_EQ(owner.at("controller"), true);
    EXPECT_EQ(secret->at_pointer("/metadata/labels/training.kubeflow.org~1job-name"), "demo");
    for (const char* pod : {"demo-master-0", "demo-worker-0", "demo-worker-1"})
        EXPECT_EQ(job.token_of(pod), kToken);
    EXPECT_THAT(job.w.events("demo"), Contains(HasSubstr("Created Secret: demo-muster-token")));
}

TEST(AgentTokens, AreNotMadeForJobsWithoutAgents) {
    std::vector<json::value> variables;
    for (const bool tokens : {true, false}) {
        Agents job(tokens);
        job.w.start_operator();
        job.create({"torchrun", "train.py"});
        EXPECT_THAT(job.w.pods(), SizeIs(3));
        EXPECT_FALSE(job.secret().has_value());
        variables.push_back(job.w.object(kube::types::kPods, "demo-worker-1")
                                ->at_pointer("/spec/containers/0/env"));
    }
    EXPECT_EQ(variables[0], variables[1]) << "the pods are those of any operator";
}

TEST(AgentTokens, AreNotMadeWhereTheyWereNotChosen) {
    Agents job(false);
    job.w.start_operator();
    job.create();
    EXPECT_THAT(job.w.pods(), SizeIs(3));
    EXPECT_FALSE(job.secret().has_value());
    EXPECT_EQ(job.token_of("demo-worker-0"), "");
}

TEST(AgentTokens, AreKeptByTheNextOperator) {
    Agents job;
    job.w.start_operator();
    job.create();
    const auto secret = job.secret();
    job.w.set_all("Running");
    job.w.settle();
    const int before = job.w.transport.writes;
    job.w.restart_operator();
    job.w.run_for(1s);
    EXPECT_EQ(job.w.transport.writes, before);
    job.w.force_delete_pod("demo-worker-1");
    job.w.outlast_pause();
    EXPECT_EQ(job.token_of("demo-worker-1"), kToken);
    job.w.scale_workers("demo", 3);
    job.w.settle();
    EXPECT_EQ(job.token_of("demo-worker-2"), kToken);
    EXPECT_EQ(job.secret(), secret);
}

TEST(AgentTokens, AreKeptWhileAJobIsSuspended) {
    Agents job;
    job.w.start_operator();
    job.create();
    const auto secret = job.secret();
    job.w.suspend_job("demo", true);
    job.w.settle();
    job.w.reap();
    job.w.settle();
    EXPECT_THAT(job.w.pods(), IsEmpty());
    job.w.suspend_job("demo", false);
    job.w.settle();
    EXPECT_THAT(job.w.pods(), SizeIs(3));
    EXPECT_EQ(job.secret(), secret);
}

// As of a job that an operator without tokens has begun: its pods know each other by its name.
TEST(AgentTokens, AreNotMadeForPodsThatStartedWithoutThem) {
    Agents job;
    job.w.start_operator();
    job.create();
    job.w.set_all("Running");
    job.w.settle();
    job.remove_secret();
    job.w.restart_operator();
    job.w.force_delete_pod("demo-worker-1");
    job.w.outlast_pause();
    EXPECT_THAT(job.w.pods(), SizeIs(3));
    EXPECT_FALSE(job.secret().has_value());
    // With no pod left there is nothing to fit.
    job.w.suspend_job("demo", true);
    job.w.settle();
    job.w.reap();
    job.w.settle();
    job.w.suspend_job("demo", false);
    job.w.settle();
    EXPECT_THAT(job.w.pods(), SizeIs(3));
    EXPECT_TRUE(job.secret().has_value());
}

TEST(AgentTokens, OfSomebodyElseAreNotUsed) {
    Agents job;
    json::object theirs{{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", kToken}}}};
    ASSERT_TRUE(job.w.wait(job.w.client.create(kube::types::kSecrets, "default", std::move(theirs)))
                    .has_value());
    job.w.start_operator();
    job.create();
    job.w.run_for(5s);
    EXPECT_THAT(job.w.pods(), IsEmpty());
    EXPECT_THAT(job.w.events("demo"),
                Contains(HasSubstr("Secret default/demo-muster-token already exists and has no "
                                   "owner")));
    job.remove_secret();
    job.w.run_for(300s);
    EXPECT_THAT(job.w.pods(), SizeIs(3));
    EXPECT_TRUE(job.secret().has_value());
}

TEST(AgentTokens, GoWithTheirJob) {
    Agents job;
    job.w.start_operator();
    job.create();
    ASSERT_TRUE(job.secret().has_value());
    job.w.delete_job("demo");
    job.w.settle();
    job.w.reap();
    job.w.run_for(5s);
    EXPECT_FALSE(job.secret().has_value());
}

/// Operators die after each number of writes, requests and answers get lost: whatever was made
/// first stays, and no pod is made before it.
TEST(AgentTokens, AreTheSameThroughFaults) {
    for (const std::uint64_t seed : seeds_of_this_run(30, 5)) {
        SCOPED_TRACE(seed);
        Agents job(true, seed);
        job.w.transport.failure_probability = 0.3;
        job.w.transport.longest_delay = 20ms;
        job.w.transport.writes_left = static_cast<int>(seed % 6);
        job.w.start_operator();
        job.create();
        const auto first = job.secret();
        if (!first) {
            EXPECT_THAT(job.w.pods(), IsEmpty());
        }
        job.w.stop_operator();
        job.w.transport.writes_left.reset();
        job.w.start_operator();
        job.w.run_for(300s);
        ASSERT_TRUE(job.secret().has_value());
        if (first) {
            EXPECT_EQ(job.secret(), first);
        }
        const auto made = job.secret();
        for (int round = 0; round < 5; ++round) {
            job.w.set_all("Running");
            job.w.run_for(1s);
            job.w.force_delete_pod("demo-worker-1");
            if (round % 2 == 0) job.w.restart_operator();
            job.w.outlast_pause();
        }
        EXPECT_THAT(job.w.pods(), SizeIs(3));
        EXPECT_EQ(job.token_of("demo-worker-1"), kToken);
        EXPECT_EQ(job.secret(), made);
    }
}

}  // namespace
}  // namespace muster::operators::operator_agent_token_test
