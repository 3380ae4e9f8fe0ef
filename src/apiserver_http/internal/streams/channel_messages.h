#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "kube/objects/command_session.h"

namespace muster::apiserver_http {

// The messages of the WebSocket protocols v4.channel.k8s.io and v5.channel.k8s.io: the first byte
// is the channel of the rest.

inline constexpr const char* kChannelsV4 = "v4.channel.k8s.io";
inline constexpr const char* kChannelsV5 = "v5.channel.k8s.io";

/// Of exec and attach.
enum class Channel : std::uint8_t { kInput, kOutput, kError, kStatus, kResize };

struct ClientMessage {
    enum class Kind : std::uint8_t { kInput, kEndOfInput, kResize };

    Kind kind = Kind::kInput;
    std::string_view input;  ///< of the message's text
    kube::TerminalSize size;

    friend bool operator==(const ClientMessage&, const ClientMessage&) = default;
};

/// Parses a client's message, or says what is wrong with it. Only in version 5 can a channel be
/// closed.
std::expected<ClientMessage, std::string> parse_client_message(std::string_view message,
                                                               bool version_5);

std::string channel_message(Channel channel, std::string_view bytes);

/// How a command ended, as the Status on channel 3: Success, its exit code, or why it did not run.
std::string command_status(const Result<int>& end);
/// Why there is no such command, in the words of a real server, which did not reach the container.
std::string refusal_status(const Error& why);

}  // namespace muster::apiserver_http
