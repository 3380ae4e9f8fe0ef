// What one write costs: pods of 4 KB created, patched and deleted, with a watcher on them. Prints
// microseconds for each; docs/benchmarks.md keeps the figures.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>

#include "apiserver/api_server.h"
#include "base/real_clock.h"

namespace muster::apiserver {
namespace {

json::value pod_of_4_kb(int number) {
    json::array env;
    for (int i = 0; i < 40; ++i)
        env.push_back(json::object{{"name", fmt::format("VARIABLE_{}", i)},
                                   {"value", fmt::format("the value of variable number {}", i)}});
    return json::object{
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata",
         {{"name", fmt::format("job-worker-{}", number)},
          {"labels",
           {{"training.kubeflow.org/job-name", "job"}, {"index", fmt::to_string(number)}}}}},
        {"spec",
         {{"containers", json::array{json::object{
                             {"name", "pytorch"},
                             {"image", "docker.io/example/training:1.0"},
                             {"command", json::array{"python3", "train.py", "--epochs", "3"}},
                             {"ports", json::array{json::object{{"containerPort", 23456}}}},
                             {"resources", {{"limits", {{"cpu", "1"}, {"memory", "2Gi"}}}}},
                             {"env", std::move(env)}}}},
          {"restartPolicy", "Never"}}}};
}

Task<void> measure(ApiServer& server, Clock& clock, int count) {
    (void)co_await server.start();
    kube::Client client(server);
    std::unique_ptr<kube::WatchStream> watch =
        *co_await client.watch(kube::types::kPods, kube::WatchOptions{});
    std::vector<json::value> pods;
    for (int i = 0; i < count; ++i) pods.push_back(pod_of_4_kb(i));
    const auto report = [&](const char* what, Instant begin) {
        const double us =
            std::chrono::duration<double, std::micro>(clock.now() - begin).count() / count;
        std::printf("%-22s %8.2f us\n", what, us);
    };
    std::printf("pod: %zu bytes\n", json::serialize(pods[0]).size());
    Instant begin = clock.now();
    for (json::value& pod : pods)
        (void)co_await client.create(kube::types::kPods, "default", std::move(pod));
    report("create", begin);
    begin = clock.now();
    for (int i = 0; i < count; ++i) {
        json::value patch = json::object{{"status", {{"phase", "Running"}}}};
        (void)co_await client.patch(kube::types::kPods, "default", fmt::format("job-worker-{}", i),
                                    kube::ContentType::kMergePatch, std::move(patch), "status");
    }
    report("patch of the status", begin);
    begin = clock.now();
    kube::ListOptions everything;
    (void)co_await client.list(kube::types::kPods, std::move(everything));
    report("list, for each pod", begin);
    begin = clock.now();
    for (int i = 0; i < count; ++i)
        (void)co_await client.remove(kube::types::kPods, "default",
                                     fmt::format("job-worker-{}", i));
    report("delete", begin);
    watch.reset();
    co_await server.stop();
}

}  // namespace
}  // namespace muster::apiserver

int main() {
    using namespace muster;
    asio::io_context context;
    RealClock clock;
    Rng rng(1);
    apiserver::ApiServerOptions options;
    options.watcher_buffer = 100'000;
    apiserver::ApiServer server(context.get_executor(), clock, rng, apiserver::make_memory_store(),
                                options);
    asio::co_spawn(context, apiserver::measure(server, clock, 10'000),
                   [](std::exception_ptr error) {
                       if (error) std::rethrow_exception(error);
                   });
    context.run();
}
