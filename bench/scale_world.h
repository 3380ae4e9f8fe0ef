#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/api_server.h"
#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/sim_clock.h"
#include "kube/client/client.h"
#include "kube/objects/resource_type.h"
#include "operator/operator.h"
#include "sim/simulated_nodes.h"

namespace muster::scale {

/// Real or virtual time behind one interface; the loop is run accordingly.
enum class Time { kReal, kVirtual };

/// An embedded API with the job kinds defined, and an operator and simulated nodes that come and
/// go. One loop, one thread, all of it in this process.
class World {
  public:
    explicit World(Time time, std::uint64_t seed = 1);
    ~World();

    void start_operator();
    void stop_operator();
    void start_nodes(sim::SimulatedNodes::Life life);
    void stop_nodes();

    /// Runs the loop until it is so. Dies after a long while.
    void run_until(const std::function<bool()>& done);
    /// Runs until nothing is ready any more and nothing waits for less than a second.
    void settle();
    template <class T>
    T await(Task<T> task);

    /// Calls `see` with every change of the objects from now on, until the world ends.
    void follow(kube::ResourceType type, kube::WatchOptions options,
                std::function<void(const kube::WatchEvent&)> see);
    void spawn(Task<void> task) { tasks_.spawn("scale", std::move(task)); }
    Instant now() const { return clock_->now(); }
    Clock& clock() { return *clock_; }

    asio::io_context context;

  private:
    std::unique_ptr<Clock> clock_;
    SimClock* virtual_clock_ = nullptr;  // null in real time
    Rng rng_;
    Rng operator_rng_;
    Rng nodes_rng_;

  public:
    apiserver::ApiServer api;
    kube::Client client;

  private:
    TaskGroup tasks_;
    std::unique_ptr<operators::Operator> operator_;
    std::unique_ptr<sim::SimulatedNodes> nodes_;
};

extern const kube::ResourceType kPyTorchJobs;
extern const kube::ResourceType kTFJobs;

/// One master and workers for the rest.
json::value job(const std::string& name, int replicas);
/// Ten parameter servers and workers for the rest, which know each other or, if `dynamic`, only the
/// servers.
json::value tensorflow_job(const std::string& name, int replicas, bool dynamic);
/// The sum of the active replicas, and whether a condition is true.
int active(const json::value& job);
bool has_condition(const json::value& job, std::string_view type);
std::string_view name_of(const json::value& object);

/// CPU seconds of this process so far, and bytes of its heap that are in use.
double cpu_seconds();
double heap_bytes();
/// The most memory that this process has had resident.
double peak_bytes();
/// Seconds of real time, from some beginning.
double wall_seconds();

/// Prints a figure as a line of JSON for cases.py.
void report(std::string_view what, double value, std::string_view note = {});
[[noreturn]] void die(std::string_view what);
/// The value, or the end of the program.
template <class T>
T must(Result<T> result, std::string_view what) {
    if (!result) die(std::string(what) + ": " + result.error().message());
    if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// --- the cases

void one_job(int replicas);
void dense_job(int replicas);
void sparse_job(int replicas);
void many_jobs(int jobs);
void beside(int replicas);
void memory(int count);
void decide(int replicas);
void simulate(int pods);
void hashes(int pods);

template <class T>
T World::await(Task<T> task) {
    std::optional<T> result;
    bool ended = false;
    asio::co_spawn(context, std::move(task), [&](std::exception_ptr thrown, T value) {
        if (thrown) std::rethrow_exception(thrown);
        result.emplace(std::move(value));
        ended = true;
    });
    run_until([&] { return ended; });
    return *std::move(result);
}

}  // namespace muster::scale
