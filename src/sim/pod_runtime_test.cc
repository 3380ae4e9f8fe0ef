#include <map>

#include "apiserver/api_server.h"
#include "kube/objects/pod_runtime_contract_test.h"
#include "sim/simulated_nodes.h"

namespace muster::sim::pod_runtime_test {
namespace {

using namespace std::chrono_literals;

/// Pods that only the nodes' arithmetic runs.
class SimulatedPods : private SimulatedLoop {
  public:
    SimulatedPods() {
        EXPECT_TRUE(await(api_.start()));
        await(nodes_.start());
    }
    ~SimulatedPods() override {
        await(nodes_.stop());
        await(api_.stop());
    }

    TestLoop& loop() { return *this; }
    kube::Client& client() { return client_; }

    json::value pod(const std::string& name, const std::vector<kube::PodRun>& runs,
                    const std::string& policy) {
        lives_[name] = runs;
        return json::object{
            {"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"name", name}}},
            {"spec",
             {{"restartPolicy", policy},
              {"containers", json::array{json::object{{"name", "main"}, {"image", "a:1"}}}}}}};
    }
    json::value unstartable(const std::string& name) { return pod(name, {}, "Never"); }
    void release(const std::string& name) {
        EXPECT_TRUE(nodes_.crash("default/" + name, lives_.at(name).back().exit_code));
    }

  private:
    PodLife life_of(const PodIdentity& pod, int start) {
        const std::vector<kube::PodRun>& runs = lives_.at(std::string(pod.name));
        if (runs.empty()) return {.start_delay = Duration::max()};
        const kube::PodRun& run = runs[std::min(static_cast<std::size_t>(start), runs.size() - 1)];
        return {.start_delay = 10ms,
                .run_time = run.held ? Duration::max() : Duration(10ms),
                .stop_time = 10ms,
                .exit_code = run.exit_code};
    }

    Rng rng_{7};
    std::map<std::string, std::vector<kube::PodRun>> lives_;
    apiserver::ApiServer api_{context.get_executor(), clock, rng_, store::make_memory_store()};
    kube::Client client_{api_};
    SimulatedNodes nodes_{
        context.get_executor(), api_, clock, rng_,
        [this](const PodIdentity& pod, int start) { return life_of(pod, start); }};
};

}  // namespace
}  // namespace muster::sim::pod_runtime_test

namespace muster::kube {

INSTANTIATE_TYPED_TEST_SUITE_P(Simulated, PodRuntimeContract, sim::pod_runtime_test::SimulatedPods);

}  // namespace muster::kube
