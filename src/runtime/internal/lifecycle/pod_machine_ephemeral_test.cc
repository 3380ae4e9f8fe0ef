#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/values/json_access.h"
#include "runtime/internal/lifecycle/pod_machine.h"
#include "runtime/internal/lifecycle/pod_machine_fixture.h"

namespace muster::runtime::pod_machine_ephemeral_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A life to which containers can be added.
class LongLife : public Life {
  public:
    using Life::Life;
    Lines add(const std::string& name) {
        kube::Container container;
        container.name = name;
        container.image = "busybox";
        json::array& list = ensure_list();
        list.push_back(json::object{{"name", name}, {"image", "busybox"}});
        return print(machine->container_added(container, now()));
    }
    json::array statuses() const {
        const kube::PodStatus status = make_pod_status(pod, machine->facts(), now().wall);
        const json::array* list = kube::array_at(status.rest, kEphemeralStatuses);
        return list == nullptr ? json::array() : *list;
    }

  private:
    json::array& ensure_list() {
        json::value& list = pod.spec.rest["ephemeralContainers"];
        if (!list.is_array()) list.emplace_array();
        return list.get_array();
    }
};

TEST(PodMachineEphemeral, StartsAtOnceAndIsNeverStartedAgain) {
    LongLife life("Always");
    life.run();
    EXPECT_THAT(life.add("debug"), ElementsAre("start 1"));
    EXPECT_THAT(life.started(1), ElementsAre("event Started"));
    EXPECT_EQ(life.statuses().at(0).at("name"), "debug");
    EXPECT_TRUE(life.statuses().at(0).at("state").as_object().contains("running"));
    EXPECT_THAT(life.exited(1, 1), IsEmpty());
    EXPECT_EQ(life.sleeps(), std::nullopt);
    EXPECT_THAT(life.tick(1h), IsEmpty());
    const json::value ended = life.statuses().at(0);
    EXPECT_EQ(ended.at("state").at("terminated").at("exitCode"), 1);
    EXPECT_EQ(ended.at("restartCount"), 0);
    EXPECT_EQ(ended.at("ready"), false);
    EXPECT_FALSE(ended.as_object().contains("started"));
}

TEST(PodMachineEphemeral, CountsNeitherInThePhaseNorInTheConditions) {
    LongLife life("Never");
    life.run();
    life.add("debug");
    EXPECT_EQ(life.phase(), "Running");
    const kube::PodStatus status =
        make_pod_status(life.pod, life.machine->facts(), life.now().wall);
    for (const kube::PodCondition& condition : status.conditions)
        EXPECT_EQ(condition.status, "True") << condition.type;
    EXPECT_EQ(status.container_statuses.size(), 1u);
    life.started(1);
    life.exited(7, 1);
    EXPECT_EQ(life.phase(), "Running");
    EXPECT_THAT(life.exited(0), ElementsAre("kill"));
    EXPECT_EQ(life.phase(), "Succeeded");
}

TEST(PodMachineEphemeral, ThePodDoesNotWaitForOne) {
    LongLife life("Never");
    life.run();
    life.add("debug");
    life.started(1);
    EXPECT_THAT(life.exited(0), ElementsAre("event Killing", "signal 1 15"));
    EXPECT_EQ(life.phase(), "Running") << "a phase is final only when no process is left";
    EXPECT_THAT(life.exited(143, 1), ElementsAre("kill"));
    EXPECT_EQ(life.phase(), "Succeeded");
}

TEST(PodMachineEphemeral, LooksIntoAPodWhoseInitContainerFails) {
    LongLife life("Always", 1);
    life.start();
    life.ready();
    life.started(0);
    life.exited(1, 0);
    life.started(0);
    EXPECT_THAT(life.exited(1, 0), ElementsAre("event BackOff"));
    EXPECT_THAT(life.add("debug"), ElementsAre("start 2"));
}

TEST(PodMachineEphemeral, WaitsForTheSandboxAndIsNotStartedInAPodThatEnds) {
    LongLife early("Never");
    early.start();
    EXPECT_THAT(early.add("debug"), IsEmpty());
    EXPECT_THAT(early.ready(), ElementsAre("start 1", "start 0"));

    LongLife late("Never");
    late.run();
    late.exited(0);
    EXPECT_THAT(late.add("debug"), IsEmpty());
    EXPECT_THAT(late.gone(), IsEmpty());
    EXPECT_EQ(late.phase(), "Succeeded");
}

TEST(PodMachineEphemeral, IsKnownToTheNextProcess) {
    LongLife life("Always");
    life.run();
    life.add("debug");
    life.started(1, "muster://u-1");
    // Nothing of the pod runs any more.
    EXPECT_THAT(life.resume(1s), ElementsAre("sandbox"));
    EXPECT_EQ(life.statuses().at(0).at("state").at("terminated").at("reason"),
              "ContainerStatusUnknown");
    EXPECT_THAT(life.ready(), ElementsAre("start 0"));

    LongLife other("Always");
    other.run();
    other.add("debug");
    other.started(1, "muster://u-1");
    const RecoveredContainer running{.state = RecoveredContainer::State::kRunning,
                                     .launch = 1,
                                     .container_id = "muster://u-1",
                                     .end = {}};
    EXPECT_THAT(other.take_over(1s, {running, running}), IsEmpty());
    EXPECT_TRUE(other.statuses().at(0).at("state").as_object().contains("running"));
}

}  // namespace
}  // namespace muster::runtime::pod_machine_ephemeral_test
