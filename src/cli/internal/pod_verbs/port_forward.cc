#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/pods/find_container.h"
#include "cli/internal/pods/port_tunnel.h"
#include "cli/internal/pods/port_words.h"
#include "cli/internal/verbs/verbs.h"
#include "kube/values/json_access.h"
#include "net/accept_each.h"
#include "net/port.h"
#include "net/tcp.h"

namespace muster::cli {

namespace {

constexpr std::string_view kPortForwardHelp =
    R"(Makes ports of a job's pod reachable on this machine, at 127.0.0.1 and ::1 and nowhere else.

Usage: muster port-forward JOB|JOB/REPLICA|POD [LOCAL:]REMOTE... [FLAGS]

JOB and REPLICA are as in 'muster exec'. REMOTE is a number or the name of a container's port. Without LOCAL: it is
the same here; :REMOTE takes any that is free.

      --rank N               of the pod of rank N
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

It continues until Ctrl-C. What a connection runs into ends that one alone: when the pod has been replaced, the next
connection reaches the new one.

Exit status: 130 after Ctrl-C; 1 when there is no such pod, or a port here is taken.

Examples:
  muster port-forward digits 6006                    TensorBoard of its first replica
  muster port-forward notebook 8888:8888 :6006
)";

constexpr const char* kPortForwardVerb = "port-forward";
/// Of clients at a time.
constexpr std::size_t kMostConnections = 512;

struct PortForwardOptions {
    ServerOptions server;
    std::string about;
    std::vector<ForwardedPort> ports;
    ContainerChoice choice;
};

/// The number of a port of the pod.
Result<std::uint16_t> port_number(const std::string& remote, const json::object& pod) {
    if (const auto number = net::parse_port(remote)) return *number;
    for (const char* list : {"containers", "initContainers"})
        for (const json::object* container : kube::objects_at(kube::child(pod, "spec"), list))
            for (const json::object* port : kube::objects_at(*container, "ports"))
                if (kube::string_at(*port, "name") == remote)
                    if (const auto number = kube::int_at(*port, "containerPort");
                        number && *number > 0 && *number <= UINT16_MAX)
                        return static_cast<std::uint16_t>(*number);
    return Error(Code::kNotFound,
                 fmt::format("pod {} has no port with the name {}", kube::name_of(pod), remote));
}

/// What listens here, and carries each connection; owned by the connection to the server.
class PortForward {
  public:
    PortForward(Connection& connection, const PortForwardOptions& options, ChosenContainer pod)
        : connection_(connection), options_(options), pod_(std::move(pod)) {}

    Result<void> listen(const ForwardedPort& port, std::uint16_t remote) {
        const asio::any_io_executor& executor = connection_.tasks().executor();
        TRY(auto first, net::listen_tcp(executor, "127.0.0.1", port.local));
        const std::string address = first->address();
        const auto local = net::parse_port(address.substr(address.rfind(':') + 1));
        serve(std::move(first), port, remote);
        // A machine may have only one family of addresses.
        if (auto second = net::listen_tcp(executor, "::1", local.value_or(port.local)))
            serve(*std::move(second), port, remote);
        return {};
    }

  private:
    void serve(std::unique_ptr<net::Listener> listener, const ForwardedPort& port,
               std::uint16_t remote) {
        fmt::print("Forwarding from {} -> {}\n", listener->address(), remote);
        std::fflush(stdout);
        listeners_.push_back(std::move(listener));
        connection_.tasks().spawn_essential(
            "forwarded port", net::accept_each(*listeners_.back(), connection_.clock(),
                                               "connections to forwarded ports",
                                               [this, port](std::unique_ptr<net::ByteStream> here) {
                                                   take(std::move(here), port);
                                               }));
    }

    void take(std::unique_ptr<net::ByteStream> here, const ForwardedPort& port) {
        if (open_ >= kMostConnections) {
            tell_error(kPortForwardVerb,
                       Error(Code::kTooManyRequests,
                             fmt::format("a connection was refused: there are {}", open_)));
            return;
        }
        ++open_;
        connection_.tasks().spawn("forwarded connection", carry(std::move(here), port),
                                  [this](const std::string&) { --open_; });
    }

    Task<void> carry(std::unique_ptr<net::ByteStream> here, ForwardedPort port) {
        const Result<void> done = co_await connect_and_carry(std::move(here), port);
        --open_;
        if (!done)
            tell_error(kPortForwardVerb,
                       Error(done.error()).prefix(fmt::format("port {}", port.remote)));
    }

    Task<Result<void>> connect_and_carry(std::unique_ptr<net::ByteStream> here,
                                         ForwardedPort port) {
        auto socket = co_await open();
        if (!socket) {
            // It may have been replaced, perhaps by one of another name.
            auto found = co_await find_container(connection_, options_.about, options_.choice);
            if (!found) co_return std::move(found.error());
            pod_ = *std::move(found);
            socket = co_await open();
        }
        if (!socket) co_return std::move(socket.error());
        CO_TRY(const std::uint16_t number, co_await number_of(port.remote));
        co_return co_await carry_to_port(*std::move(socket), std::move(here), number);
    }

    Task<Result<std::unique_ptr<net::WebSocket>>> open() {
        kube::Request request;
        request.path = kube::types::kPods.path(pod_.namespace_, pod_.pod, "portforward");
        co_return co_await connection_.connect(std::move(request), {kPortProtocol});
    }

    Task<Result<std::uint16_t>> number_of(std::string remote) {
        if (const auto number = net::parse_port(remote)) co_return *number;
        CO_TRY(const kube::ObjectPtr object,
               co_await connection_.client().get(kube::types::kPods, pod_.namespace_, pod_.pod));
        co_return port_number(remote, object->get_object());
    }

    Connection& connection_;
    const PortForwardOptions& options_;
    ChosenContainer pod_;
    std::vector<std::unique_ptr<net::Listener>> listeners_;
    std::size_t open_ = 0;
};

Task<Result<int>> forward_ports_to(Connection& connection, const PortForwardOptions& options) {
    CO_TRY(ChosenContainer pod, co_await find_container(connection, options.about, options.choice));
    CO_TRY(const kube::ObjectPtr object,
           co_await connection.client().get(kube::types::kPods, pod.namespace_, pod.pod));
    if (!pod.note.empty()) fmt::print(stderr, "muster port-forward: {}\n", pod.note);
    auto forward = std::make_shared<PortForward>(connection, options, std::move(pod));
    connection.keep(forward);
    for (ForwardedPort port : options.ports) {
        CO_TRY(const std::uint16_t remote, port_number(port.remote, object->get_object()));
        // A name alone means the same number here.
        if (port.local == 0 && port.same) port.local = remote;
        CO_TRY_VOID(forward->listen(port, remote));
    }
    co_await connection.tasks().join();
    co_return 0;
}

class PortForwardVerb final : public VerbOf<PortForwardOptions> {
  public:
    PortForwardVerb() : VerbOf(kPortForwardVerb, kPortForwardHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        flags.words("words", words_);
        flags.value("--rank", options_.choice.rank);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (words_.empty()) return "name a pod or a job, and its ports";
        if (words_.size() < 2)
            return fmt::format("say which ports, as in 'muster port-forward {} 8080:80'",
                               words_[0]);
        options_.about = words_.front();
        for (auto word = words_.begin() + 1; word != words_.end(); ++word) {
            const auto port = parse_forwarded_port(*word);
            if (!port) return port.error().message();
            options_.ports.push_back(*port);
        }
        return std::nullopt;
    }
    int run() override {
        return on_server(kPortForwardVerb, options_.server, [this](Connection& connection) {
            return forward_ports_to(connection, options_);
        });
    }

  private:
    std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Verb> port_forward_verb() { return std::make_unique<PortForwardVerb>(); }

}  // namespace muster::cli
