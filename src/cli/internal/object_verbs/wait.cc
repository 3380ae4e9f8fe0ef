#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/async/task_group.h"
#include "base/async/then_stop.h"
#include "base/rng.h"
#include "base/time/time_limit.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/objects/object_follow.h"
#include "cli/internal/objects/object_lists.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/objects/wait_condition.h"
#include "cli/internal/run/views.h"
#include "cli/internal/verbs/verbs.h"
#include "jobs/kind.h"
#include "kube/client/informer.h"

namespace muster::cli {

namespace {

constexpr std::string_view kWaitHelp =
    R"(Waits until objects are in a condition, or gone.

Usage: muster wait KIND/NAME... --for WHAT [FLAGS]
       muster wait KIND -l SELECTOR --for WHAT [FLAGS]

      --for WHAT             condition=TYPE, condition=TYPE=STATUS; delete; jsonpath=PATH=VALUE, or
                             jsonpath=PATH for any value
      --timeout DURATION     give up after this long (default: 30s); 0: look once
  -l, --selector; --field-selector; -A, --all-namespaces
                             as in 'muster get'
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

A job that has failed can't succeed any more, so waiting for that ends immediately. A container of a job or pod
that fails again and again is told at once.

Exit status: 0 when all are as wanted; otherwise 1, with how they are instead.

Examples:
  muster wait pytorchjob/digits --for condition=Succeeded --timeout 1h
  muster wait pod/digits-worker-0 --for jsonpath={.status.phase}=Running
  muster wait pods -l app=digits --for delete
)";

struct WaitOptions {
    ServerOptions server;
    ObjectOptions objects;
    std::string condition;  ///< of --for, as written
    std::chrono::nanoseconds timeout = std::chrono::seconds(30);
};

constexpr const char* kWaitVerb = "wait";

/// What was seen of one object so far.
struct Progress {
    bool met = false;
    bool missing = false;  ///< it was not there at first, or went away
    bool never = false;
    std::string now;
};

Task<Result<std::vector<ChosenObject>>> find_awaited(Connection& connection,
                                                     const WaitOptions& options) {
    CO_TRY(const ResourceCatalog catalog, co_await discover(connection));
    CO_TRY(const auto targets, parse_object_words(options.objects.words, catalog));
    CO_TRY(const auto queries,
           make_queries(targets, options.objects, connection.default_namespace()));
    std::vector<ChosenObject> awaited;
    for (const ObjectQuery& query : queries) {
        CO_TRY(std::vector<ChosenObject> found, co_await chosen_by(connection, query));
        std::ranges::move(found, std::back_inserter(awaited));
    }
    co_return awaited;
}

/// Follows one object until it is as wanted, can't become so any more, or `once`.
Task<Result<Progress>> follow(Connection& connection, const WaitCondition& wanted,
                              const ChosenObject& awaited, Progress& progress, bool once) {
    const std::function<bool(const json::value*)> seen = [&](const json::value* object) {
        if (object == nullptr) {
            progress.met = wanted.is_deletion();
            progress.missing = true;
            return true;
        }
        const WaitCondition::Answer answer = wanted.ask(*object);
        progress = {.met = answer.met, .missing = false, .never = answer.never, .now = answer.now};
        return answer.met || answer.never || once;
    };
    CO_TRY_VOID(
        co_await follow_object(connection, awaited.type, awaited.namespace_, awaited.name, seen));
    co_return progress;
}

/// Tells of containers of a job, or of a pod, that fail again and again, once each and at once: the
/// wait may be long.
class CrashReport {
  public:
    CrashReport(asio::any_io_executor executor, Connection& connection, const ChosenObject& awaited)
        : shown_(awaited.shown), rng_(Rng::from_system()), tasks_(std::move(executor)) {
        kube::ListOptions pods;
        pods.namespace_ = awaited.namespace_;
        if (awaited.type == kube::types::kPods)
            pods.field_selector = "metadata.name=" + awaited.name;
        else if (jobs::find_kind(awaited.type.api_version(), awaited.type.kind) != nullptr)
            pods.label_selector = fmt::format("{}={}", jobs::labels::kJobName, awaited.name);
        else
            return;
        watch_.emplace(connection.client(), connection.clock(), rng_, kube::types::kPods,
                       std::move(pods), pod_view);
        watch_->on_change([this](const std::string&, const PodView*, const PodView* pod) {
            if (pod != nullptr) look_at(*pod);
        });
        watch_->start(tasks_);
    }

    Task<void> stop() { co_await tasks_.stop(); }

  private:
    void look_at(const PodView& pod) {
        for (const ContainerView& container : pod.containers) {
            const auto& end = container.last_terminated;
            if (!container.backs_off() || !end) continue;
            if (!told_.emplace(pod.name, container.name).second) continue;
            tell_error(kWaitVerb,
                       Error(Code::kUnavailable,
                             fmt::format("{}: pod {}, container {} {} and waits for its next start "
                                         "(CrashLoopBackOff, {} so far); 'muster logs' shows why",
                                         shown_, pod.name, container.name, describe(*end),
                                         container.restarts == 1
                                             ? "1 restart"
                                             : fmt::format("{} restarts", container.restarts))));
        }
    }

    const std::string shown_;
    Rng rng_;
    TaskGroup tasks_;
    std::optional<kube::Informer<PodView>> watch_;
    std::set<std::pair<std::string, std::string>> told_;  ///< pod and container
};

Task<void> wait_within(Clock& clock, Duration left, Task<Result<Progress>> waiting,
                       std::optional<Result<Progress>>& in_time) {
    in_time = co_await within(clock, left, std::move(waiting));
}

/// Whether it came to be; if not, prints why.
Task<Result<bool>> wait_for(Connection& connection, const WaitOptions& options,
                            const WaitCondition& wanted, const ChosenObject& awaited,
                            Instant deadline) {
    Progress progress;
    const Duration left = std::max(Duration(0), deadline - connection.clock().now());
    const bool once = options.timeout.count() == 0;
    auto waiting = follow(connection, wanted, awaited, progress, once);
    if (once) {
        CO_TRY(progress, co_await std::move(waiting));
    } else {
        std::optional<Result<Progress>> in_time;
        CrashReport crashes(co_await asio::this_coro::executor, connection, awaited);
        co_await then_stop(wait_within(connection.clock(), left, std::move(waiting), in_time),
                           crashes);
        if (in_time && !*in_time) co_return std::move(in_time->error());
    }
    if (progress.met) {
        print(fmt::format("{} condition met\n", awaited.shown));
        co_return true;
    }
    const std::string why =
        progress.missing ? "it does not exist"
        : progress.never
            ? fmt::format("{}, and that will not change", progress.now)
            : fmt::format("{}{}{}",
                          once
                              ? ""
                              : fmt::format("not within --timeout {}s",
                                            std::chrono::duration<double>(options.timeout).count()),
                          once || progress.now.empty() ? "" : ": ", progress.now);
    tell_error(kWaitVerb, Error(Code::kTimeout, fmt::format("{}: {}", awaited.shown, why)));
    co_return false;
}

Task<Result<int>> wait_for_all(Connection& connection, const WaitOptions& options,
                               const WaitCondition& wanted) {
    CO_TRY(const std::vector<ChosenObject> awaited, co_await find_awaited(connection, options));
    if (awaited.empty() && wanted.is_deletion()) co_return 0;
    if (awaited.empty())
        co_return Error(Code::kNotFound, "no object matches the names and selectors");
    const Instant deadline = connection.clock().now() + options.timeout;
    bool all = true;
    for (const ChosenObject& one : awaited) {
        CO_TRY(const bool met, co_await wait_for(connection, options, wanted, one, deadline));
        all = all && met;
    }
    co_return all ? 0 : 1;
}

int wait(const WaitOptions& options) {
    const Result<WaitCondition> wanted = WaitCondition::parse(options.condition);
    if (!wanted) {
        tell_error(kWaitVerb, wanted.error());
        return 2;
    }
    return on_server(kWaitVerb, options.server, [&](Connection& connection) {
        return wait_for_all(connection, options, *wanted);
    });
}

class WaitVerb final : public VerbOf<WaitOptions> {
  public:
    WaitVerb() : VerbOf("wait", kWaitHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        declare_object_flags(flags, options_.objects);
        flags.value("--for", options_.condition);
        flags.value("--timeout", timeout_);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.objects.words.empty())
            return "name what to wait for, as in 'muster wait job/digits --for "
                   "condition=Succeeded'";
        if (options_.condition.empty())
            return "say what to wait for with --for: condition=TYPE, delete or jsonpath=PATH=VALUE";
        if (timeout_.empty()) return std::nullopt;
        return read_timeout(timeout_, options_.timeout);
    }
    int run() override { return wait(options_); }

  private:
    std::string timeout_;
};

}  // namespace

std::unique_ptr<Verb> wait_verb() { return std::make_unique<WaitVerb>(); }

}  // namespace muster::cli
