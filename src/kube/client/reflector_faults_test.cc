#include "base/async/task_fault.h"
#include "kube/client/reflector_fixture.h"

namespace muster::kube::reflector_faults_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

TEST_F(ReflectorTest, ListsAfterAFault) {
    {
        const TaskFault fault("reflector of pods");
        start();
        EXPECT_EQ(fault.hits(), 1u);
    }
    expect_list("", page("5", {pod("a", "1")}));
    expect_watch("5");
    advance(1s);
    EXPECT_THAT(take_seen(), ElementsAre("list ns/a"));
}

// What it has of the objects may be wrong by then.
TEST_F(ReflectorTest, ListsAgainAfterAFaultInAWatch) {
    expect_list("", page("5", {pod("a", "1")}));
    auto watch = expect_watch("5");
    start();
    watch->send(WatchEventType::kAdded, pod("b", "6"));
    settle();
    watch->fault();
    settle();
    EXPECT_FALSE(watch->open());
    expect_list("6", page("8", {pod("b", "7"), pod("c", "8")}));
    expect_watch("8");
    advance(1s);
    EXPECT_THAT(take_seen(), ElementsAre("list ns/a", "upsert ns/b", "list ns/b ns/c"));
}

}  // namespace
}  // namespace muster::kube::reflector_faults_test
