#include "cli/internal/pods/port_words.h"

#include <fmt/format.h>

#include "net/port.h"

namespace muster::cli {

namespace {

/// As Kubernetes names ports.
bool is_port_name(std::string_view text) {
    constexpr std::size_t kMostLetters = 15;
    bool letter = false;
    for (const char c : text) {
        if (c >= 'a' && c <= 'z')
            letter = true;
        else if (c != '-' && (c < '0' || c > '9'))
            return false;
    }
    return letter && text.size() <= kMostLetters;
}

}  // namespace

Result<ForwardedPort> parse_forwarded_port(const std::string& text) {
    const std::size_t colon = text.find(':');
    const std::string here = text.substr(0, colon);
    ForwardedPort port{.local = 0, .remote = colon == text.npos ? text : text.substr(colon + 1)};
    const auto local = net::parse_port(here);
    const bool any = colon == 0 || here == "0";
    const bool local_is_good = any || local || (colon == text.npos && is_port_name(text));
    if (!local_is_good || (!net::parse_port(port.remote) && !is_port_name(port.remote)))
        return Error(
            Code::kInvalid,
            fmt::format("\"{}\" is no port: write LOCAL:REMOTE as in 8080:80, PORT for the "
                        "same on both sides, or :REMOTE for any here",
                        text));
    port.local = any ? std::uint16_t{0} : local.value_or(0);
    port.same = !any && !local;
    return port;
}

}  // namespace muster::cli
