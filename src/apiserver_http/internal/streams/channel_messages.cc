#include "apiserver_http/internal/streams/channel_messages.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "apiserver_http/internal/json_access.h"
#include "kube/objects/api_status.h"
#include "kube/values/read_json.h"

namespace muster::apiserver_http {

namespace {

constexpr std::uint8_t kCloseChannel = 255;

std::expected<ClientMessage, std::string> parse_size(std::string_view text) {
    const std::optional<json::value> parsed = kube::read_json(text);
    const json::object* size = parsed ? parsed->if_object() : nullptr;
    if (size == nullptr) return std::unexpected("the size of a terminal is not a JSON object");
    const auto read = [size](std::string_view name) -> std::optional<std::uint16_t> {
        const auto number = int_at(*size, name);
        if (!number || *number < 0 || *number > UINT16_MAX) return std::nullopt;
        return static_cast<std::uint16_t>(*number);
    };
    const auto columns = read("Width");
    const auto rows = read("Height");
    if (!columns || !rows)
        return std::unexpected("the size of a terminal needs Width and Height, from 0 to 65535");
    return ClientMessage{
        .kind = ClientMessage::Kind::kResize, .input = {}, .size = {*columns, *rows}};
}

}  // namespace

std::expected<ClientMessage, std::string> parse_client_message(std::string_view message,
                                                               bool version_5) {
    if (message.empty()) return std::unexpected("a message without a channel");
    const auto channel = static_cast<std::uint8_t>(message[0]);
    const std::string_view rest = message.substr(1);
    if (version_5 && channel == kCloseChannel) {
        if (rest != std::string_view("\0", 1))
            return std::unexpected("only the standard input can be closed");
        return ClientMessage{.kind = ClientMessage::Kind::kEndOfInput, .input = {}, .size = {}};
    }
    if (channel == static_cast<std::uint8_t>(Channel::kInput))
        return ClientMessage{.kind = ClientMessage::Kind::kInput, .input = rest, .size = {}};
    if (channel == static_cast<std::uint8_t>(Channel::kResize)) return parse_size(rest);
    return std::unexpected(fmt::format("nothing may be sent on channel {}", channel));
}

std::string channel_message(Channel channel, std::string_view bytes) {
    std::string message;
    message.reserve(bytes.size() + 1);
    message += static_cast<char>(channel);
    message += bytes;
    return message;
}

std::string command_status(const Result<int>& end) {
    if (!end) {
        // Clients print the message, which says already what went wrong inside.
        return json::serialize(kube::status_from_error(
            Error(Code::kInternal, fmt::format("Internal error occurred: error executing command "
                                               "in container: {}",
                                               end.error().message()))));
    }
    if (*end == 0)
        return json::serialize(json::object{{"metadata", json::object()}, {"status", "Success"}});
    const std::string code = std::to_string(*end);
    return json::serialize(json::object{
        {"metadata", json::object()},
        {"status", "Failure"},
        {"message",
         "command terminated with non-zero exit code: command terminated with exit code " + code},
        {"reason", "NonZeroExitCode"},
        {"details", {{"causes", json::array{{{"reason", "ExitCode"}, {"message", code}}}}}}});
}

std::string refusal_status(const Error& why) {
    return json::serialize(kube::status_from_error(
        Error(Code::kInternal,
              "Internal error occurred: unable to upgrade connection: " + why.message())));
}

}  // namespace muster::apiserver_http
