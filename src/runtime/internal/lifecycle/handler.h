#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "kube/objects/pod.h"

namespace muster::runtime {

// What a probe or a lifecycle hook does.

struct ExecCheck {
    std::vector<std::string> command;

    friend bool operator==(const ExecCheck&, const ExecCheck&) = default;
};

/// GET over plain HTTP/1.1.
struct HttpCheck {
    std::string host;  ///< empty: the pod's address
    std::uint16_t port = 0;
    std::string path;
    std::vector<std::pair<std::string, std::string>> headers;

    friend bool operator==(const HttpCheck&, const HttpCheck&) = default;
};

struct TcpCheck {
    std::string host;  ///< empty: the pod's address
    std::uint16_t port = 0;

    friend bool operator==(const TcpCheck&, const TcpCheck&) = default;
};

struct SleepCheck {
    Duration duration{};

    friend bool operator==(const SleepCheck&, const SleepCheck&) = default;
};

using Handler = std::variant<ExecCheck, HttpCheck, TcpCheck, SleepCheck>;

/// Reads `exec`, `httpGet`, `tcpSocket` or `sleep`; named ports are those of `container`. `where`
/// is the field's path in the manifest. kUnsupported says what muster does not support, and what to
/// use instead.
Result<Handler> read_handler(const json::object& fields, const kube::Container& container,
                             std::string_view where);

}  // namespace muster::runtime
