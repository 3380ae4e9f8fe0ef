#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/internal/node_fixture.h"

namespace muster::runtime::node_gang_test {
namespace {

using ::testing::HasSubstr;

/// Pods of jobs that say how many of them start together, on a machine of four CPUs.
class NodeGangTest : public NodeTest {
  protected:
    void create_member(const std::string& name, const std::string& job, const std::string& script,
                       const char* cpus, const char* size) {
        json::object container;
        container["resources"] = {{"requests", {{"cpu", cpus}}}};
        json::value pod = pod_json(name, shell(script, std::move(container)));
        json::object& metadata = pod.at("metadata").as_object();
        metadata["annotations"] = {{"muster.dev/gang-size", size}};
        metadata["ownerReferences"] = json::array{{{"apiVersion", "kubeflow.org/v1"},
                                                   {"kind", "PyTorchJob"},
                                                   {"name", job},
                                                   {"uid", "uid-" + job},
                                                   {"controller", true}}};
        create(std::move(pod));
    }
    std::string why_it_waits(const std::string& name) {
        auto pod = wait_for(
            name, [](const kube::Pod* p) { return p != nullptr && !p->status.conditions.empty(); });
        EXPECT_EQ(pod->spec.node_name, "");
        return pod->status.conditions[0].message;
    }
};

TEST_P(NodeGangTest, NoneStartsBeforeAllFit) {
    start_node();
    create_member("first-0", "first", "until test -e end; do sleep 0.01; done", "2", "2");
    create_member("second-0", "second", "true", "1500m", "2");
    create_member("second-1", "second", "true", "1500m", "2");
    // Of the first one the other half is still to come, so it does not hold up the second.
    wait_phase("second-0", "Succeeded");
    wait_phase("second-1", "Succeeded");
    EXPECT_EQ(get("first-0").spec.node_name, "");
    EXPECT_TRUE(get("first-0").status.conditions.empty());
    create_member("first-1", "first", "until test -e end; do sleep 0.01; done", "2", "2");
    wait_phase("first-0", "Running");
    wait_phase("first-1", "Running");

    create_member("third-0", "third", "true", "2", "2");
    create_member("third-1", "third", "true", "2", "2");
    for (const char* name : {"third-0", "third-1"})
        EXPECT_THAT(why_it_waits(name), HasSubstr("0 of 2 pods of PyTorchJob third fit"));
    std::ofstream(dir / "work/end") << "";
    for (const char* name : {"first-0", "first-1", "third-0", "third-1"})
        wait_phase(name, "Succeeded");
}

TEST_P(NodeGangTest, OneThatIsMadeAgainDoesNotWaitForThoseThatAreDone) {
    start_node();
    create_member("done", "job", "true", "1", "3");
    create_member("runs", "job", "exec sleep 1000", "1", "3");
    create_member("fails", "job", "exit 1", "1", "3");
    wait_phase("done", "Succeeded");
    wait_phase("fails", "Failed");
    for (const char* name : {"done", "fails"}) {
        remove(name, 0);
        wait_for(name, [](const kube::Pod* p) { return p == nullptr; });
    }
    create_member("fails", "job", "true", "1", "3");
    wait_phase("fails", "Succeeded");
}

INSTANTIATE_TEST_SUITE_P(Modes, NodeGangTest,
                         ::testing::Values(SandboxMode::kNamespaces, SandboxMode::kNone),
                         mode_name);

}  // namespace
}  // namespace muster::runtime::node_gang_test
