#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>

#include "base/async/run_to_end.h"
#include "base/log.h"
#include "base/time/loop_watch.h"
#include "base/time/real_clock.h"
#include "base/unexpected.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/server_verbs/up_introduction.h"
#include "cli/internal/server_verbs/up_mappings.h"
#include "cli/internal/verbs/options.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/audit_log.h"
#include "control_plane/cluster_domain.h"
#include "control_plane/daemon/background.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/daemon/space_reserve.h"
#include "control_plane/daemon/state_home.h"
#include "control_plane/daemon/supervisor.h"
#include "control_plane/kubeconfig.h"
#include "control_plane/listen_address.h"
#include "control_plane/own_programs.h"
#include "control_plane/served_cluster.h"
#include "process/core_dumps.h"

namespace muster::cli {

namespace {

constexpr std::string_view kUpHelp =
    R"(Serves the Kubernetes API of this machine: kubectl, the Python client, the Kubeflow SDKs and other
controllers work against it as against a cluster, and what they create runs here.

Usage: muster up [FLAGS]

It is one trust domain: whoever holds the admin token may run any program as you. The token, the certificates
and a kubeconfig with the context "muster" are in the state directory, readable by you only.

      --state DIR            where everything is kept (default: ~/.muster)
      --listen ADDRESS       an IP address, with or without a port (default: 127.0.0.1:6443; port 0: any).
                             Beyond loopback clients must show a certificate of this server's own CA; the
                             kubeconfig has one. With 0.0.0.0 or [::] that file is for this machine;
                             'muster kubeconfig --host HOST' prints it for others
      --api-only             no operator, no node and no job kinds: what etcd and kube-apiserver are to a test
                             suite. Pods stay Pending, and a suite sets their status itself
      --without-operator     pods run, but jobs are left to an operator of yours, and so are their definitions.
                             To leave one kind to it: docs/foreign-controllers.md
      --without-workloads    Deployments, ReplicaSets, Jobs and CronJobs are left to a kube-controller-manager of
                             yours
  -d, --detach               go into the background once it is ready; the log is DIR/muster.log, and older
                             parts of it DIR/muster.log.1 to .3 (10 MiB each)
      --supervise            start it again when it crashes, after 1 s, then 2, up to a minute; its pods go on
                             meanwhile. For services: it stays in the foreground
      --merge-kubeconfig     add the context to $KUBECONFIG or ~/.kube/config, and make it the current one
      --sandbox MODE         as in 'muster run'
      --env NAME=VALUE, --workdir DIR|per-pod, --mount IMAGE_PATH=DIR, --volume CLAIM=DIR,
      --entrypoint IMAGE=COMMAND, --entrypoints FILE, --ignore-resources R, --files, --files-limit
                             as in 'muster run', for all pods of this server. Their objects stay as they are
                             written. A claim without --volume is a directory below DIR/volumes, which stays
      --secret NAME=SOURCE, --config NAME=SOURCE
                             the same, for a Secret or a ConfigMap that does not exist in the namespace of a
                             pod which refers to it; NAMESPACE/NAME for the pods of one namespace. Read when
                             the server starts. There is no object, so no one reads it by the API
      --fit strict|scale     a pod that requests more CPUs or memory than there are waits (default), or its
                             requests are scaled down: to all there is, or to the Nth part for each of N pods
                             that start together
      --audit-log FILE       every request, who made it and its outcome: one JSON line each, an Event of
                             audit.k8s.io/v1. Readable by you only; what Secrets hold is never in it
      --audit-level LEVEL    Metadata (default); Request: with the objects that were sent; RequestResponse: also
                             with those of the answers
      --audit-log-maxsize N  MiB of a file before the next one begins (default: 100)
      --audit-log-maxbackup N
                             older files that are kept, as FILE.1 and so on (default: 5)
      --max-requests-inflight N
                             reads that are served at a time; more get 429, except those of admins
                             (default: 400; 0: any number). Watches, logs and exec do not count
      --max-mutating-requests-inflight N
                             the same for writes (default: 200)
      --event-ttl DURATION   how long an event is kept after it was written last (default: 24h)
  -v, --verbose              muster's own log too; twice for more

Pods go on when it is killed or gets a SIGTERM, and the next 'muster up' in that directory takes them
over: what ended meanwhile is told, and logs have no gap. 'muster down' and Ctrl-C end them. A start that
fails leaves them as they are.

Exit status: 0 after 'muster down', Ctrl-C or SIGTERM; 1 when it could not start.

Examples:
  muster up --detach && export KUBECONFIG=~/.muster/kubeconfig
  kubectl create -f examples/pytorch-digits.yaml && kubectl get pytorchjobs -w
)";

/// Reports the result: on the terminal, or to the parent of a background process.
class Announcement {
  public:
    /// This process goes into the background. The child also has the directory's lock, and keeps it
    /// when the parent has ended.
    Result<void> enter_background(const control_plane::StateHome& home) {
        auto started = control_plane::Background::start("muster up", home.path() / "muster.log",
                                                        [] { return RealClock().wall_now(); });
        if (!started) return started.error();
        background_.emplace(*std::move(started));
        return home.announce({.pid = ::getpid(), .address = {}});
    }
    void ready(const std::string& said) {
        if (background_)
            background_->ready(said);
        else
            fmt::print("{}", said);
        std::fflush(stdout);
    }
    int failed(const Error& error) {
        const std::string text = fmt::format("muster up: {}\n", error.message());
        if (background_)
            background_->failed(text);
        else
            fmt::print(stderr, "{}", text);
        return 1;
    }

  private:
    std::optional<control_plane::Background> background_;
};

/// What is acquired before anything is made.
struct Ground {
    FoundMappings mappings;
    std::string cluster_domain;
    std::unique_ptr<control_plane::AuditLog> audit;  ///< null: none
    control_plane::StateHome home;
    control_plane::SpaceReserve reserve;  ///< looked at before anything is written
};

Result<Ground> take_ground(const UpOptions& options, const control_plane::Caller& caller) {
    Result<std::string> domain = control_plane::cluster_domain(caller);
    if (!domain)
        return Error(Code::kInvalid, fmt::format("{}: {}", control_plane::kClusterDomainVariable,
                                                 domain.error().message()));
    TRY(FoundMappings mappings, find_mappings(options.mappings, caller));
    TRY(auto home,
        control_plane::StateHome::take(control_plane::state_path(options.state_dir, caller)));
    // After the state directory is there: people keep the log in it.
    std::unique_ptr<control_plane::AuditLog> audit;
    if (!options.audit_log.empty()) {
        TRY(audit, control_plane::AuditLog::open(
                       std::filesystem::path(caller.working_dir) / options.audit_log,
                       options.audit_limits));
    }
    control_plane::SpaceReserve reserve(home.path());
    return Ground{std::move(mappings), *std::move(domain), std::move(audit), std::move(home),
                  std::move(reserve)};
}

/// One `muster up`, from its start to its end.
struct DaemonContext {
    const UpOptions& options;
    const control_plane::Caller& caller;
    const control_plane::StateHome& home;
    control_plane::ServedCluster& cluster;
    Announcement& announcement;
    asio::signal_set& signals;
};

Task<Result<std::string>> start(DaemonContext& daemon) {
    const control_plane::KubeAccess& access = daemon.cluster.access();
    CO_TRY(const Introduction introduction,
           Introduction::prepare(daemon.options, daemon.caller, daemon.home, access));
    CO_TRY_VOID(co_await daemon.cluster.start());
    CO_TRY(std::string said, introduction.write());
    CO_TRY_VOID(daemon.home.announce(
        {.pid = ::getpid(), .address = access.server, .version = MUSTER_VERSION}));
    co_return said;
}

Task<int> serve(DaemonContext& daemon) {
    const Result<std::string> started = co_await start(daemon);
    int status = 0;
    // Those that outlived the last one are not ours to end before we are there for them.
    bool leaves_pods = true;
    if (started) {
        daemon.announcement.ready(*started);
        leaves_pods = co_await daemon.signals.async_wait(asio::use_awaitable) == SIGTERM;
    } else {
        status = daemon.announcement.failed(started.error());
    }
    co_await daemon.cluster.stop_serving();
    // As if killed, so that there is only one way to leave pods where they are. What was answered
    // is on disk.
    if (leaves_pods) {
        std::fflush(nullptr);
        ::_exit(status);
    }
    co_await daemon.cluster.stop_cluster();
    co_return 0;
}

control_plane::Actors actors_of(const UpOptions& options) {
    using enum control_plane::Actors;
    if (options.api_only) return kNone;
    return options.without_operator ? kNodeAlone : kOperatorAndNode;
}

int up(const UpOptions& options) {
    if (options.verbose > 0)
        log::set_level(options.verbose > 1 ? log::Level::kDebug : log::Level::kInfo);
    const rlim_t core_bytes = process::forbid_core_dumps();
    const control_plane::Caller caller = control_plane::with_own_programs(
        control_plane::current_caller(), control_plane::MissingLink::kLeave);
    Announcement announcement;
    if (options.supervise) {
        const auto ended =
            control_plane::supervise(control_plane::state_path(options.state_dir, caller));
        if (!ended) return announcement.failed(ended.error());
        if (*ended) return **ended;
    }
    auto ground = take_ground(options, caller);
    if (!ground) return announcement.failed(ground.error());
    if (options.detach)
        if (Result<void> entered = announcement.enter_background(ground->home); !entered)
            return announcement.failed(entered.error());

    std::signal(SIGPIPE, SIG_IGN);  // a client that goes away is seen as a failed write
    Rng rng = Rng::from_system();
    RealClock clock;
    asio::io_context context(1);
    LoopWatch loop(clock);
    asio::signal_set signals(context, SIGINT, SIGTERM, SIGHUP);
    auto cluster = control_plane::ServedCluster::create(
        context.get_executor(), clock, rng, ground->home, caller,
        {.listen = options.listen,
         .actors = actors_of(options),
         .workloads = !options.api_only && !options.without_workloads,
         .sandbox = options.sandbox,
         .limits = options.limits,
         .audit = ground->audit.get(),
         .audit_level = options.audit_level,
         .pods = ground->mappings.pods,
         .cluster_domain = ground->cluster_domain,
         .has_room = [&] { return ground->reserve.has_room(); },
         .core_bytes = core_bytes,
         .event_ttl = options.event_ttl,
         .loop = &loop});
    if (!cluster) return announcement.failed(cluster.error());
    for (const std::string& notice : (*cluster)->notices()) fmt::print(stderr, "{}\n", notice);
    if (!ground->mappings.entrypoints_file.empty() && !options.api_only)
        fmt::print(stderr, "containers without a command get those of {}\n",
                   ground->mappings.entrypoints_file);
    DaemonContext daemon{options, caller, ground->home, **cluster, announcement, signals};
    int status = 1;
    asio::co_spawn(context, serve(daemon), [&](std::exception_ptr thrown, int result) {
        if (thrown) end_process_for("muster up", thrown);
        status = result;
    });
    loop.run(context);
    return status;
}

std::optional<std::string> read_audit_level(const std::string& text,
                                            apiserver_http::AuditLevel& level) {
    if (text == "Metadata")
        level = apiserver_http::AuditLevel::kMetadata;
    else if (text == "Request")
        level = apiserver_http::AuditLevel::kRequest;
    else if (text == "RequestResponse")
        level = apiserver_http::AuditLevel::kRequestResponse;
    else
        return fmt::format("--audit-level wants Metadata, Request or RequestResponse, not \"{}\"",
                           text);
    return std::nullopt;
}

constexpr std::uint64_t kMiB = 1024 * 1024;

class UpVerb final : public VerbOf<UpOptions> {
  public:
    UpVerb() : VerbOf("up", kUpHelp) {}

    void declare(Flags& flags) override {
        declare_state_flag(flags, options_.state_dir);
        node_.declare(flags, options_.mappings);
        flags.value("--listen", listen_);
        flags.flag("--detach,-d", options_.detach);
        flags.flag("--supervise", options_.supervise);
        flags.flag("--api-only", options_.api_only);
        flags.flag("--without-operator", options_.without_operator);
        flags.flag("--without-workloads", options_.without_workloads);
        flags.exclude("--api-only", "--without-operator");
        flags.exclude("--api-only", "--without-workloads");
        flags.exclude("--supervise", "--detach");
        flags.flag("--merge-kubeconfig", options_.merge_kubeconfig);
        flags.value("--sandbox", sandbox_);
        flags.value("--audit-log", options_.audit_log);
        flags.value("--audit-level", audit_level_);
        flags.value("--audit-log-maxsize", audit_log_mib_);
        flags.value("--audit-log-maxbackup", options_.audit_limits.kept, not_a_count);
        flags.value("--max-requests-inflight", options_.limits.read_only, not_a_count);
        flags.value("--max-mutating-requests-inflight", options_.limits.mutating, not_a_count);
        flags.value("--event-ttl", event_ttl_);
        flags.count("--verbose,-v", options_.verbose);
    }
    std::optional<std::string> finish(const Flags& flags) override {
        if (auto wrong = node_.finish(options_.mappings)) return wrong;
        if (const std::string given = NodeFlags::given(flags); options_.api_only && !given.empty())
            return fmt::format("{} is about pods, and --api-only runs none: leave one of them out",
                               given);
        std::optional<std::chrono::nanoseconds> event_ttl;
        if (auto wrong = read_duration("--event-ttl", event_ttl_, "1h or 1h30m", event_ttl))
            return wrong;
        options_.event_ttl = event_ttl.value_or(options_.event_ttl);
        if (auto wrong = read_audit_level(audit_level_, options_.audit_level)) return wrong;
        if (audit_log_mib_ == 0 || audit_log_mib_ > kMiB)
            return fmt::format("--audit-log-maxsize wants 1 to {} MiB", kMiB);
        options_.audit_limits.file_bytes = audit_log_mib_ * kMiB;
        if (options_.audit_log.empty() &&
            options_.audit_level != apiserver_http::AuditLevel::kMetadata)
            return "--audit-level needs --audit-log FILE: nothing is recorded without it";
        if (auto wrong = read_sandbox(sandbox_, options_.sandbox)) return wrong;
        if (listen_.empty()) return std::nullopt;
        const auto listen = control_plane::parse_listen_address(listen_);
        if (!listen)
            return fmt::format(
                "--listen wants an IP address with or without a port, such as 127.0.0.1:6443 or "
                "[::1]:6443, not \"{}\"",
                listen_);
        options_.listen = *listen;
        return std::nullopt;
    }
    int run() override { return up(options_); }

  private:
    NodeFlags node_;
    std::string listen_;
    std::string sandbox_ = "auto";
    std::string audit_level_ = "Metadata";
    std::string event_ttl_;
    std::uint64_t audit_log_mib_ = 100;
};

}  // namespace

std::unique_ptr<Verb> up_verb() { return std::make_unique<UpVerb>(); }

}  // namespace muster::cli
