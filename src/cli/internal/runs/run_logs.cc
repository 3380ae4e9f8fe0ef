#include "cli/internal/runs/run_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <map>
#include <set>

#include "base/async/run_to_end.h"
#include "base/time/real_clock.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/logs/attempt_reader.h"
#include "cli/internal/logs/log_session.h"
#include "cli/internal/logs/retained_pods.h"
#include "cli/internal/record/run_folder.h"
#include "cli/internal/record/run_objects.h"
#include "cli/internal/runs/run_watch.h"
#include "runtime/retained_logs.h"

namespace muster::cli {

namespace {

constexpr const char* kLogsVerb = "logs";

LogChoice choice_of(const LogsOptions& options) {
    return {.rank = options.rank, .replica = options.replica, .container = options.container};
}

/// Of pods that had one name after the other, the newest.
std::vector<runtime::RetainedPod> newest_of(std::vector<runtime::RetainedPod> kept) {
    std::ranges::sort(kept, std::greater(), &runtime::RetainedPod::written);
    std::set<std::pair<std::string, std::string>> names;
    std::erase_if(kept, [&](const runtime::RetainedPod& pod) {
        return !names.emplace(pod.namespace_, pod.name).second;
    });
    return kept;
}

/// The pods as the run last saw them, which know ranks and states.
std::map<std::string, LogPod> seen_pods(const FoundRun& run) {
    std::map<std::string, LogPod> pods;
    const Result<std::string> text = read_run_file(run.folder, kObjectsFile);
    const Result<RunObjects> objects = text ? run_objects(*text) : text.error();
    if (!objects) return pods;
    for (const kube::ObjectPtr& object : objects->pods) {
        LogPod pod = log_pod(*object);
        pods.insert_or_assign(pod.view.uid, std::move(pod));
    }
    return pods;
}

/// Each pod that left a log, with what else is known of it.
std::vector<LogPod> pods_of(const FoundRun& run, const std::vector<runtime::RetainedPod>& kept) {
    const std::map<std::string, LogPod> seen = seen_pods(run);
    std::vector<LogPod> pods;
    for (const runtime::RetainedPod& one : kept) {
        LogPod pod = log_pod(one);
        if (const auto known = seen.find(one.uid); known != seen.end())
            pod.rank = known->second.rank;
        pods.push_back(std::move(pod));
    }
    return pods;
}

std::vector<runtime::RetainedPod> kept_of(const FoundRun& run) {
    return runtime::list_retained_logs(run.folder / kLogsDirectory);
}

const runtime::RetainedPod* find_pod(const std::vector<runtime::RetainedPod>& kept,
                                     const std::string& uid) {
    const auto found = std::ranges::find(kept, uid, &runtime::RetainedPod::uid);
    return found == kept.end() ? nullptr : &*found;
}

/// The logs of one run, as they are or as they grow.
class RunLogs {
  public:
    RunLogs(const FoundRun& run, const LogsOptions& options, Console& console, Clock& clock,
            asio::any_io_executor executor)
        : run_(run),
          options_(options),
          console_(console),
          clock_(clock),
          tasks_(std::move(executor)) {}

    Task<Result<int>> run() {
        Result<int> shown = co_await show();
        co_await tasks_.stop();
        co_return shown;
    }

  private:
    Task<Result<int>> show() {
        const std::vector<runtime::RetainedPod> all = kept_of(run_);
        const std::vector<runtime::RetainedPod> newest = newest_of(all);
        const std::vector<LogPod> pods = pods_of(run_, newest);
        const std::vector<LogSource> sources = choose_sources(pods, choice_of(options_));
        const bool follows = options_.follow && run_.alive;
        session_.emplace(tasks_, clock_, options_, console_, follows || sources.size() > 1);
        if (follows) {
            CO_TRY_VOID(start_following());
        } else {
            CO_TRY_VOID(read(all, newest, pods, sources));
            session_->no_more();
        }
        CO_TRY(const int status, co_await session_->run());
        for (const Error& failure : session_->failures()) tell_error(kLogsVerb, failure);
        co_return status;
    }

    Result<void> read(const std::vector<runtime::RetainedPod>& all,
                      const std::vector<runtime::RetainedPod>& newest,
                      const std::vector<LogPod>& pods, const std::vector<LogSource>& sources) {
        const auto nothing = [this](std::string why) {
            return Error(Code::kNotFound, fmt::format("run {}: {}", run_.record.name, why));
        };
        if (sources.empty())
            return nothing(pods.empty() ? "no program has started, or its logs are gone"
                                        : nothing_chosen(pods, choice_of(options_)));
        AttemptReader reader(*session_, nullptr, pods, newest, all);
        for (const LogSource& source : sources) {
            const runtime::RetainedPod* const pod = find_pod(newest, source.pod_uid);
            if (options_.previous || options_.attempt)
                reader.read(source, options_.attempt);
            else if (pod != nullptr && source.started > 0)
                session_->read(source, *pod, source.started - 1);
        }
        if (!options_.previous && !options_.attempt) return {};
        for (const Error& missing : reader.missing()) tell_error(kLogsVerb, missing);
        if (reader.any() || !reader.missing().empty()) return {};
        return nothing(options_.previous ? "nothing ran before: no container was restarted"
                                         : fmt::format("there is no attempt {}: the last one is {}",
                                                       *options_.attempt, reader.most() - 1));
    }

    Result<void> start_following() {
        TRY(watch_, RunWatch::create(tasks_, run_));
        TRY(follower_, runtime::RetainedLogFollower::create(tasks_.executor()));
        watch_->start();
        tasks_.spawn_essential("watch of the logs", follower_->run());
        tasks_.spawn_essential("pods", follow());
        return {};
    }

    Task<void> follow() {
        while (!watch_->ended()) {
            look();
            co_await watch_->changed().wait();
        }
        look();
        follower_->end_all();
        session_->no_more();
    }

    /// Starts to read what has begun, and ends what has ended.
    void look() {
        const std::vector<runtime::RetainedPod> all = kept_of(run_);
        for (const LogSource& source : choose_sources(pods_of(run_, all), choice_of(options_))) {
            const runtime::RetainedPod* const pod = find_pod(all, source.pod_uid);
            int& read = read_[{source.pod_uid, source.container}];
            for (; pod != nullptr && read < source.started; ++read) {
                if (read > 0) follower_->end(source.pod_uid, source.container, read - 1);
                session_->read(source.shown,
                               [this, pod = *pod, instance = read, container = source.container] {
                                   return open(pod, instance, container);
                               });
            }
        }
        for (const auto& [uid, pod] : seen_pods(run_))
            for (const ContainerView& container : pod.view.containers)
                if (container.terminated) follower_->end(uid, container.name, container.restarts);
    }

    Task<Result<std::unique_ptr<kube::TextStream>>> open(runtime::RetainedPod pod, int instance,
                                                         std::string container) {
        kube::LogOptions request = request_of(options_, container);
        co_return follower_->open(pod, instance, std::move(request), clock_.wall_now());
    }

    const FoundRun& run_;
    const LogsOptions& options_;
    Console& console_;
    Clock& clock_;
    std::optional<LogSession> session_;
    std::unique_ptr<RunWatch> watch_;
    std::unique_ptr<runtime::RetainedLogFollower> follower_;
    std::map<std::pair<std::string, std::string>, int> read_;  ///< instances
    TaskGroup tasks_;
};

}  // namespace

int show_run_logs(const FoundRun& run, const LogsOptions& options,
                  const control_plane::Caller& caller) {
    ConsoleOptions shown = console_for(false, false, !caller.variable("NO_COLOR").empty());
    shown.raw = options.raw;
    Console console(shown);
    RealClock clock;
    asio::io_context context(1);
    RunLogs logs(run, options, console, clock, context.get_executor());
    // Ctrl-C ends a process that has nothing to clean up, also where a shell has started it with
    // this signal ignored.
    std::signal(SIGINT, SIG_DFL);
    const Result<int> status = run_to_end(context, logs.run());
    if (status) return *status;
    tell_error(kLogsVerb, status.error());
    return 1;
}

}  // namespace muster::cli
