#include "cli/internal/connect/connection.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <boost/asio/ip/address.hpp>

#include "cli/internal/connect/exec_credential.h"
#include "cli/internal/connect/kubeconfig_places.h"
#include "cli/internal/connect/pod_access.h"
#include "cli/read_file.h"
#include "net/tcp.h"

namespace muster::cli {

namespace {

/// The name of the client in requests, and the owner of fields that it applies.
constexpr const char* kUserAgent = "muster";
constexpr const char* kTableType = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json";
constexpr const char* kDiscoveryType =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// The text itself, or that of its file.
Result<std::string> load(const TextOrFile& from, const ServerAccess& access) {
    if (from.file.empty()) return from.text;
    Result<std::string> text = read_file(from.file);
    if (!text)
        return Error(text.error())
            .prefix(fmt::format("{}, which {} names", from.file, access.file));
    return text;
}

Result<std::string> load_token(const ServerAccess& access) {
    if (access.token_file.empty()) return access.token;
    TRY(std::string token, load({.text = {}, .file = access.token_file}, access));
    while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
    return token;
}

struct FreeAddresses {
    void operator()(addrinfo* found) const { ::freeaddrinfo(found); }
};

/// The addresses of a name, as this machine looks names up.
Result<std::vector<std::string>> look_up_host(const std::string& host) {
    boost::system::error_code no_address;
    (void)asio::ip::make_address(host, no_address);
    if (!no_address || host == "localhost") return std::vector<std::string>{host};
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* raw = nullptr;
    const int failed = ::getaddrinfo(host.c_str(), nullptr, &wanted, &raw);
    const std::unique_ptr<addrinfo, FreeAddresses> found(raw);
    if (failed != 0)
        return Error(Code::kUnavailable, fmt::format("the name of the server, {}, can't be found: "
                                                     "{}",
                                                     host, ::gai_strerror(failed)));
    std::vector<std::string> addresses;
    for (const addrinfo* one = raw; one != nullptr; one = one->ai_next) {
        std::array<char, NI_MAXHOST> text{};
        if (::getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(), nullptr, 0,
                          NI_NUMERICHOST) == 0)
            addresses.emplace_back(text.data());
    }
    return addresses;
}

struct Way {
    asio::any_io_executor executor;
    std::vector<std::string> addresses;
    std::uint16_t port;
    net::TlsClientContext* tls;
    std::string server_name;
};

/// The first of the addresses that answers.
Task<Result<std::unique_ptr<net::ByteStream>>> connect(Way way) {
    Result<std::unique_ptr<net::ByteStream>> stream =
        Error(Code::kUnavailable, "the server's name has no address");
    for (const std::string& address : way.addresses) {
        stream = co_await net::connect_tcp(way.executor, address, way.port);
        if (stream) break;
    }
    if (!stream || way.tls == nullptr) co_return stream;
    CO_TRY(auto session, co_await way.tls->connect(*std::move(stream), way.server_name));
    co_return std::move(session);
}

Result<std::unique_ptr<net::TlsClientContext>> make_tls(const ServerAccess& access,
                                                        const Clock& clock, std::string ca,
                                                        std::string certificate, std::string key) {
    if (!access.url.tls) return std::unique_ptr<net::TlsClientContext>();
    const net::Trust trust = access.insecure ? net::Trust::kAnyone
                             : ca.empty()    ? net::Trust::kSystem
                                             : net::Trust::kGiven;
    Result<std::unique_ptr<net::TlsClientContext>> tls =
        net::TlsClientContext::create(clock, {.ca_pem = std::move(ca),
                                              .trust = trust,
                                              .certificate_pem = std::move(certificate),
                                              .key_pem = std::move(key)});
    if (!tls)
        return Error(tls.error())
            .prefix(fmt::format("{}: context \"{}\"", access.file, access.context));
    return tls;
}

kube::HttpTransportOptions transport_options(const ServerAccess& access, const std::string& token,
                                             const char* accept) {
    return {.token = token, .path_prefix = access.url.path_prefix, .accept = accept};
}

/// What a kubeconfig says; where none is named and none exists, what the pod around us has.
Result<ServerAccess> choose_access(const ServerOptions& options, const Caller& caller) {
    const KubeconfigPlaces places = kubeconfig_places(options.kubeconfig, caller);
    const auto texts = read_kubeconfigs(places);
    if (!texts && texts.error().code() == Code::kNotFound && !places.all &&
        options.context.empty()) {
        TRY(std::optional<ServerAccess> own, pod_access(caller, kServiceAccountDir));
        if (own) return *std::move(own);
    }
    if (!texts) return texts.error();
    TRY(const MergedKubeconfig config, merge_kubeconfigs(*texts));
    return select_access(config, options.context);
}

}  // namespace

Connection::Connection(ServerAccess access, std::string ns,
                       std::unique_ptr<net::TlsClientContext> tls,
                       std::vector<std::string> addresses, const std::string& token,
                       asio::any_io_executor executor, Clock& clock)
    : clock_(clock),
      access_(std::move(access)),
      default_namespace_(std::move(ns)),
      tls_(std::move(tls)),
      token_(token),
      http_(executor, clock,
            [way = Way{executor, std::move(addresses), access_.url.port, tls_.get(),
                       access_.server_name()}] { return connect(way); },
            {.host = access_.url.authority()}),
      objects_(http_, transport_options(access_, token, "application/json")),
      tables_(http_, transport_options(access_, token, kTableType)),
      discovery_(http_, transport_options(access_, token, kDiscoveryType)),
      client_(objects_, kUserAgent),
      tasks_(executor) {}

Task<Result<net::HttpResponse>> Connection::ask(std::string path, Duration time) {
    net::HttpRequest request;
    request.method = "GET";
    request.target = access_.url.path_prefix + path;
    if (!token_.empty()) request.headers.add("Authorization", "Bearer " + token_);
    co_return co_await http_.call(std::move(request), time);
}

Task<void> Connection::stop() {
    co_await tasks_.stop();
    kept_.clear();
    co_await http_.stop();
}

Result<std::unique_ptr<Connection>> Connection::open(const ServerOptions& options,
                                                     const Caller& caller,
                                                     asio::any_io_executor executor, Clock& clock) {
    TRY(ServerAccess access, choose_access(options, caller));
    TRY(std::string ca, load(access.ca, access));
    TRY(std::string certificate, load(access.certificate, access));
    TRY(std::string key, load(access.key, access));
    TRY(std::string token, load_token(access));
    // As with other clients: what is known needs no plugin.
    if (access.exec && token.empty() && certificate.empty()) {
        TRY(ExecCredential given, run_exec_plugin(access, *access.exec, ca, caller.environment));
        token = std::move(given.token);
        certificate = std::move(given.certificate_pem);
        key = std::move(given.key_pem);
    }
    TRY(auto tls, make_tls(access, clock, std::move(ca), std::move(certificate), std::move(key)));
    TRY(std::vector<std::string> addresses, look_up_host(access.url.host));
    std::string ns = options.namespace_.empty() ? access.namespace_ : options.namespace_;
    return std::unique_ptr<Connection>(new Connection(std::move(access), std::move(ns),
                                                      std::move(tls), std::move(addresses), token,
                                                      std::move(executor), clock));
}

}  // namespace muster::cli
