// What one write costs: pods of 3 KB created, patched and deleted, with a watcher on them. Prints
// microseconds of CPU time for each, which other work of the machine does not change.
#include <sys/resource.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>

#include "apiserver/api_server.h"
#include "base/real_clock.h"

namespace muster::apiserver {
namespace {

json::value sample_pod(int number) {
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

double cpu_microseconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto in_us = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
    };
    return in_us(usage.ru_utime) + in_us(usage.ru_stime);
}

Task<void> measure(ApiServer& server, int count) {
    (void)co_await server.start();
    kube::Client client(server);
    std::unique_ptr<kube::WatchStream> watch =
        *co_await client.watch(kube::types::kPods, kube::WatchOptions{});
    std::vector<json::value> pods;
    for (int i = 0; i < count; ++i) pods.push_back(sample_pod(i));
    const auto report = [&](const char* what, double begin) {
        std::printf("%-22s %8.2f us\n", what, (cpu_microseconds() - begin) / count);
    };
    std::printf("pod: %zu bytes\n", json::serialize(pods[0]).size());
    double begin = cpu_microseconds();
    for (json::value& pod : pods)
        (void)co_await client.create(kube::types::kPods, "default", std::move(pod));
    report("create", begin);
    begin = cpu_microseconds();
    for (int i = 0; i < count; ++i) {
        json::value patch = json::object{{"status", {{"phase", "Running"}}}};
        (void)co_await client.patch(kube::types::kPods, "default", fmt::format("job-worker-{}", i),
                                    kube::ContentType::kMergePatch, std::move(patch), "status");
    }
    report("patch of the status", begin);
    begin = cpu_microseconds();
    kube::ListOptions everything;
    (void)co_await client.list(kube::types::kPods, std::move(everything));
    report("list, for each pod", begin);
    begin = cpu_microseconds();
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
    asio::co_spawn(context, apiserver::measure(server, 10'000), [](std::exception_ptr error) {
        if (error) std::rethrow_exception(error);
    });
    context.run();
}
