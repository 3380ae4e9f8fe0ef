// What the operator and its caches keep, and what one change costs them.
#include "scale_world.h"

namespace muster::scale {

namespace {

sim::PodLife endless(const sim::PodIdentity&, int) { return {.run_time = Duration::max()}; }

/// Heap bytes of an operator that starts on what is there, once it has nothing to do.
double operator_bytes(World& world) {
    world.settle();
    const double before = heap_bytes();
    world.start_operator();
    world.settle();
    const double with = heap_bytes();
    world.stop_operator();
    world.settle();
    return with - before;
}

struct Filled {
    double operator_bytes = 0;
    double store_bytes = 0;
};

/// An API with `jobs` jobs of so many replicas that all run, and pods that belong to no job.
Filled measure(int jobs, int replicas, int strangers) {
    World world(Time::kReal);
    // The history of changes is full in any case.
    const double empty = heap_bytes();
    world.start_nodes(endless);
    world.start_operator();
    int running = 0;
    world.follow(kPyTorchJobs, {}, [&](const kube::WatchEvent& event) {
        running += active(*event.object) == replicas && has_condition(*event.object, "Running");
    });
    for (int i = 0; i < jobs; ++i)
        must(world.await(world.client.create(kPyTorchJobs, "default",
                                             job(fmt::format("job-{}", i), replicas))),
             "a job");
    world.run_until([&] { return running >= jobs; });
    world.settle();
    world.stop_operator();
    for (int i = 0; i < strangers; ++i) {
        const json::value pod{
            {"metadata", {{"name", fmt::format("stranger-{}", i)}}},
            {"spec",
             {{"containers", json::array{json::object{{"name", "main"}, {"image", "a:1"}}}}}}};
        must(world.await(world.client.create(kube::types::kPods, "default", pod)), "a pod");
    }
    world.settle();
    world.stop_nodes();
    world.settle();
    const double filled = heap_bytes();
    return {operator_bytes(world), filled - empty};
}

}  // namespace

void memory(int count) {
    const Filled nothing = measure(0, 1, 0);
    const Filled strangers = measure(0, 1, count);
    const Filled one = measure(1, count, 0);
    const Filled many = measure(count, 1, 0);
    const double per_pod = (one.operator_bytes - nothing.operator_bytes) / count;
    const double per_job = (many.operator_bytes - nothing.operator_bytes) / count - per_pod;
    report("bytes a pod", per_pod, fmt::format("one job of {} replicas", count));
    report("bytes a job", per_job, fmt::format("{} jobs of one replica, less their pods", count));
    report("bytes a stranger", (strangers.operator_bytes - nothing.operator_bytes) / count,
           "pods that belong to no job");
    report("store bytes a pod", (one.store_bytes - nothing.store_bytes) / count,
           "with its service, and what the watch history keeps of both");
}

void decide(int replicas) {
    constexpr int kChanges = 500;
    World world(Time::kReal);
    world.start_nodes(endless);
    world.start_operator();
    bool running = false;
    world.follow(kPyTorchJobs, {}, [&](const kube::WatchEvent& event) {
        running |= active(*event.object) == replicas;
    });
    must(world.await(world.client.create(kPyTorchJobs, "default", job("big", replicas))), "a job");
    world.run_until([&] { return running; });
    world.settle();
    world.stop_nodes();

    const auto change = [&](int pod, std::string_view phase) {
        must(world.await(world.client.patch(
                 kube::types::kPods, "default", fmt::format("big-worker-{}", pod),
                 kube::ContentType::kMergePatch, json::object{{"status", {{"phase", phase}}}},
                 "status")),
             "a change");
        // Each change is seen and decided before the next comes.
        for (int i = 0; i < 50; ++i) {
            world.context.restart();
            if (world.context.poll() == 0) break;
        }
    };
    const auto run = [&](int from, std::string_view phase) {
        const double begin = cpu_seconds();
        for (int i = 0; i < kChanges; ++i) change(from + i, phase);
        world.settle();
        return (cpu_seconds() - begin) / kChanges;
    };
    const double with = run(0, "Succeeded");
    world.stop_operator();
    const double without = run(kChanges, "Succeeded");
    report("milliseconds", (with - without) * 1000,
           fmt::format("mean of {} pods that end, status writes of the job included; the change "
                       "itself costs the API {:.3f} ms",
                       kChanges, without * 1000));
}

}  // namespace muster::scale
