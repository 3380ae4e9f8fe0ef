// How long jobs take in real time, with nodes that need none.
#include <boost/asio/post.hpp>
#include <unordered_set>

#include "scale_world.h"

namespace muster::scale {

namespace {

sim::PodLife endless(const sim::PodIdentity&, int) { return {.run_time = Duration::max()}; }
sim::PodLife instant(const sim::PodIdentity&, int) { return {}; }

Task<void> submit(World& world, kube::ResourceType type, json::value job) {
    must(co_await world.client.create(std::move(type), "default", std::move(job)), "a job");
}
Task<void> submit(World& world, std::string name, int replicas) {
    return submit(world, kPyTorchJobs, job(name, replicas));
}

/// One after the other, and everybody else has a turn in between.
Task<void> submit_all(World& world, int count) {
    for (int i = 0; i < count; ++i) {
        co_await submit(world, fmt::format("job-{}", i), 1);
        co_await asio::post(world.context.get_executor(), asio::use_awaitable);
    }
}

kube::WatchOptions only(std::string_view name) {
    kube::WatchOptions options;
    options.namespace_ = "default";
    options.field_selector = fmt::format("metadata.name={}", name);
    return options;
}

/// From the submission of a job until all of its replicas run.
void time_to_running(const kube::ResourceType& type, json::value job, int replicas) {
    World world(Time::kReal);
    world.start_nodes(endless);
    world.start_operator();
    bool running = false;
    world.follow(type, {}, [&](const kube::WatchEvent& event) {
        if (has_condition(*event.object, "Failed")) die("the job failed");
        running |= has_condition(*event.object, "Running") && active(*event.object) == replicas;
    });
    const double begin = wall_seconds();
    const double cpu = cpu_seconds();
    world.spawn(submit(world, type, std::move(job)));
    world.run_until([&] { return running; });
    report("seconds", wall_seconds() - begin,
           fmt::format("{:.2f} s of CPU, {:.0f} us a replica", cpu_seconds() - cpu,
                       (cpu_seconds() - cpu) * 1e6 / replicas));
    report("peak bytes", peak_bytes(), "of the server, the operator and the nodes in one process");
}

}  // namespace

void one_job(int replicas) { time_to_running(kPyTorchJobs, job("big", replicas), replicas); }
void dense_job(int replicas) {
    time_to_running(kTFJobs, tensorflow_job("big", replicas, false), replicas);
}
void sparse_job(int replicas) {
    time_to_running(kTFJobs, tensorflow_job("big", replicas, true), replicas);
}

void many_jobs(int count) {
    World world(Time::kReal);
    world.start_nodes(instant);
    world.start_operator();
    std::unordered_set<std::string> succeeded;
    world.follow(kPyTorchJobs, {}, [&](const kube::WatchEvent& event) {
        if (has_condition(*event.object, "Succeeded")) succeeded.emplace(name_of(*event.object));
        if (has_condition(*event.object, "Failed")) die("a job failed");
    });
    const double begin = wall_seconds();
    const double cpu = cpu_seconds();
    world.spawn(submit_all(world, count));
    world.run_until([&] { return succeeded.size() == static_cast<std::size_t>(count); });
    const double seconds = wall_seconds() - begin;
    report("seconds", seconds,
           fmt::format("{:.0f} jobs/s, {:.0f} us of CPU a job", count / seconds,
                       (cpu_seconds() - cpu) * 1e6 / count));
}

/// One-replica jobs that come while a large one's pods are being made.
void beside(int replicas) {
    constexpr int kJobs = 8;
    World world(Time::kReal);
    world.start_nodes(endless);
    world.start_operator();
    std::vector<double> begun(kJobs, 0);
    std::vector<double> taken;
    for (int i = 0; i < kJobs; ++i) {
        const std::string name = fmt::format("small-{}", i);
        world.follow(kube::types::kPods, only(name + "-master-0"),
                     [&begun, &taken, i](const kube::WatchEvent& event) {
                         if (event.type == kube::WatchEventType::kAdded)
                             taken.push_back(wall_seconds() - begun[static_cast<std::size_t>(i)]);
                     });
        const int after = replicas * (i + 1) / (kJobs + 2);
        world.follow(kube::types::kPods, only(fmt::format("big-worker-{}", after)),
                     [&world, &begun, name, i](const kube::WatchEvent& event) {
                         if (event.type != kube::WatchEventType::kAdded) return;
                         begun[static_cast<std::size_t>(i)] = wall_seconds();
                         world.spawn(submit(world, name, 1));
                     });
    }
    bool running = false;
    world.follow(kPyTorchJobs, only("big"), [&](const kube::WatchEvent& event) {
        running |= active(*event.object) == replicas;
    });
    world.spawn(submit(world, "big", replicas));
    std::size_t during = 0;
    world.run_until([&] {
        if (!running) during = taken.size();
        return running && taken.size() == kJobs;
    });
    std::ranges::sort(taken);
    report("milliseconds", taken.back() * 1000,
           fmt::format("the slowest of {}, median {:.1f} ms; {} had theirs before the large one "
                       "ran",
                       kJobs, taken[kJobs / 2] * 1000, during));
}

}  // namespace muster::scale
