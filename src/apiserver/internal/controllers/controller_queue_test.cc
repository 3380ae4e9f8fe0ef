#include "apiserver/internal/controllers/controller_queue.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/async/task_fault.h"
#include "base/test_loop.h"

namespace muster::apiserver::controller_queue_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class ControllerQueueTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    ~ControllerQueueTest() override { await(tasks_.stop()); }

    Task<StatusResult<void>> reconcile(std::string key) {
        if (throws_) throw std::runtime_error("a controller's fault");
        reconciled_.push_back(std::move(key));
        co_return StatusResult<void>();
    }

    TaskGroup tasks_{context.get_executor()};
    std::vector<std::string> reconciled_;
    bool throws_ = false;
    ControllerQueue<std::string> queue_{"a controller", tasks_, clock, [this](std::string key) {
                                            return reconcile(std::move(key));
                                        }};
};

TEST_F(ControllerQueueTest, AKeyWhoseReconciliationThrowsIsTriedAgain) {
    throws_ = true;
    queue_.add("a");
    settle();
    throws_ = false;
    advance(1s);
    EXPECT_THAT(reconciled_, ElementsAre("a"));
}

TEST_F(ControllerQueueTest, KeysThatWaitAreReconciledAfterAFaultWithoutAnother) {
    {
        const TaskFault fault("a controller");
        queue_.add("a");
        queue_.add("b");
        settle();
        EXPECT_EQ(fault.hits(), 1u);
        queue_.add("a");
        settle();
        EXPECT_EQ(fault.hits(), 1u) << "it pauses";
    }
    advance(1s);
    EXPECT_THAT(reconciled_, ElementsAre("a", "b"));
}

TEST_F(ControllerQueueTest, KeysMayWaitForTheirTime) {
    const WallTime now = clock.wall_now();
    queue_.add_at("c", now + 30s);
    queue_.add_at("a", now + 10s);
    queue_.add_at("b", now + 10s);
    queue_.add_at("d", now + 20s);
    queue_.add_at("e", now + 5s);
    queue_.add("b");
    settle();
    EXPECT_THAT(reconciled_, ElementsAre("b"));
    queue_.add_at("a", now + 40s);
    queue_.forget("e");
    EXPECT_TRUE(queue_.waits("a"));
    EXPECT_FALSE(queue_.waits("e"));
    advance(11s);
    EXPECT_THAT(reconciled_, ElementsAre("b", "b"));
    advance(20s);
    EXPECT_THAT(reconciled_, ElementsAre("b", "b", "d", "c"));
    advance(10s);
    EXPECT_THAT(reconciled_, ElementsAre("b", "b", "d", "c", "a"));
    EXPECT_FALSE(queue_.waits("a"));
}

TEST_F(ControllerQueueTest, AFaultOfTheWaitIsMadeUpFor) {
    {
        const TaskFault fault("a controller, later");
        queue_.add_at("a", clock.wall_now() + 10s);
        settle();
        EXPECT_EQ(fault.hits(), 1u);
    }
    advance(11s);
    EXPECT_THAT(reconciled_, ElementsAre("a"));
}

}  // namespace
}  // namespace muster::apiserver::controller_queue_test
