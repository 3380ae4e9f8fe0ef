#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/fault.h"
#include "base/test_seeds.h"
#include "operator/internal/members/members.h"
#include "operator/internal/world_fixture.h"

// Random lives of a job whose ids rise.

namespace muster::operators::operator_rising_lives_test {
namespace {

using namespace std::chrono_literals;

/// One random life: a node that runs, kills and loses pods, a user who scales, an API that loses
/// requests and answers, watches that are late, and an operator that dies between any two requests.
/// Ends with everything behaving; then each rank must have one pod, and the world become quiet.
class RisingLife {
  public:
    explicit RisingLife(std::uint64_t seed)
        : rng_(seed), world_(seed, {.namespace_ = {}, .more_kinds = {&rising()}}) {
        sketch_ = {.masters = -1,
                   .workers = wanted_,
                   .policy = rng_.chance(0.5) ? "Always" : "ExitCode",
                   .backoff_limit = 10'000,
                   .group = rng_.chance(0.2)};
        world_.transport.failure_probability = rng_.chance(0.5) ? 0 : rng_.unit() * 0.3;
        if (rng_.chance(0.5)) world_.transport.longest_delay = 20ms;
        if (rng_.chance(0.3))
            world_.transport.watch_lag = [this](const kube::Request&) {
                return Duration(static_cast<Duration::rep>(lag_.below(300'000'000)));
            };
        if (rng_.chance(0.5)) faults_.emplace(seed, 0.7, 0.05);
        // A pod whose creation got no answer and that no watch has shown yet is unknown: planner.md.
        if (faults_ || world_.transport.failure_probability > 0)
            world_.transport.watch_lag = nullptr;
    }

    void run() {
        world_.start_operator();
        world_.create_job(sketch_);
        for (int step = 0; step < 40 && !::testing::Test::HasFailure(); ++step) {
            act();
            world_.run_for(Duration(static_cast<Duration::rep>(rng_.below(60'000'000))));
            check();
        }
        finish();
    }

  private:
    void act() {
        const double dice = rng_.unit();
        if (dice < 0.55)
            move_a_pod();
        else if (dice < 0.70)
            world_.reap();
        else if (dice < 0.76)
            take_a_pod();
        else if (dice < 0.82)
            crash();
        else if (dice < 0.87)
            suspend(rng_.chance(0.5));
        else
            world_.scale_workers("demo", wanted_ = 1 + static_cast<int>(rng_.below(5)));
    }

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
        } else if (phase == "Running" && rng_.chance(0.5)) {
            ++ended_;
            if (rng_.chance(0.7))
                world_.set_phase(*pod, "Failed", 137);
            else
                world_.set_phase(*pod, "Failed");
        }
    }
    void take_a_pod() {
        auto pod = any_pod();
        if (!pod) return;
        ++ended_;
        if (rng_.chance(0.5))
            world_.delete_pod(*pod);
        else
            world_.force_delete_pod(*pod);
    }
    /// After some of its next writes, of which the next actions are the reason.
    void crash() {
        world_.transport.writes_left = static_cast<int>(rng_.below(6));
        move_a_pod();
        world_.run_for(50ms);
        world_.stop_operator();
        world_.transport.writes_left.reset();
        world_.start_operator();
    }
    void suspend(bool yes) { world_.suspend_job("demo", yes); }

    void check() {
        // Time passes while all this is read: pods that come later may belong to a later status.
        const std::vector<std::string> pods = world_.pods();
        const jobs::JobStatus status = world_.status("demo");
        EXPECT_FALSE(status.finished());
        const auto found = status.members.find("Worker");
        if (found == status.members.end()) return;
        const Members members = Members::read(found->second);
        EXPECT_EQ(members.written(), found->second) << "as it should be written";
        EXPECT_GE(members.next(), next_) << "ids only rise";
        next_ = members.next();
        EXPECT_TRUE(members.takeovers().empty());
        std::map<std::int32_t, int> ranks;
        for (auto id = members.ids().next(0); id >= 0; id = members.ids().next(id + 1)) {
            EXPECT_EQ(++ranks[members.rank_of(id)], 1) << "a rank twice";
            EXPECT_LT(members.rank_of(id), members.size());
        }
        const std::int32_t restarts = world_.restarts("demo");
        EXPECT_GE(restarts, restarts_) << "the count fell";
        restarts_ = restarts;
        std::map<std::int32_t, int> live;
        for (const std::string& name : pods) {
            const auto pod = world_.object(kube::types::kPods, name);
            if (!pod) continue;
            const json::object& metadata = pod->at("metadata").as_object();
            const std::int32_t id = std::stoi(name.substr(name.rfind('-') + 1));
            EXPECT_LT(id, members.next()) << "a pod before its status";
            EXPECT_EQ(world_.rank(name),
                      members.contains(id) ? members.rank_of(id) : world_.rank(name));
            if (metadata.contains("deletionTimestamp")) continue;
            const std::string phase = phase_of(name);
            if (phase == "Failed" || phase == "Succeeded") continue;
            EXPECT_EQ(++live[world_.rank(name)], 1) << "two live pods of a rank";
        }
    }

    void finish() {
        world_.transport.failure_probability = 0;
        world_.transport.longest_delay = {};
        world_.transport.watch_lag = nullptr;
        faults_.reset();
        suspend(false);
        world_.restart_operator();  // its watches were late
        for (int round = 0; round < 12; ++round) {
            world_.reap();
            world_.run_for(65s);
            for (const std::string& pod : world_.pods())
                if (phase_of(pod) == "Pending") world_.set_phase(pod, "Running");
            world_.settle();
            check();
        }
        EXPECT_EQ(world_.pods().size(), static_cast<std::size_t>(wanted_));
        EXPECT_EQ(world_.services().size(), static_cast<std::size_t>(wanted_));
        for (int rank = 0; rank < wanted_; ++rank)
            EXPECT_EQ(world_.workers_of_rank(rank).size(), 1u) << rank;
        EXPECT_EQ(world_.status("demo").replica_statuses["Worker"].active, wanted_);
        // Two failures of a group may be one restart of it.
        if (!sketch_.group) EXPECT_LE(world_.restarts("demo"), ended_);
        const int writes = world_.transport.writes;
        world_.run_for(1h);
        EXPECT_EQ(world_.transport.writes, writes) << "a quiet world made writes";
        for (const std::string& pod : world_.pods()) world_.set_phase(pod, "Succeeded", 0);
        world_.run_for(1min);
        EXPECT_TRUE(world_.status("demo").is("Succeeded"));
    }

    Rng rng_;
    Rng lag_{7};
    int wanted_ = 3;
    World world_;
    JobSketch sketch_;
    std::optional<FaultPlan> faults_;
    std::int32_t ended_ = 0;  ///< pods that failed or were taken away
    std::int32_t next_ = 0;
    std::int32_t restarts_ = 0;
};

TEST(RisingLives, KeepTheRules) {
    for (const std::uint64_t seed : seeds_of_this_run(300, 20)) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        RisingLife(seed).run();
        if (HasFailure()) break;
    }
}

}  // namespace
}  // namespace muster::operators::operator_rising_lives_test
