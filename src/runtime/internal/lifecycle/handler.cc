#include "runtime/internal/lifecycle/handler.h"

#include <arpa/inet.h>

#include <algorithm>

#include "base/parse_number.h"
#include "base/time/bounded_seconds.h"
#include "kube/values/json_access.h"

namespace muster::runtime {

namespace {

using kube::string_at;

Error wrong(std::string_view where, std::string_view what) {
    return Error(Code::kInvalid, fmt::format("{} {}", where, what));
}

/// A number, a number as text, or the name of one of the container's ports.
Result<std::uint16_t> read_port(const json::object& fields, const kube::Container& container,
                                std::string_view where) {
    const json::value* value = fields.if_contains("port");
    std::int64_t port = 0;
    if (value != nullptr && value->is_int64()) {
        port = value->get_int64();
    } else if (value != nullptr && value->is_string()) {
        const std::string_view name = value->get_string();
        if (const auto number = parse_number<std::int64_t>(name)) {
            port = *number;
        } else {
            const auto named = std::ranges::find(container.ports, name, &kube::ContainerPort::name);
            if (named == container.ports.end())
                return wrong(where, fmt::format("names the port \"{}\", which container {} does "
                                                "not declare: add it to its ports, or give the "
                                                "number",
                                                name, container.name));
            port = named->container_port;
        }
    } else {
        return wrong(where, "has no port");
    }
    if (port < 1 || port > 65'535)
        return wrong(where, fmt::format("has the port {}, which is not between 1 and 65535", port));
    return static_cast<std::uint16_t>(port);
}

/// Empty for the pod itself. Names are not looked up: the target is a pod, and it has an address.
Result<std::string> read_host(const json::object& fields, std::string_view where) {
    std::string host(string_at(fields, "host"));
    in_addr address{};
    if (host.empty() || ::inet_pton(AF_INET, host.c_str(), &address) == 1) return host;
    return Error(
        Code::kUnsupported,
        fmt::format("{} has the host {}, which is not an IPv4 address: leave it out to ask the "
                    "pod itself, and name the virtual host in httpHeaders (Host)",
                    where, host));
}

Result<Handler> read_exec(const json::object& fields, std::string_view where) {
    ExecCheck exec;
    const json::value* command = fields.if_contains("command");
    if (command != nullptr && command->is_array())
        for (const json::value& word : command->get_array())
            if (word.is_string()) exec.command.emplace_back(word.get_string());
    if (exec.command.empty()) return wrong(where, "has no command");
    return Handler(std::move(exec));
}

Result<Handler> read_http(const json::object& fields, const kube::Container& container,
                          std::string_view where) {
    HttpCheck http;
    const std::string scheme(string_at(fields, "scheme"));
    if (!scheme.empty() && scheme != "HTTP")
        return Error(Code::kUnsupported,
                     fmt::format("{} has the scheme {}, which muster does not speak to pods: use "
                                 "HTTP, a tcpSocket, or an exec of a client in the container",
                                 where, scheme));
    TRY(http.host, read_host(fields, where));
    http.path = string_at(fields, "path");
    if (!http.path.starts_with('/')) http.path.insert(0, 1, '/');
    TRY(http.port, read_port(fields, container, where));
    const json::value* headers = fields.if_contains("httpHeaders");
    if (headers != nullptr && headers->is_array())
        for (const json::value& header : headers->get_array())
            if (const json::object* entry = header.if_object(); entry != nullptr)
                http.headers.emplace_back(string_at(*entry, "name"), string_at(*entry, "value"));
    // Characters that end a line early would turn the rest into a request that someone else wrote.
    const auto breaks = [](const std::string& text) {
        return std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == 127; });
    };
    if (breaks(http.path) || http.path.find(' ') != std::string::npos ||
        std::ranges::any_of(http.headers,
                            [&](auto& h) { return breaks(h.first) || breaks(h.second); }))
        return wrong(where, "holds a control character or a blank that HTTP does not allow there");
    return Handler(std::move(http));
}

Result<Handler> read_sleep(const json::object& fields, std::string_view where) {
    const json::value* seconds = fields.if_contains("seconds");
    if (seconds == nullptr || !seconds->is_int64() || seconds->get_int64() < 0)
        return wrong(where, "has no seconds");
    return Handler(SleepCheck{bounded_seconds(seconds->get_int64())});
}

}  // namespace

Result<Handler> read_handler(const json::object& fields, const kube::Container& container,
                             std::string_view where) {
    if (const json::object* exec = kube::object_at(fields, "exec"); exec != nullptr)
        return read_exec(*exec, fmt::format("{}.exec", where));
    if (const json::object* http = kube::object_at(fields, "httpGet"); http != nullptr)
        return read_http(*http, container, fmt::format("{}.httpGet", where));
    if (const json::object* tcp = kube::object_at(fields, "tcpSocket"); tcp != nullptr) {
        TcpCheck check;
        const std::string at = fmt::format("{}.tcpSocket", where);
        TRY(check.host, read_host(*tcp, at));
        TRY(check.port, read_port(*tcp, container, at));
        return Handler(std::move(check));
    }
    if (const json::object* sleep = kube::object_at(fields, "sleep"); sleep != nullptr)
        return read_sleep(*sleep, fmt::format("{}.sleep", where));
    if (kube::object_at(fields, "grpc") != nullptr)
        return Error(Code::kUnsupported,
                     fmt::format("{}.grpc needs a gRPC client, which muster does not have: use a "
                                 "tcpSocket, or an exec of grpc_health_probe",
                                 where));
    return wrong(where, "names none of exec, httpGet and tcpSocket");
}

}  // namespace muster::runtime
