#include "cli/internal/logs/job_logs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/rng.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/logs/attempt_reader.h"
#include "cli/internal/logs/log_session.h"
#include "cli/internal/logs/retained_pods.h"
#include "cli/internal/objects/bare_names.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/objects/object_follow.h"
#include "cli/internal/objects/object_words.h"
#include "control_plane/daemon/caller.h"
#include "jobs/kind.h"
#include "kube/client/reflector.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

/// The job or pod whose logs are requested.
struct Subject {
    std::string shown;  ///< "pytorchjob.kubeflow.org/digits"
    bool of_job = false;
    std::optional<kube::ResourceType> job;  ///< if it exists; unset: a pod, or gone
    std::string name;
    std::string uid;                         ///< empty: it is gone, but logs of it were kept
    std::vector<runtime::RetainedPod> kept;  ///< of its pods that are gone
};

/// The retained logs of pods of the namespace.
std::vector<runtime::RetainedPod> list_kept(const Connection& connection) {
    const auto directory = retained_logs_dir(connection.access(), control_plane::current_caller());
    if (!directory) return {};
    return runtime::list_retained_logs(*directory, connection.default_namespace());
}

/// A job of that name, or a pod, of which only the logs are left.
std::optional<Subject> find_gone(const std::vector<runtime::RetainedPod>& kept,
                                 const std::string& name, bool maybe_job, bool maybe_pod) {
    for (const bool pod : {false, true}) {
        if (pod ? !maybe_pod : !maybe_job) continue;
        auto chosen = choose_kept(kept, {.name = name, .pod = pod}, {});
        if (!chosen.empty())
            return Subject{.shown = fmt::format("{} {}", pod ? "pod" : "job", name),
                           .of_job = !pod,
                           .job = {},
                           .name = name,
                           .uid = {},
                           .kept = std::move(chosen)};
    }
    return std::nullopt;
}

/// JOB, KIND/JOB or pod/NAME. A bare name is first that of a job, then that of a pod.
Task<Result<Subject>> find_subject(Connection& connection, const LogsOptions& options) {
    CO_TRY(const ResourceCatalog catalog, co_await discover(connection));
    CO_TRY(const PossibleObject possible, parse_object_name(options.about, catalog));
    const auto& [kinds, name] = possible;
    CO_TRY(const NamedObject found, co_await find_named(connection, kinds, name));
    if (const ApiResource* kind = found.resource) {
        Subject subject{.shown = fmt::format("{}/{}", kind->qualified_singular(), name),
                        .of_job = kind->type != kube::types::kPods,
                        .job = {},
                        .name = name,
                        .uid = std::string(kube::uid_of(found.object->get_object())),
                        .kept = {}};
        if (subject.of_job) {
            subject.job = kind->type;
            subject.kept = list_kept(connection);
        }
        co_return subject;
    }
    const auto is_pod = [](const ApiResource* kind) { return kind->type == kube::types::kPods; };
    if (auto gone = find_gone(list_kept(connection), name, !std::ranges::all_of(kinds, is_pod),
                              std::ranges::any_of(kinds, is_pod)))
        co_return *std::move(gone);
    co_return Error(
        Code::kNotFound,
        fmt::format("there is no {} \"{}\" in namespace {}",
                    kinds.size() == 1 ? kinds.front()->qualified_singular() : "job and no pod",
                    name, connection.default_namespace()));
}

kube::ListOptions pods_of(const Subject& subject, const std::string& ns) {
    kube::ListOptions options;
    options.namespace_ = ns;
    if (subject.job)
        options.label_selector = fmt::format("{}={}", jobs::labels::kJobName, subject.name);
    else
        options.field_selector = "metadata.name=" + subject.name;
    return options;
}

LogChoice choice_of(const LogsOptions& options) {
    return {.rank = options.rank, .replica = options.replica, .container = options.container};
}

Task<Result<std::vector<LogPod>>> list_pods(Connection& connection, Subject subject) {
    CO_TRY(const kube::ListResult list,
           co_await connection.client().list(kube::types::kPods,
                                             pods_of(subject, connection.default_namespace())));
    std::vector<LogPod> pods;
    for (const kube::ObjectPtr& object : list.items) pods.push_back(log_pod(*object));
    co_return pods;
}

/// Starts to read a container's log, wherever it is.
void read_log(kube::Client& client, LogSession& session, const LogSource& source,
              const std::vector<runtime::RetainedPod>& kept) {
    const auto pod = std::ranges::find(kept, source.pod_uid, &runtime::RetainedPod::uid);
    if (pod == kept.end())
        session.read(client, source);
    else
        session.read(source, *pod, source.started - 1);
}

/// Follows the pods of a subject, and starts to read each container's instances as they begin.
class PodsFollower {
  public:
    /// `kept`: pods of it that are gone.
    PodsFollower(kube::Client& client, LogSession& session, LogChoice choice,
                 std::vector<runtime::RetainedPod> kept)
        : client_(client), session_(session), choice_(std::move(choice)), kept_(std::move(kept)) {
        for (const runtime::RetainedPod& pod : kept_) pods_.insert_or_assign(pod.uid, log_pod(pod));
    }

    void observe(LogPod pod) {
        pods_.insert_or_assign(pod.view.uid, std::move(pod));
        read_new();
    }

    /// Reads the logs of instances that have begun since.
    void read_new() {
        std::vector<LogPod> all;
        for (const auto& [uid, known] : pods_) all.push_back(known);
        for (const LogSource& source : choose_sources(std::move(all), choice_)) {
            int& read = read_[{source.pod_uid, source.container}];
            if (read >= source.started) continue;
            // The server gives the newest instance; one that came and went between two states of
            // the pod is the one before it.
            read = source.started;
            read_log(client_, session_, source, kept_);
        }
    }

  private:
    kube::Client& client_;
    LogSession& session_;
    LogChoice choice_;
    std::vector<runtime::RetainedPod> kept_;
    std::map<std::string, LogPod> pods_;                       ///< by uid
    std::map<std::pair<std::string, std::string>, int> read_;  ///< instances, by uid and container
};

/// Watches a subject and its pods until it has ended; then the session has everything.
struct Following {
    Connection& connection;
    LogSession& session;
    Subject subject;
    PodsFollower pods;
    std::string verb;
    Rng rng = Rng::from_system();
    std::unique_ptr<kube::Reflector> reflector = {};

    Task<void> run() {
        pods.read_new();  // what was kept
        kube::Reflector::Sink sink;
        const auto seen = [this](const json::value& object) { pods.observe(log_pod(object)); };
        sink.begin_list = [] {};
        sink.listed = [seen](const std::string&, kube::ObjectPtr object) { seen(*object); };
        sink.end_list = [] {};
        sink.upsert = [seen](const std::string&, kube::ObjectPtr object) { seen(*object); };
        sink.erase = [](const std::string&) {};
        reflector = std::make_unique<kube::Reflector>(
            connection.client(), connection.clock(), rng, kube::types::kPods,
            pods_of(subject, connection.default_namespace()), std::move(sink));
        reflector->start(connection.tasks());
        co_await reflector->wait_synced();
        const kube::ResourceType type = subject.job.value_or(kube::types::kPods);
        const std::function<bool(const json::value*)> ended = [this](const json::value* object) {
            if (object == nullptr) return true;
            if (!subject.job) return log_pod(*object).view.finished();
            const std::optional<JobView> job = job_view(*object);
            return job && job->finished();
        };
        auto followed = co_await follow_object(connection, type, connection.default_namespace(),
                                               subject.name, ended);
        if (!followed) tell_error(verb, followed.error());
        // What the watch of the pods may not have shown yet.
        auto last = co_await list_pods(connection, subject);
        if (last)
            for (LogPod& pod : *last) pods.observe(std::move(pod));
        session.no_more();
    }
};

/// A log without a line is one of a program that is silent, or of one that never started: that is
/// said, with why.
Task<Result<int>> explain_silence(Connection& connection, Subject subject, LogChoice choice,
                                  std::vector<LogPod> pods, bool any_log) {
    if (!subject.uid.empty()) {
        auto now = co_await list_pods(connection, subject);
        if (now && !now->empty()) pods = *std::move(now);
    }
    std::string why = why_none_started(pods, choice);
    if (pods.empty() && !any_log) why = nothing_chosen(pods, choice);
    if (why.empty()) co_return 0;
    co_return Error(Code::kNotFound, fmt::format("{}: {}", subject.shown, why));
}

/// Why no container has had such an attempt.
Error no_attempt(const Subject& subject, std::optional<int> number, int most) {
    std::string why;
    if (!number)
        why = "nothing ran before: no container was restarted, as far as logs were kept";
    else if (most == 0)
        why = fmt::format("there is no attempt {}: no container has started", *number);
    else
        why = fmt::format("there is no attempt {}: the last one is {}", *number, most - 1);
    return {Code::kNotFound, fmt::format("{}: {}", subject.shown, why)};
}

/// Begins to read an earlier attempt of each source.
Result<void> read_attempts(Connection& connection, const LogsOptions& options, LogSession& session,
                           const Subject& subject, const std::vector<LogPod>& pods,
                           const std::vector<LogSource>& sources, const std::string& verb) {
    if (sources.empty())
        return Error(Code::kNotFound, fmt::format("{}: {}", subject.shown,
                                                  nothing_chosen(pods, choice_of(options))));
    AttemptReader reader(session, &connection.client(), pods, subject.kept, list_kept(connection));
    for (const LogSource& source : sources) reader.read(source, options.attempt);
    if (!reader.any())
        return reader.missing().empty() ? no_attempt(subject, options.attempt, reader.most())
                                        : reader.missing().front();
    for (const Error& missing : reader.missing()) tell_error(verb, missing);
    session.no_more();
    return {};
}

/// Begins to read the newest log of each source.
Result<void> read_newest(Connection& connection, const LogsOptions& options, LogSession& session,
                         const Subject& subject, const std::vector<LogPod>& pods,
                         const std::vector<LogSource>& sources) {
    bool any = false;
    for (const LogSource& source : sources) {
        if (source.started == 0) continue;
        any = true;
        read_log(connection.client(), session, source, subject.kept);
    }
    if (!any)
        return Error(Code::kNotFound, fmt::format("{}: {}", subject.shown,
                                                  nothing_chosen(pods, choice_of(options))));
    session.no_more();
    return {};
}

}  // namespace

Task<Result<int>> show_job_logs(Connection& connection, const LogsOptions& options,
                                Console& console, std::string verb) {
    CO_TRY(Subject subject, co_await find_subject(connection, options));
    std::vector<LogPod> pods;
    if (!subject.uid.empty()) {
        CO_TRY(pods, co_await list_pods(connection, subject));
    }
    if (subject.job)
        subject.kept =
            choose_kept(std::move(subject.kept), {.name = subject.name, .uid = subject.uid}, pods);
    for (const runtime::RetainedPod& pod : subject.kept) pods.push_back(log_pod(pod));
    const std::vector<LogSource> sources = choose_sources(pods, choice_of(options));
    const bool prefixes = subject.of_job || sources.size() > 1;
    const bool earlier = options.previous || options.attempt;
    auto session = std::make_shared<LogSession>(connection.tasks(), connection.clock(), options,
                                                console, prefixes);
    connection.keep(session);
    if (options.follow && !subject.uid.empty()) {
        auto following = std::make_shared<Following>(
            connection, *session, subject,
            PodsFollower(connection.client(), *session, choice_of(options), subject.kept), verb);
        connection.keep(following);
        // This process shows these logs and does nothing else.
        connection.tasks().spawn_essential("pods", following->run());
    } else if (earlier) {
        CO_TRY_VOID(read_attempts(connection, options, *session, subject, pods, sources, verb));
    } else {
        CO_TRY_VOID(read_newest(connection, options, *session, subject, pods, sources));
    }
    CO_TRY(const int status, co_await session->run());
    for (const Error& failure : session->failures()) tell_error(verb, failure);
    if (status != 0 || earlier || session->anything_came()) co_return status;
    co_return co_await explain_silence(connection, subject, choice_of(options), std::move(pods),
                                       session->opened() > 0);
}

}  // namespace muster::cli
