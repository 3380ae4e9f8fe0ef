#pragma once

#include <boost/asio/co_spawn.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/api_server.h"
#include "base/rng.h"
#include "base/time/sim_clock.h"
#include "kube/client/client.h"
#include "operator/internal/job_fixture.h"
#include "operator/operator.h"

namespace muster::operators {

/// The transport of a test's operator: counts, and fails on demand.
class WatchedTransport final : public kube::Transport {
  public:
    WatchedTransport(kube::Transport& real, Clock& clock, Rng& rng)
        : real_(real), clock_(clock), rng_(rng) {}

    Task<Result<kube::Response>> call(kube::Request request) override;
    Task<Result<std::unique_ptr<kube::WatchStream>>> watch(kube::Request request) override;
    Task<Result<std::unique_ptr<kube::TextStream>>> stream_text(kube::Request request) override;

    double failure_probability = 0;  ///< of a request that changes something
    Duration longest_delay{};        ///< before a request, and before its answer comes
    /// How late each event of a watch arrives.
    std::function<Duration(const kube::Request&)> watch_lag;
    /// Called with every request that changes something, before it is sent.
    std::function<void(const kube::Request&)> before_write;
    /// How many more writes reach the API before the operator has crashed without knowing it.
    /// Events need a living operator but are not counted.
    std::optional<int> writes_left;
    int writes = 0;  ///< but events
    int event_writes = 0;
    int conflicts = 0;  ///< answers that someone else was first

  private:
    Task<void> delay();

    kube::Transport& real_;
    Clock& clock_;
    Rng& rng_;
};

/// An embedded API with an operator and a node that does what the test says, in virtual time.
class World {
  public:
    explicit World(std::uint64_t seed = 1, OperatorOptions options = {});
    ~World();

    void start_operator();
    void stop_operator();
    void restart_operator() {
        stop_operator();
        start_operator();
    }

    void run_for(Duration duration);
    /// Long enough for every reaction, short against every time-out.
    void settle() { run_for(std::chrono::milliseconds(200)); }
    /// A replica that is in a pause gets its next pod.
    void outlast_pause() { run_for(std::chrono::minutes(6)); }
    template <class T>
    T wait(Task<T> task);

    // --- what a user does
    void create_job(const JobSketch& sketch);
    /// Creates a job, and lets all of its pods run.
    void run_job(const JobSketch& sketch);
    void edit_job(const std::string& name, const std::function<void(json::object& spec)>& edit);
    void suspend_job(const std::string& name, bool suspend);
    void scale_workers(const std::string& name, int count);
    void delete_pod(const std::string& name);
    /// Without a grace period.
    void force_delete_pod(const std::string& name);
    void delete_service(const std::string& name);
    void delete_job(const std::string& name);
    /// Adds a foreign finalizer: the job stays when it is deleted.
    void hold_job(const std::string& name);

    // --- what a node does
    /// `restarts`: how often the node has restarted the container in place.
    void set_phase(const std::string& pod, std::string_view phase,
                   std::optional<std::int32_t> exit_code = std::nullopt, std::int32_t restarts = 0);
    void set_all(std::string_view phase);
    /// Ends the pods that are being deleted.
    void reap();

    // --- what exists
    std::vector<std::string> pods();
    std::vector<std::string> services();
    std::optional<json::value> object(const kube::ResourceType& type, const std::string& name);
    jobs::JobStatus status(const std::string& job);
    /// "reason: message" of the events about a job, oldest first.
    std::vector<std::string> events(const std::string& job);
    std::string uid(const std::string& pod);
    /// Empty if there is none.
    std::string annotation(const std::string& pod, const std::string& key);
    std::int32_t restarts(const std::string& job, const std::string& type = "Worker");
    std::int32_t rank(const std::string& pod);
    /// The workers of this rank that are not being deleted, oldest first.
    std::vector<std::string> workers_of_rank(std::int32_t rank);

    const jobs::JobKind&
        kind;  ///< of the jobs: the first of the options' more_kinds, or PyTorchJob
    asio::io_context context;
    SimClock clock;
    Rng rng;
    apiserver::ApiServer api;
    WatchedTransport transport;  ///< the operator's
    kube::Client client;         ///< the test's own

  private:
    std::vector<std::string> names_of(const kube::ResourceType& type);

    OperatorOptions options_;
    Rng operator_rng_;
    std::unique_ptr<Operator> operator_;
};

template <class T>
T World::wait(Task<T> task) {
    std::optional<T> result;
    std::exception_ptr thrown;
    asio::co_spawn(context, std::move(task), [&](std::exception_ptr error, T value) {
        thrown = error;
        result.emplace(std::move(value));
    });
    for (int i = 0; i < 100'000 && !result; ++i) {
        context.restart();
        context.poll();
        if (!result && !clock.advance_to_next()) break;
    }
    if (thrown) std::rethrow_exception(thrown);
    return *std::move(result);
}

}  // namespace muster::operators
