#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/internal/scaling/scale_world.h"

// What is told of a ScalePlan reaches its status, though a server says once that another was first.

namespace muster::operators::operator_plan_conflict_test {
namespace {

using ::testing::StartsWith;
using namespace std::chrono_literals;

/// Answers the first status of a plan with a conflict, and nothing has changed.
class OneConflict final : public kube::Transport {
  public:
    explicit OneConflict(kube::Transport& real) : real_(real) {}

    Task<Result<kube::Response>> call(kube::Request request) override {
        if (refused || request.method == kube::Method::kGet ||
            !request.path.contains("/scaleplans/") || !request.path.ends_with("/status"))
            return real_.call(std::move(request));
        refused = true;
        return conflict();
    }
    Task<Result<std::unique_ptr<kube::WatchStream>>> watch(kube::Request request) override {
        return real_.watch(std::move(request));
    }
    Task<Result<std::unique_ptr<kube::TextStream>>> stream_text(kube::Request request) override {
        return real_.stream_text(std::move(request));
    }

    bool refused = false;

  private:
    static Task<Result<kube::Response>> conflict() {
        co_return Error(Code::kConflict, "the object has been modified");
    }

    kube::Transport& real_;
};

void stop(World& world, Operator& stopped) {
    bool done = false;
    asio::co_spawn(world.context, stopped.stop(), [&](std::exception_ptr) { done = true; });
    while (!done) {
        world.context.restart();
        world.context.poll();
        if (!done && !world.clock.advance_to_next()) break;
    }
    EXPECT_TRUE(done);
}

TEST(PlanConflict, ThatNoWatchTellsOfIsOvercome) {
    ScaleWorld its;
    its.run_job(2);
    its.world.stop_operator();
    OneConflict transport(its.world.transport);
    Rng rng(3);
    Operator refused(its.world.context.get_executor(), transport, its.world.clock, rng, {});
    ASSERT_TRUE(its.world.wait(refused.start()).has_value());
    its.world.run_for(1min);
    its.plan("p", R"("removePods": [{"type": "worker", "id": 99}])");
    its.world.run_for(1min);
    EXPECT_TRUE(transport.refused);
    EXPECT_THAT(its.told("p"), StartsWith("Failed: "));
    stop(its.world, refused);
}

}  // namespace
}  // namespace muster::operators::operator_plan_conflict_test
