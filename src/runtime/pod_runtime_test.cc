#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "kube/objects/pod_runtime_contract_test.h"
#include "runtime/internal/node_fixture.h"

namespace muster::runtime::pod_runtime_test {
namespace {

/// Real processes, as the contract wants them. A start counts itself in a file; one that is held
/// waits for its end at a FIFO.
template <SandboxMode mode>
class RealPods : private NodeWorld {
  public:
    RealPods() {
        set_up(::geteuid() == 0 ? mode : SandboxMode::kNone);
        start_node();
    }
    ~RealPods() override { tear_down(); }

    TestLoop& loop() { return *this; }
    kube::Client& client() { return *NodeWorld::client; }

    json::value pod(const std::string& name, const std::vector<kube::PodRun>& runs,
                    const std::string& policy) {
        fs::remove(work(name, "starts"));
        fs::remove(work(name, "end"));
        EXPECT_EQ(::mkfifo(work(name, "end").c_str(), 0600), 0);
        std::string script =
            fmt::format("echo >> {0}; case `wc -l < {0}` in ", work(name, "starts"));
        for (std::size_t i = 0; i < runs.size(); ++i) {
            const std::string pattern = i + 1 == runs.size() ? "*" : std::to_string(i + 1);
            const std::string hold = runs[i].held ? "cat " + work(name, "end") + "; " : "";
            script += fmt::format("{}) {}exit {};; ", pattern, hold, runs[i].exit_code);
        }
        return pod_json(name, shell(script + "esac"), {{"restartPolicy", policy}});
    }
    json::value unstartable(const std::string& name) {
        json::object more;
        more["envFrom"] = json::array{{{"configMapRef", {{"name", "missing"}}}}};
        return pod_json(name, shell("true", std::move(more)));
    }
    void release(const std::string& name) {
        UniqueFd end(::open(work(name, "end").c_str(), O_WRONLY | O_CLOEXEC));
        EXPECT_TRUE(end);
    }

  private:
    std::string work(const std::string& name, const char* what) const {
        return (dir / "work" / (name + "." + what)).string();
    }
};

using IsolatedPods = RealPods<SandboxMode::kNamespaces>;
using PodsOnOneNetwork = RealPods<SandboxMode::kNone>;

}  // namespace
}  // namespace muster::runtime::pod_runtime_test

namespace muster::kube {

INSTANTIATE_TYPED_TEST_SUITE_P(Namespaces, PodRuntimeContract,
                               runtime::pod_runtime_test::IsolatedPods);
INSTANTIATE_TYPED_TEST_SUITE_P(Shared, PodRuntimeContract,
                               runtime::pod_runtime_test::PodsOnOneNetwork);

}  // namespace muster::kube
