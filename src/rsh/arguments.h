#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rsh {

/// The arguments of `muster rsh`: a command for a host, or the server for one.
struct Arguments {
    bool serve = false;
    std::string listen;  ///< an IP address; empty: all addresses of this machine
    std::string token_file = "/etc/muster-rsh/token";
    std::uint16_t port = 7322;
    std::chrono::nanoseconds patience = std::chrono::minutes(1);
    bool input = true;  ///< false: no input is read (-n)
    std::string host;
    std::string command;  ///< for a shell
};

/// Does not use a flag parser: what follows the host is another program's command line, and before
/// it come the options that launchers pass to ssh. Returns an error message, or nullopt.
std::optional<std::string> parse_arguments(const std::vector<std::string>& words,
                                           Arguments& arguments);

/// The text of `muster rsh --help`.
std::string_view help_text();

}  // namespace muster::rsh
