#include "cli/internal/run_verbs/stop_run.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>

#include "base/async/run_to_end.h"
#include "base/time/real_clock.h"
#include "base/time/time_limit.h"
#include "cli/internal/runs/run_watch.h"
#include "jobs/kind.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

/// How long a first SIGTERM may take to be heard: a second one right after it would be the same one.
constexpr Duration kHeard = std::chrono::milliseconds(200);

Task<bool> ended(RunWatch& watch) {
    co_await watch.wait_end();
    co_return true;
}

Task<Result<void>> end_run_now(TaskGroup& tasks, Clock& clock, const FoundRun& run, bool force,
                               std::optional<std::chrono::nanoseconds> timeout) {
    CO_TRY(const auto watch, RunWatch::create(tasks, run));
    watch->start();
    Result<void> sent = watch->terminate();
    if (sent && force && !co_await within(clock, kHeard, ended(*watch))) sent = watch->terminate();
    bool in_time = true;
    if (sent && timeout)
        in_time = (co_await within(clock, *timeout, ended(*watch))).has_value();
    else if (sent)
        co_await watch->wait_end();
    co_await tasks.stop();
    if (!sent) co_return sent;
    if (!in_time)
        co_return Error(Code::kTimeout,
                        fmt::format("{} has not ended yet: it waits for its processes ('--force' "
                                    "kills them)",
                                    run.record.name));
    co_return Result<void>();
}

}  // namespace

Result<void> stop_run(const FoundRun& run, bool force,
                      std::optional<std::chrono::nanoseconds> timeout) {
    RealClock clock;
    asio::io_context context(1);
    TaskGroup tasks(context.get_executor());
    return run_to_end(context, end_run_now(tasks, clock, run, force, timeout));
}

Task<Result<void>> set_suspended(Connection& connection, NamedJob job, bool suspended) {
    json::value patch{{"spec", {{"runPolicy", {{"suspend", suspended}}}}}};
    // An ElasticJob may say so there, too, and rests as long as one of the two does.
    if (!suspended && kube::bool_at(kube::child(job.object->get_object(), "spec"), "suspend"))
        patch.at("spec").as_object()["suspend"] = false;
    CO_TRY_VOID(co_await connection.client().patch(
        job.type, job.namespace_, job.name, kube::ContentType::kMergePatch, std::move(patch)));
    co_return Result<void>();
}

}  // namespace muster::cli
