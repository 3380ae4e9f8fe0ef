// Pods through their whole lives on virtual time.
#include <boost/json/serialize.hpp>
#include <unordered_set>

#include "scale_world.h"

namespace muster::scale {

namespace {

constexpr int kReplicas = 100;

sim::PodBehaviour behaviour() {
    using namespace std::chrono_literals;
    return {.start_delay = {100ms, 5s},
            .run_time = {60s, 600s},
            .stop_time = {10ms, 2s},
            .exits = {{0, 97}, {137, 3}}};
}

/// A few every second of virtual time; their pods fail now and then and are restarted in place.
Task<void> submit_all(World& world, Clock& clock, int jobs) {
    for (int i = 0; i < jobs; ++i) {
        json::value object = job(fmt::format("job-{}", i), kReplicas);
        must(co_await world.client.create(kPyTorchJobs, "default", std::move(object)), "a job");
        co_await clock.sleep_for(std::chrono::milliseconds(200));
    }
}

struct Outcome {
    std::uint64_t hash = 14695981039346656037ULL;
    std::uint64_t changes = 0;
    double seconds = 0;
    double virtual_seconds = 0;
};

Outcome live(int pods, std::uint64_t seed, bool hashed) {
    const int jobs = std::max(1, pods / kReplicas);
    Outcome outcome;
    const double begin = wall_seconds();
    World world(Time::kVirtual, seed);
    world.start_nodes([seed](const sim::PodIdentity& pod, int start) {
        return sim::life_of(behaviour(), seed, pod, start);
    });
    world.start_operator();
    std::unordered_set<std::string> succeeded;
    world.follow(kPyTorchJobs, {}, [&](const kube::WatchEvent& event) {
        if (has_condition(*event.object, "Succeeded") && active(*event.object) == 0)
            succeeded.emplace(name_of(*event.object));
        if (has_condition(*event.object, "Failed")) die("a job failed");
    });
    if (hashed)
        for (const kube::ResourceType& type : {kPyTorchJobs, kube::types::kPods})
            world.follow(type, {}, [&outcome](const kube::WatchEvent& event) {
                ++outcome.changes;
                for (char c : json::serialize(*event.object))
                    outcome.hash = (outcome.hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
            });
    const Instant started = world.now();
    world.spawn(submit_all(world, world.clock(), jobs));
    world.run_until([&] { return succeeded.size() == static_cast<std::size_t>(jobs); });
    outcome.virtual_seconds = std::chrono::duration<double>(world.now() - started).count();
    outcome.seconds = wall_seconds() - begin;
    return outcome;
}

}  // namespace

void simulate(int pods) {
    const double cpu = cpu_seconds();
    const Outcome outcome = live(pods, 1, false);
    report("seconds", outcome.seconds,
           fmt::format("{} jobs of {} replicas, {:.0f} s of virtual time, {:.1f} s of CPU",
                       pods / kReplicas, kReplicas, outcome.virtual_seconds, cpu_seconds() - cpu));
}

void hashes(int pods) {
    const Outcome first = live(pods, 1, true);
    const Outcome again = live(pods, 1, true);
    const Outcome other = live(pods, 2, true);
    if (first.hash == other.hash) die("two seeds gave one run: the hash sees nothing");
    report("differences", first.hash == again.hash ? 0 : 1,
           fmt::format("{} changes, hash {:016x}", first.changes, first.hash));
}

}  // namespace muster::scale
