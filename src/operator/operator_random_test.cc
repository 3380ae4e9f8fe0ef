#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/fault.h"
#include "base/test_seeds.h"
#include "operator/internal/world_fixture.h"

namespace muster::operators::operator_random_test {
namespace {

using namespace std::chrono_literals;

/// One random life of one job: a node that runs, kills and loses pods, a user who meddles, an API
/// that loses requests and answers and ends watches, an operator that is replaced. Ends with
/// everything behaving, and then the job must end and the world become quiet.
class RandomLife {
  public:
    explicit RandomLife(std::uint64_t seed) : rng_(seed), world_(seed) {
        sketch_ = {.name = "demo",
                   .masters = rng_.chance(0.7) ? 1 : -1,
                   .workers = 1 + static_cast<int>(rng_.below(4)),
                   .policy = pick({"Always", "OnFailure", "Never", "ExitCode"}),
                   .clean = pick({"None", "Running", "All"}),
                   .suspend = rng_.chance(0.1)};
        world_.transport.failure_probability = rng_.chance(0.5) ? 0 : rng_.unit() * 0.3;
        if (rng_.chance(0.5)) world_.transport.longest_delay = 20ms;
        if (rng_.chance(0.5)) faults_.emplace(seed, 0.7, 0.05);
    }

    /// What happened, for comparing two runs of one seed.
    std::string run() {
        world_.start_operator();
        world_.create_job(sketch_);
        for (int step = 0; step < 40 && !::testing::Test::HasFailure(); ++step) {
            act();
            world_.run_for(Duration(static_cast<Duration::rep>(rng_.below(60'000'000))));
            check();
        }
        finish();
        return trace_;
    }

  private:
    std::string pick(std::initializer_list<const char*> choices) {
        return *(choices.begin() + rng_.below(choices.size()));
    }

    void act() {
        const double dice = rng_.unit();
        if (dice < 0.55) {
            move_a_pod();
        } else if (dice < 0.75) {
            world_.reap();
        } else if (dice < 0.82) {
            if (auto pod = any_pod()) world_.delete_pod(*pod);
        } else if (dice < 0.86) {
            const auto services = world_.services();
            if (!services.empty()) world_.delete_service(services[rng_.below(services.size())]);
        } else if (dice < 0.91) {
            world_.stop_operator();
            world_.start_operator();
        } else if (dice < 0.95) {
            edit([this](json::object& spec) {
                spec["runPolicy"].as_object()["suspend"] = rng_.chance(0.5);
            });
        } else {
            edit([this](json::object& spec) {
                spec["pytorchReplicaSpecs"].as_object()["Worker"].as_object()["replicas"] =
                    1 + rng_.below(4);
            });
        }
    }

    void edit(const std::function<void(json::object&)>& change) { world_.edit_job("demo", change); }

    std::optional<std::string> any_pod() {
        const auto pods = world_.pods();
        if (pods.empty()) return std::nullopt;
        return pods[rng_.below(pods.size())];
    }

    std::string phase_of(const std::string& pod) {
        auto object = world_.object(kube::types::kPods, pod);
        if (!object) return {};
        return std::string(object->at("status").at("phase").as_string());
    }

    void move_a_pod() {
        auto pod = any_pod();
        if (!pod) return;
        const std::string phase = phase_of(*pod);
        if (phase == "Pending") {
            world_.set_phase(*pod, "Running");
        } else if (phase == "Running" && rng_.chance(0.4)) {
            const std::string end = pick({"ok", "error", "killed", "evicted"});
            if (end == "ok") world_.set_phase(*pod, "Succeeded", 0);
            if (end == "error") world_.set_phase(*pod, "Failed", 1);
            if (end == "killed") world_.set_phase(*pod, "Failed", 137);
            if (end == "evicted") world_.set_phase(*pod, "Failed");
        }
    }

    void check() {
        const jobs::JobStatus status = world_.status("demo");
        const bool finished = status.finished();
        EXPECT_FALSE(status.is("Succeeded") && status.is("Failed"));
        EXPECT_FALSE(status.is("Running") && status.is("Restarting"));
        EXPECT_FALSE(status.is("Running") && finished);
        EXPECT_EQ(finished, !status.completion_time.empty());
        if (end_) {
            EXPECT_EQ(status.conditions, end_->conditions) << "a terminal state changed";
            EXPECT_EQ(status.completion_time, end_->completion_time);
            EXPECT_EQ(status.replica_statuses, end_->replica_statuses);
        } else if (finished) {
            end_ = status;
        }
        std::set<std::string> replicas;
        for (const std::string& name : world_.pods()) {
            auto pod = world_.object(kube::types::kPods, name);
            const json::value& metadata = pod->at("metadata");
            EXPECT_EQ(metadata.at("ownerReferences").as_array().size(), 1u);
            if (metadata.as_object().contains("deletionTimestamp")) continue;
            const json::value& labels = metadata.at("labels");
            EXPECT_TRUE(
                replicas
                    .insert(fmt::format(
                        "{} {}",
                        labels.at("training.kubeflow.org/replica-type").as_string().c_str(),
                        labels.at("training.kubeflow.org/replica-index").as_string().c_str()))
                    .second)
                << "two live pods for one replica";
        }
        for (const std::string& condition : summary(status)) trace_ += condition + " ";
        trace_ += fmt::format("{} pods {} writes\n", world_.pods().size(), world_.transport.writes);
    }

    void finish() {
        world_.transport.failure_probability = 0;
        world_.transport.longest_delay = {};
        faults_.reset();
        edit([](json::object& spec) { spec["runPolicy"].as_object()["suspend"] = false; });
        for (int round = 0; round < 20 && !end_; ++round) {
            world_.reap();
            world_.run_for(65s);  // past the longest back-off
            for (const std::string& pod : world_.pods()) {
                const std::string phase = phase_of(pod);
                if (phase == "Pending" || phase == "Running") world_.set_phase(pod, "Succeeded", 0);
            }
            world_.settle();
            check();
        }
        EXPECT_TRUE(end_) << "the job never ended:\n" << trace_;
        world_.run_for(10min);
        world_.reap();
        world_.run_for(10min);
        check();
        const int writes = world_.transport.writes;
        world_.run_for(1h);
        EXPECT_EQ(world_.transport.writes, writes) << "a quiet world made writes";
        if (sketch_.clean == "All") {
            EXPECT_EQ(world_.pods().size(), 0u);
            EXPECT_EQ(world_.services().size(), 0u);
        }
    }

    Rng rng_;
    World world_;
    JobSketch sketch_;
    std::optional<FaultPlan> faults_;
    std::optional<jobs::JobStatus> end_;
    std::string trace_;
};

TEST(OperatorRandom, EveryLifeKeepsTheRules) {
    for (const std::uint64_t seed : seeds_of_this_run(300, 20)) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        RandomLife(seed).run();
        if (HasFailure()) break;
    }
}

TEST(OperatorRandom, EqualSeedsGiveEqualLives) {
    for (std::uint64_t seed : {3u, 17u, 40u})
        EXPECT_EQ(RandomLife(seed).run(), RandomLife(seed).run());
}

}  // namespace
}  // namespace muster::operators::operator_random_test
