#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rsh {

/// What follows `muster rsh`: a command for a host, or the server of one.
struct Arguments {
    bool serve = false;
    std::string listen;  ///< an IP address; empty: all of this machine's
    std::string token_file = "/etc/muster-rsh/token";
    std::uint16_t port = 7322;
    std::chrono::nanoseconds patience = std::chrono::minutes(1);
    bool input = true;  ///< false: none is read (-n)
    std::string host;
    std::string command;  ///< for a shell
};

/// Not by a parser of flags: what follows the host is somebody else's command line, and before it
/// come the options that launchers give to ssh. Returns what is wrong, or nothing.
std::optional<std::string> parse_arguments(const std::vector<std::string>& words,
                                           Arguments& arguments);

/// The text of `muster rsh --help`.
std::string_view help_text();

}  // namespace muster::rsh
