#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <charconv>
#include <csignal>
#include <cstdio>

#include "apiserver_http/http_front.h"
#include "apiserver_http/metric_family.h"
#include "base/log.h"
#include "base/real_clock.h"
#include "cli/internal/command_line/shared_flags.h"
#include "cli/internal/connect/kubeconfig_places.h"
#include "cli/internal/connect/shell_word.h"
#include "cli/internal/verbs/options.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/audit_log.h"
#include "control_plane/background.h"
#include "control_plane/caller.h"
#include "control_plane/cluster_domain.h"
#include "control_plane/credentials.h"
#include "control_plane/kubeconfig.h"
#include "control_plane/listen_address.h"
#include "control_plane/local_cluster.h"
#include "control_plane/machine.h"
#include "control_plane/node_settings.h"
#include "control_plane/process_metrics.h"
#include "control_plane/state_home.h"
#include "control_plane/webhook_client.h"
#include "control_plane/yaml_bodies.h"
#include "manifest/read_files.h"
#include "net/http_server.h"
#include "net/tcp.h"
#include "store/sqlite_store.h"

namespace muster::cli {

namespace {

constexpr std::string_view kHelp =
    R"(Serves the Kubernetes API of this machine: kubectl, the Python client, the Kubeflow SDKs and other
controllers work against it as against a cluster, and what they create runs here.

Usage: muster up [FLAGS]

It is one trust domain: who holds the admin token may run any program as you. The token, the certificates
and a kubeconfig with the context "muster" are in the state directory, for your eyes only.

      --state DIR            where everything is kept (default: ~/.muster)
      --listen ADDRESS       an IP address, with or without a port (default: 127.0.0.1:6443; port 0: any).
                             Beyond loopback clients must show a certificate of this server's own CA; the
                             kubeconfig has one
  -d, --detach               go into the background once it is ready; the log is DIR/muster.log
      --merge-kubeconfig     add the context to $KUBECONFIG or ~/.kube/config, and make it the current one
      --sandbox MODE         as in 'muster run'
      --audit-log FILE       who asked for what and what became of it: one JSON line a request, an Event of
                             audit.k8s.io/v1. For your eyes only; what Secrets hold is never in it
      --audit-level LEVEL    Metadata (default); Request: with the objects that were sent; RequestResponse: with
                             those that were answered
      --audit-log-maxsize N  MiB of a file before the next one begins (default: 100)
      --audit-log-maxbackup N
                             older files that are kept, as FILE.1 and so on (default: 5)
      --max-requests-inflight N
                             reads that are served at a time; more are answered 429, but for admins
                             (default: 400; 0: any number). Watches, logs and exec do not count
      --max-mutating-requests-inflight N
                             the same for writes (default: 200)
  -v, --verbose              muster's own log too; twice for more

Pods go on when it is killed or gets a SIGTERM, and the next 'muster up' in that directory takes them
over: what ended meanwhile is told, and logs have no gap. 'muster down' and Ctrl-C end them.

Exit status: 0 after 'muster down', Ctrl-C or SIGTERM; 1 when it could not start.

Examples:
  muster up --detach && export KUBECONFIG=~/.muster/kubeconfig
  kubectl create -f examples/pytorch-digits.yaml && kubectl get pytorchjobs,pods -w
)";

/// "127.0.0.1:6443" -> 6443.
std::uint16_t port_of(std::string_view address) {
    std::uint16_t port = 0;
    const std::string_view digits = address.substr(address.rfind(':') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), port);
    return port;
}

std::filesystem::path default_kubeconfig(const control_plane::Caller& caller) {
    // As for those who read: a list, in which empty entries stand for nothing.
    std::filesystem::path file = kubeconfig_places("", caller).files.front();
    std::error_code failed;
    // A link stays one: what it leads to is changed.
    const std::filesystem::path real = std::filesystem::canonical(file, failed);
    return failed ? file : real;
}

/// Writes where clients look, and what a person has to know.
Result<std::string> introduce(const UpOptions& options, const control_plane::Caller& caller,
                              const control_plane::StateHome& home,
                              const control_plane::KubeAccess& access) {
    const std::filesystem::path own = home.path() / "kubeconfig";
    TRY(const std::string text, control_plane::merge_kubeconfig("", access));
    TRY_VOID(control_plane::write_private_file(own, text));
    std::string said = fmt::format("muster is up at {}\n", access.server);
    if (!options.merge_kubeconfig) {
        said += fmt::format("  export KUBECONFIG={}\n", shell_word(own.string()));
        return said;
    }
    const std::filesystem::path theirs = default_kubeconfig(caller);
    std::error_code missing;
    std::string existing;
    if (std::filesystem::exists(theirs, missing)) {
        Result<std::string> before = manifest::read_file(theirs.string());
        if (!before) return Error(before.error()).prefix(theirs.string());
        existing = *std::move(before);
    }
    Result<std::string> merged = control_plane::merge_kubeconfig(existing, access);
    if (!merged) {
        merged.error().prefix(fmt::format(
            "--merge-kubeconfig can't add to {}, which was left as it is", theirs.string()));
        return merged.error();
    }
    TRY_VOID(control_plane::write_private_file(theirs, *merged));
    said += fmt::format("  {} has the context muster now\n", theirs.string());
    return said;
}

/// What /metrics says of this process, its sockets and its audit log, if there is one.
std::shared_ptr<prometheus::Collectable> metrics_of(const net::HttpServer& server,
                                                    const control_plane::AuditLog* audit) {
    return std::make_shared<apiserver_http::CollectedNow>([&server, audit] {
        std::vector<prometheus::MetricFamily> all = control_plane::process_metrics();
        if (audit != nullptr) std::ranges::move(audit->metrics(), std::back_inserter(all));
        all.push_back(apiserver_http::family(
            "muster_http_connections", "Open connections of clients.",
            prometheus::MetricType::Gauge, static_cast<double>(server.connections())));
        return all;
    });
}

/// Everything of one daemon, in the order in which it is made.
struct Daemonship {
    const UpOptions& options;
    const control_plane::Caller& caller;
    control_plane::StateHome& home;
    control_plane::Credentials& credentials;
    control_plane::LocalCluster& cluster;
    net::HttpServer& server;
    std::unique_ptr<net::Listener> listener;
    /// For the pods alone: they neither take connections away from others, nor have certificates.
    net::HttpServer& server_for_pods;
    net::TlsServerContext& tls;
};

Task<Result<std::string>> start(Daemonship& daemon) {
    CO_TRY_VOID(co_await daemon.cluster.start());
    const std::string address = daemon.listener->address();
    auto inside = daemon.cluster.listen_for_pods();
    if (!inside)
        log::warning("pods can't reach this server", {{"error", inside.error().message()}});
    else if (*inside)
        daemon.server_for_pods.serve(*std::move(inside), &daemon.tls);
    daemon.server.serve(std::move(daemon.listener), &daemon.tls);
    control_plane::KubeAccess access{.server = daemon.options.listen.url(port_of(address)),
                                     .ca_pem = daemon.credentials.ca.certificate,
                                     .token = daemon.credentials.admin_token,
                                     .client = {}};
    if (!daemon.options.listen.loopback()) access.client = daemon.credentials.admin;
    CO_TRY(std::string said, introduce(daemon.options, daemon.caller, daemon.home, access));
    CO_TRY_VOID(daemon.home.announce({.pid = ::getpid(), .address = access.server}));
    co_return said;
}

Task<int> serve(Daemonship& daemon, asio::signal_set& signals,
                std::optional<control_plane::Background>& background) {
    Result<std::string> started = co_await start(daemon);
    int status = 0;
    bool leaves_pods = false;
    if (!started) {
        const std::string text = fmt::format("muster up: {}\n", started.error().message());
        if (background)
            background->failed(text);
        else
            fmt::print(stderr, "{}", text);
        status = 1;
    } else {
        if (background)
            background->ready(*started);
        else
            fmt::print("{}", *started);
        std::fflush(stdout);
        leaves_pods = co_await signals.async_wait(asio::use_awaitable) == SIGTERM;
    }
    co_await daemon.server.stop();
    co_await daemon.server_for_pods.stop();
    // As if killed, so that there is one way to leave pods where they are. What was answered is on
    // disk.
    if (leaves_pods) {
        std::fflush(nullptr);
        ::_exit(0);
    }
    co_await daemon.cluster.stop();
    co_return status;
}

int up(const UpOptions& options) {
    if (options.verbose > 0)
        log::set_level(options.verbose > 1 ? log::Level::kDebug : log::Level::kInfo);
    const control_plane::Caller caller = control_plane::current_caller();
    std::optional<control_plane::Background> background;
    const auto fail = [&](const Error& error) {
        const std::string text = fmt::format("muster up: {}\n", error.message());
        if (background)
            background->failed(text);
        else
            fmt::print(stderr, "{}", text);
        return 1;
    };
    const Result<std::string> domain = control_plane::cluster_domain(caller);
    if (!domain)
        return fail(
            Error(Code::kInvalid, fmt::format("{}: {}", control_plane::kClusterDomainVariable,
                                              domain.error().message())));
    std::unique_ptr<control_plane::AuditLog> audit;
    if (!options.audit_log.empty()) {
        auto opened = control_plane::AuditLog::open(
            std::filesystem::path(caller.working_dir) / options.audit_log, options.audit_limits);
        if (!opened) return fail(opened.error());
        audit = *std::move(opened);
    }
    auto home =
        control_plane::StateHome::take(control_plane::state_path(options.state_dir, caller));
    if (!home) return fail(home.error());
    if (options.detach) {
        // The child has the lock as well, and goes on to hold it when this process has ended.
        auto started = control_plane::Background::start(home->path() / "muster.log");
        if (!started) return fail(started.error());
        background.emplace(*std::move(started));
        if (Result<void> told = home->announce({.pid = ::getpid(), .address = {}}); !told)
            return fail(told.error());
    }

    std::signal(SIGPIPE, SIG_IGN);  // a client that goes away is seen as a failed write
    Rng rng = Rng::from_system();
    auto node_dir = home->make_directory(control_plane::kNodeDirectory);
    if (!node_dir) return fail(node_dir.error());
    RealClock clock;
    auto credentials = control_plane::load_credentials(
        *home, control_plane::server_names(options.listen, control_plane::machine_names()),
        clock.wall_now());
    if (!credentials) return fail(credentials.error());

    asio::io_context context(1);
    asio::signal_set signals(context, SIGINT, SIGTERM, SIGHUP);
    auto tls =
        net::TlsServerContext::create(clock, {.certificate_pem = credentials->server.certificate,
                                              .key_pem = credentials->server.key,
                                              .client_ca_pem = credentials->ca.certificate});
    if (!tls) return fail(tls.error());
    auto listener =
        net::listen_tcp(context.get_executor(), options.listen.address, options.listen.port);
    if (!listener) {
        if (listener.error().code() == Code::kAlreadyExists)
            return fail(Error(Code::kAlreadyExists,
                              fmt::format("{}; name another with --listen {}:PORT (0: any)",
                                          listener.error().message(), options.listen.address)));
        return fail(listener.error());
    }
    const std::unique_ptr<control_plane::Machine> machine =
        control_plane::make_real_machine(caller.environment);
    auto store = store::open_sqlite_store((home->path() / "store.db").string(), {},
                                              context.get_executor());
    if (!store) return fail(store.error());
    runtime::NodeOptions node =
        control_plane::node_settings(caller, *machine, options.sandbox, *node_dir, *domain);
    node.pods_outlive = true;
    node.logs_dir = home->path() / "logs";
    node.server = {.host = options.listen.wildcard() ? "127.0.0.1" : options.listen.address,
                   .port = port_of((*listener)->address())};
    auto cluster =
        control_plane::LocalCluster::create(context.get_executor(), clock, rng, *std::move(store),
                                            {.manage_fields = true,
                                             .default_roles = true,
                                             .signing_key = credentials->account_key,
                                             .root_ca_pem = credentials->ca.certificate},
                                            std::move(node));
    if (!cluster) return fail(cluster.error());
    control_plane::WebhookClient webhooks(
        context.get_executor(), clock,
        [&](apiserver::PodPort port) { return (*cluster)->connect(std::move(port)); });
    (*cluster)->api().connect_webhooks(webhooks);
    for (const std::string& notice : (*cluster)->notices()) fmt::print(stderr, "{}\n", notice);
    std::optional<apiserver_http::HttpFront> front;
    net::HttpServer server(context.get_executor(), clock, {},
                           [&](net::HttpExchange& exchange) { return front->serve(exchange); });
    front.emplace(
        (*cluster)->api(),
        apiserver::AccessOptions{.admin_token = credentials->admin_token,
                                 .demand_certificate = !options.listen.loopback()},
        apiserver_http::FrontOptions{.limits = options.limits,
                                .audit = {.sink = audit.get(), .level = options.audit_level},
                                .yaml = control_plane::yaml_bodies(),
                                .metrics = {metrics_of(server, audit.get())}});
    apiserver_http::HttpFront front_for_pods(
        (*cluster)->api(), {.admin_token = credentials->admin_token},
        {.limits = options.limits,
         .audit = {.sink = audit.get(), .level = options.audit_level},
         .yaml = control_plane::yaml_bodies()});
    net::HttpServer server_for_pods(
        context.get_executor(), clock, {},
        [&](net::HttpExchange& exchange) { return front_for_pods.serve(exchange); });
    Daemonship daemon{
        options,         caller, *home, *credentials, **cluster, server, *std::move(listener),
        server_for_pods, **tls};
    int status = 1;
    asio::co_spawn(context, serve(daemon, signals, background),
                   [&](std::exception_ptr thrown, int result) {
                       if (thrown) std::rethrow_exception(thrown);
                       status = result;
                   });
    context.run();
    return status;
}

std::optional<std::string> read_audit_level(const std::string& text, apiserver_http::AuditLevel& level) {
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
    UpVerb() : VerbOf("up", kHelp) {}

    void declare(Flags& flags) override {
        declare_state_flag(flags, options_.state_dir);
        flags.value("--listen", listen_);
        flags.flag("--detach,-d", options_.detach);
        flags.flag("--merge-kubeconfig", options_.merge_kubeconfig);
        flags.value("--sandbox", sandbox_);
        flags.value("--audit-log", options_.audit_log);
        flags.value("--audit-level", audit_level_);
        flags.value("--audit-log-maxsize", audit_log_mib_);
        flags.value("--audit-log-maxbackup", options_.audit_limits.kept, not_a_count);
        flags.value("--max-requests-inflight", options_.limits.read_only, not_a_count);
        flags.value("--max-mutating-requests-inflight", options_.limits.mutating, not_a_count);
        flags.count("--verbose,-v", options_.verbose);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (auto wrong = read_audit_level(audit_level_, options_.audit_level)) return wrong;
        if (audit_log_mib_ == 0 || audit_log_mib_ > kMiB)
            return fmt::format("--audit-log-maxsize wants 1 to {} MiB", kMiB);
        options_.audit_limits.file_bytes = audit_log_mib_ * kMiB;
        if (options_.audit_log.empty() && options_.audit_level != apiserver_http::AuditLevel::kMetadata)
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
    std::string listen_;
    std::string sandbox_ = "auto";
    std::string audit_level_ = "Metadata";
    std::uint64_t audit_log_mib_ = 100;
};

}  // namespace

std::unique_ptr<Verb> up_verb() { return std::make_unique<UpVerb>(); }

}  // namespace muster::cli
