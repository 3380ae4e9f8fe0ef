#include <fmt/format.h>

#include <cstdio>

#include "cli/caller.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/logs/log_session.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/objects/object_follow.h"
#include "cli/internal/objects/object_words.h"
#include "cli/verbs.h"
#include "jobs/kind.h"
#include "kube/json_access.h"
#include "kube/reflector.h"

namespace muster::cli {

namespace {

constexpr const char* kVerb = "logs";
constexpr std::string_view kJobGroup = "kubeflow.org";

/// Whose logs are wanted.
struct Subject {
    std::string shown;                      ///< "pytorchjob.kubeflow.org/digits"
    std::optional<kube::ResourceType> job;  ///< none: a pod
    std::string name;
};

/// JOB, KIND/JOB or pod/NAME. A bare name is first that of a job, then that of a pod.
Task<Result<Subject>> find_subject(Connection& connection, const LogsOptions& options) {
    CO_TRY(const ResourceCatalog catalog, co_await discover(connection));
    std::vector<const ApiResource*> kinds;
    std::string name = options.about;
    if (options.about.find('/') != options.about.npos) {
        CO_TRY(const auto targets, parse_object_words({options.about}, catalog));
        kinds.push_back(targets.front().resource);
        name = targets.front().names.front();
    } else {
        for (const ApiResource& resource : catalog.all())
            if (resource.type.group == kJobGroup && resource.can("get")) kinds.push_back(&resource);
        CO_TRY(const auto pods, catalog.find("pods"));
        kinds.push_back(pods.front());
    }
    for (const ApiResource* kind : kinds) {
        auto object =
            co_await connection.client().get(kind->type, connection.default_namespace(), name);
        if (!object && object.error().code() != Code::kNotFound) co_return object.error();
        if (!object) continue;
        Subject subject{fmt::format("{}/{}", kind->qualified_singular(), name), {}, name};
        if (kind->type != kube::types::kPods) subject.job = kind->type;
        co_return subject;
    }
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

/// Follows the pods of a subject, and starts to read each container's instances as they begin.
class PodsFollower {
  public:
    PodsFollower(LogSession& session, LogChoice choice)
        : session_(session), choice_(std::move(choice)) {}

    void observe(LogPod pod) {
        pods_.insert_or_assign(pod.view.uid, std::move(pod));
        std::vector<LogPod> all;
        for (const auto& [uid, known] : pods_) all.push_back(known);
        for (const LogSource& source : choose_sources(std::move(all), choice_)) {
            int& read = read_[{source.pod_uid, source.container}];
            if (read >= source.started) continue;
            // The server gives the newest instance; one that came and went between two states of
            // the pod is that before it.
            read = source.started;
            session_.read(source);
        }
    }

  private:
    LogSession& session_;
    LogChoice choice_;
    std::map<std::string, LogPod> pods_;                       ///< by uid
    std::map<std::pair<std::string, std::string>, int> read_;  ///< instances, by uid and container
};

/// Watches a subject's pods and the subject until it has ended; then the session has all.
struct Following {
    Connection& connection;
    LogSession& session;
    Subject subject;
    PodsFollower pods;
    Rng rng = Rng::from_system();
    std::unique_ptr<kube::Reflector> reflector = {};

    Task<void> run() {
        kube::Reflector::Sink sink;
        const auto seen = [this](const json::value& object) { pods.observe(log_pod(object)); };
        sink.replace = [seen](std::vector<std::pair<std::string, kube::ObjectPtr>> all) {
            for (const auto& [key, object] : all) seen(*object);
        };
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
        if (!followed) tell_error(kVerb, followed.error());
        // What the watch of the pods may not have told yet.
        auto last = co_await list_pods(connection, subject);
        if (last)
            for (LogPod& pod : *last) pods.observe(std::move(pod));
        session.no_more();
    }
};

Task<Result<int>> show_logs(Connection& connection, const LogsOptions& options, Screen& screen) {
    CO_TRY(const Subject subject, co_await find_subject(connection, options));
    CO_TRY(const std::vector<LogPod> pods, co_await list_pods(connection, subject));
    const std::vector<LogSource> sources = choose_sources(pods, choice_of(options));
    const bool prefixes = subject.job.has_value() || sources.size() > 1;
    auto session = std::make_shared<LogSession>(connection, options, screen,
                                                co_await asio::this_coro::executor, prefixes);
    connection.keep(session);
    if (options.follow) {
        auto following = std::make_shared<Following>(connection, *session, subject,
                                                     PodsFollower(*session, choice_of(options)));
        connection.keep(following);
        connection.tasks().spawn("pods", following->run());
    } else {
        bool any = false;
        for (const LogSource& source : sources) {
            if (source.started == 0) continue;
            any = true;
            session->read(source);
        }
        if (!any)
            co_return Error(Code::kNotFound, fmt::format("{}: {}", subject.shown,
                                                         nothing_chosen(pods, choice_of(options))));
        session->no_more();
    }
    CO_TRY(const int status, co_await session->run());
    for (const Error& failure : session->failures()) tell_error(kVerb, failure);
    co_return status;
}

}  // namespace

int logs(const LogsOptions& options) {
    Screen screen(screen_for(false, false, !current_caller().variable("NO_COLOR").empty()));
    return on_server(kVerb, options.server, [&](Connection& connection) {
        return show_logs(connection, options, screen);
    });
}

}  // namespace muster::cli
