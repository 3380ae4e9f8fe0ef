#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/objects/command_session.h"

// What a client says and hears in the WebSocket protocol v5.channel.k8s.io: the first byte of a
// message is the channel of the rest. Pure.

namespace muster::cli {

inline constexpr const char* kCommandProtocol = "v5.channel.k8s.io";

std::string input_message(std::string_view bytes);
std::string end_of_input_message();
std::string terminal_size_message(kube::TerminalSize size);

struct ServerMessage {
    enum class Kind : std::uint8_t { kOutput, kError, kEnd, kOther };

    Kind kind = Kind::kOther;
    std::string_view bytes;  ///< of the message's text
};
/// Messages of channels that are not known, and empty ones, are kOther.
ServerMessage parse_server_message(std::string_view message);

/// The exit code of a command, from what kEnd says; an error if it did not run.
Result<int> read_command_end(std::string_view status);

}  // namespace muster::cli
