#include "cli/internal/step/step_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/json/serialize.hpp>
#include <csignal>
#include <cstdio>

#include "base/async/run_to_end.h"
#include "base/time/real_clock.h"
#include "base/visible_text.h"
#include "cli/internal/connect/connection.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/push/metrics_push.h"
#include "cli/internal/step/replacement.h"
#include "cli/internal/step/step_exit.h"
#include "cli/internal/step/step_job.h"
#include "cli/internal/step/step_watch.h"
#include "kube/objects/api_status.h"

namespace muster::cli {

namespace {

constexpr const char* kStepName = "step";
constexpr Duration kFirstTryPause = std::chrono::milliseconds(500);
constexpr Duration kLongestTryPause = std::chrono::seconds(5);

int status_of(StepEnd end) { return static_cast<int>(end); }

/// Prints what is wrong, and returns the exit code.
int refuse_step(const std::vector<StepProblem>& problems) {
    for (const StepProblem& problem : problems)
        fmt::print(stderr, "muster step: {}: {}\n", problem.where, visible_text(problem.what));
    return status_of(StepEnd::kBadInput);
}

int fail_step(const Error& error, const kube::ClientConfig* access) {
    std::string message = error.message();
    if (access != nullptr) message += advice(error, *access);
    tell_error(kStepName, Error(error.code(), std::move(message)));
    return status_of(error.code() == Code::kInvalid ? StepEnd::kBadInput : StepEnd::kAway);
}

int refuse_job(const std::vector<manifest::Problem>& problems) {
    for (const manifest::Problem& problem : problems) fmt::print(stderr, "{}\n", format(problem));
    if (!manifest::has_errors(problems)) return 0;
    fmt::print(stderr, "muster step: {}; nothing was created\n",
               manifest::count_problems(problems));
    return status_of(StepEnd::kBadInput);
}

RunSession::Options run_options(const StepRequest& request) {
    RunSession::Options options;
    options.timeout = request.limits.timeout;
    options.on_cluster = true;
    options.ranks = true;
    options.stop_timeout = request.limits.stop_timeout;
    if (request.at_end != AtEnd::kKeep)
        options.removes_ended = [always = request.at_end == AtEnd::kDelete](bool succeeded) {
            return always || succeeded;
        };
    return options;
}

std::string label_of(const StepRequest& request, const std::string& key) {
    const auto found = request.job_labels.find(key);
    return found == request.job_labels.end() ? "" : found->second;
}

/// Each try of a step takes the place of the one before.
MetricLabels metric_group(const StepRequest& request, const manifest::CheckedObject& job) {
    MetricLabels group = {{"job", "muster_step"}, {"namespace", job.namespace_}};
    if (request.run_id.empty() || request.task_id.empty()) group.emplace_back("job_name", job.name);
    group.emplace_back("run_id", request.run_id);
    group.emplace_back("task_id", request.task_id);
    return group;
}

MetricLabels about_step(const StepRequest& request, const manifest::CheckedObject& job) {
    return {{"kind", std::string(request.kind->kind)},
            {"component", job.name},
            {"pipeline_id", label_of(request, "pipeline-id")},
            {"pipeline_name", label_of(request, "pipeline-name")},
            {"task_name", label_of(request, "task-name")},
            {"username", label_of(request, "run-username")}};
}

/// The parts of one step on its server.
class StepRun {
  public:
    StepRun(asio::io_context& context, Clock& clock, Rng& rng, Connection& connection,
            Console& console, StepRequest request, manifest::CheckedObject job)
        : clock_(clock),
          rng_(rng),
          connection_(connection),
          console_(console),
          request_(std::move(request)),
          job_(std::move(job)),
          signals_(context, SIGINT, SIGTERM, SIGHUP),
          replacement_(context.get_executor(), clock, rng, connection.client(), console, job_.type,
                       job_.namespace_,
                       fmt::format("run-id={},task-id={}", request_.run_id, request_.task_id)) {
        if (request_.push_metrics)
            push_.emplace(context.get_executor(), clock, console, *request_.push_metrics,
                          metric_group(request_, job_), about_step(request_, job_));
    }

    Task<int> run() {
        TaskGroup tasks(co_await asio::this_coro::executor);
        // A step that does not hear its stop would be killed, and leave its job.
        tasks.spawn_essential("signals", hear_signals());
        int status = co_await run_job(clock_.now() + request_.limits.away_after);
        if (stopped_ != RunSession::Stop::kNone) status = static_cast<int>(stopped_);
        if (push_) co_await push_->finish(status);
        co_await tasks.stop();
        co_await connection_.stop();
        co_return stopped_ == RunSession::Stop::kNone ? status : static_cast<int>(stopped_);
    }

  private:
    Task<void> hear_signals() {
        for (;;) {
            const int signal = co_await signals_.async_wait(asio::use_awaitable);
            const auto why =
                signal == SIGINT ? RunSession::Stop::kInterrupt : RunSession::Stop::kTerminate;
            if (in_session_) {
                session_->stop(why);
            } else {
                stopped_ = why;
                replacement_.stop();
            }
        }
    }

    /// If the connection breaks while the job is created, it may be there or not; the next try deletes
    /// it, so there is never a second one.
    Task<int> run_job(Instant deadline) {
        Duration pause = kFirstTryPause;
        for (;;) {
            const int refused = co_await replace();
            if (refused != 0 || stopped_ != RunSession::Stop::kNone) co_return refused;
            const int ran = co_await run_session();
            const std::optional<Error>& failure = session_->failure();
            const bool again = failure && kube::is_unanswered(*failure) && has_identity() &&
                               session_->stopped() == RunSession::Stop::kNone &&
                               clock_.now() + pause < deadline;
            if (!again) co_return ended(ran);
            console_.tell({Tone::kBad, fmt::format("{}; trying again", failure->message())});
            co_await clock_.sleep_for(pause);
            if (stopped_ != RunSession::Stop::kNone) co_return 0;
            pause = std::min(pause * 2, kLongestTryPause);
        }
    }

    Task<int> run_session() {
        const asio::any_io_executor executor = co_await asio::this_coro::executor;
        session_.emplace(executor, clock_, rng_, connection_.client(), console_, std::vector{job_},
                         run_options(request_));
        StepWatch watch(clock_, connection_.client(), console_, *session_, request_, job_);
        TaskGroup watching(executor);
        watch.start(watching);
        if (push_) push_->start(watching, *session_);
        in_session_ = true;
        const int ran = co_await session_->run();
        in_session_ = false;
        if (push_) push_->observe(*session_);
        co_await watching.stop();
        co_return ran;
    }

    bool has_identity() const { return !request_.run_id.empty() && !request_.task_id.empty(); }

    Task<int> replace() {
        if (!has_identity()) co_return 0;
        const auto replaced = co_await replacement_.run(request_.limits.replace_timeout);
        if (!replaced) co_return fail_step(replaced.error(), &connection_.access());
        if (*replaced != Replacement::End::kTooLate) co_return 0;
        tell_error(kStepName,
                   Error(Code::kTimeout,
                         fmt::format("jobs of an earlier try are still there after "
                                     "--replace-timeout: 'muster get {} -l run-id={},task-id={} -n "
                                     "{}' shows what keeps them",
                                     job_.type.plural, request_.run_id, request_.task_id,
                                     job_.namespace_)));
        co_return status_of(StepEnd::kTimedOut);
    }

    int ended(int ran) {
        const bool posted = !session_->verdicts().empty();
        RunOutcome outcome{.stopped = session_->stopped(),
                           .posted = posted,
                           .away = session_->failure().has_value(),
                           .lost = session_->lost_any()};
        if (posted) {
            outcome.succeeded = ran == 0;
            outcome.condition = session_->verdicts().front().condition;
        }
        if (session_->failure()) (void)fail_step(*session_->failure(), &connection_.access());
        (void)refuse_job(session_->problems());
        const StepEnd end = step_end(outcome);
        for (const StepEndRow& row : step_ends())
            if (row.end == end && end != StepEnd::kSucceeded)
                console_.tell(
                    {Tone::kBad, fmt::format("exit code {}: {}", status_of(end), row.meaning)});
        return status_of(end);
    }

    Clock& clock_;
    Rng& rng_;
    Connection& connection_;
    Console& console_;
    const StepRequest request_;
    const manifest::CheckedObject job_;
    asio::signal_set signals_;
    Replacement replacement_;
    std::optional<MetricsPush> push_;
    std::optional<RunSession> session_;  ///< of the last try
    RunSession::Stop stopped_ = RunSession::Stop::kNone;
    bool in_session_ = false;
};

ConsoleOptions console_of_step(bool quiet, const control_plane::Caller& caller) {
    ConsoleOptions shown = console_for(false, quiet, !caller.variable("NO_COLOR").empty());
    shown.brackets = true;
    shown.gathers = true;
    return shown;
}

}  // namespace

int run_step(const StepOptions& options, const control_plane::Caller& caller) {
    Rng rng = Rng::from_system();
    Contract contract = read_contract(options.words, caller.environment, rng.next());
    if (!contract.problems.empty()) return refuse_step(contract.problems);
    if (options.dry_run) {
        const manifest::CheckResult checked = checked_step_job(contract.request, "default");
        if (const int refused = refuse_job(checked.problems); refused != 0) return refused;
        print_exact(print_objects({checked.objects.front().document.object}, OutputFormat::kYaml));
        return 0;
    }
    RealClock clock;
    asio::io_context context(1);
    ServerOptions server = options.server;
    server.namespace_ = contract.request.namespace_;
    auto connection = Connection::open(server, caller, context.get_executor(), clock);
    if (!connection) return fail_step(connection.error(), nullptr);
    manifest::CheckResult checked =
        checked_step_job(contract.request, (*connection)->default_namespace());
    if (const int refused = refuse_job(checked.problems); refused != 0) return refused;
    std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is seen as a failed write
    Console console(console_of_step(options.quiet, caller));
    for (const std::string& notice : contract.notices) console.tell({Tone::kPlain, notice});
    StepRun run(context, clock, rng, **connection, console, std::move(contract.request),
                std::move(checked.objects.front()));
    return run_to_end(context, run.run());
}

}  // namespace muster::cli
