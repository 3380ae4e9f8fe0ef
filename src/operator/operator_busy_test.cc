#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>

#include "operator/internal/world_fixture.h"

// Many replicas, many jobs.

namespace muster::operators::operator_busy_test {
namespace {

using ::testing::SizeIs;
using namespace std::chrono_literals;

/// What reaches the API, in its order.
class BusyTest : public ::testing::Test {
  protected:
    BusyTest() {
        world.start_operator();
        world.transport.before_write = [this](const kube::Request& request) {
            if (request.path.find("/events") != std::string::npos) return;
            ++requests;
            if (on_request) on_request(request);
        };
    }
    void create_soon(JobSketch sketch) {
        auto create = [](World& w, JobSketch wanted) -> Task<void> {
            auto made = co_await w.client.create(pytorch().resource, "default",
                                                 json::value(job_object(wanted)));
            EXPECT_TRUE(made.has_value());
        };
        asio::co_spawn(world.context, create(world, std::move(sketch)), [](std::exception_ptr) {});
    }
    static bool makes_pod(const kube::Request& request, std::string_view name) {
        return request.method == kube::Method::kPost && request.path.ends_with("/pods") &&
               request.body->at("metadata").at("name").as_string() == name;
    }
    static bool says(const kube::Request& request, std::string_view condition) {
        if (!request.path.ends_with("/status")) return false;
        const json::array& all = request.body->at("status").at("conditions").as_array();
        return std::string_view(all.back().at("type").as_string()) == condition;
    }

    World world;
    int requests = 0;
    std::function<void(const kube::Request&)> on_request;
};

// With the Go operator a job of one pod that came a second after one of 1,000 waited for 98.8 s.
TEST_F(BusyTest, ASmallJobDoesNotWaitForALargeOne) {
    int created = 0;
    int served = 0;
    on_request = [&](const kube::Request& request) {
        if (requests == 100) {
            created = requests;
            create_soon({.name = "small", .workers = -1});
        }
        if (makes_pod(request, "small-master-0")) served = requests;
    };
    world.transport.longest_delay = 5ms;
    world.create_job({.workers = 1'000});
    world.run_for(2s);
    EXPECT_EQ(created, 100);
    EXPECT_GT(served, 0);
    EXPECT_LE(served - created, 3 * 32) << "the requests that were in flight, and a few";
    EXPECT_THAT(world.pods(), SizeIs(1'002));
}

// Nor for more than there are workers: a reconciliation ends soon when others wait for their turn.
TEST_F(BusyTest, ASmallJobDoesNotWaitForManyLargeOnes) {
    Instant created;
    std::optional<Duration> waited;
    on_request = [&](const kube::Request& request) {
        if (requests == 500) {
            created = world.clock.now();
            create_soon({.name = "small", .workers = -1});
        }
        if (makes_pod(request, "small-master-0")) waited = world.clock.now() - created;
    };
    world.transport.longest_delay = 50ms;
    for (int i = 0; i < 6; ++i)
        world.create_job({.name = fmt::format("large-{}", i), .workers = 400});
    world.run_for(1min);
    ASSERT_TRUE(waited);
    EXPECT_LE(*waited, 500ms) << "a look at each reconciliation that lasts, and what was in flight";
    EXPECT_GT(requests, 2 * 6 * 400);
}

// The Go operator reported it 50 s after all pods ran, as it writes the status last.
TEST_F(BusyTest, RunningIsToldWhileOtherPodsAreStillMade) {
    Instant ran;
    std::optional<Duration> late;
    int told = 0;
    int last_pod = 0;
    Instant last_creation;
    Duration longest_pause{};
    auto run_master = [&ran](World& w) -> Task<void> {
        json::object binding{{"apiVersion", "v1"},
                             {"kind", "Binding"},
                             {"metadata", json::object{{"name", "demo-master-0"}}},
                             {"target", json::object{{"kind", "Node"}, {"name", "node-1"}}}};
        auto bound = co_await w.client.create_subresource(
            kube::types::kPods, "default", "demo-master-0", "binding", std::move(binding));
        EXPECT_TRUE(bound.has_value());
        json::object status{{"status", json::object{{"phase", "Running"}}}};
        auto patched =
            co_await w.client.patch(kube::types::kPods, "default", "demo-master-0",
                                    kube::ContentType::kMergePatch, std::move(status), "status");
        EXPECT_TRUE(patched.has_value());
        ran = w.clock.now();
    };
    on_request = [&](const kube::Request& request) {
        if (requests == 100)
            asio::co_spawn(world.context, run_master(world), [](std::exception_ptr) {});
        if (told == 0 && says(request, "Running")) {
            told = requests;
            late = world.clock.now() - ran;
        }
        if (request.path.ends_with("/pods")) {
            last_pod = requests;
            if (requests > 100)
                longest_pause = std::max(longest_pause, world.clock.now() - last_creation);
            last_creation = world.clock.now();
        }
    };
    world.transport.longest_delay = 50ms;
    world.create_job({.workers = 1'000});
    world.run_for(10s);
    ASSERT_TRUE(late);
    EXPECT_LE(*late, 200ms);
    EXPECT_LT(told, last_pod - 500);
    EXPECT_LE(longest_pause, 20ms) << "no pod waits for those before it: 32 are made at a time";
}

// SIGTERM in the middle of its work ends the Go operator in a panic.
TEST_F(BusyTest, AnOperatorMayStopInTheMiddleOfItsWork) {
    world.transport.longest_delay = 5ms;
    world.create_job({.workers = 300});
    for (int stop = 0; stop < 5; ++stop) {
        world.run_for(7ms);
        world.stop_operator();
        EXPECT_LT(world.pods().size(), 301u);
        const int before = requests;
        world.run_for(1s);
        EXPECT_EQ(requests, before) << "nothing is sent after its end";
        world.start_operator();
    }
    world.transport.longest_delay = {};
    world.run_for(1min);
    EXPECT_THAT(world.pods(), SizeIs(301));
    EXPECT_THAT(world.services(), SizeIs(301));
}

TEST_F(BusyTest, AnOperatorMayStopBeforeItHasBegun) {
    world.create_job({});
    world.restart_operator();
    world.restart_operator();
    world.settle();
    EXPECT_THAT(world.pods(), SizeIs(3));
}

}  // namespace
}  // namespace muster::operators::operator_busy_test
