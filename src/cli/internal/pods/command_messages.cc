#include "cli/internal/pods/command_messages.h"

#include <fmt/format.h>

#include "base/parse_number.h"
#include "kube/objects/api_status.h"
#include "kube/values/json_access.h"
#include "kube/values/read_json.h"

namespace muster::cli {

namespace {

constexpr char kInputChannel = 0;
constexpr char kOutputChannel = 1;
constexpr char kErrorChannel = 2;
constexpr char kStatusChannel = 3;
constexpr char kResizeChannel = 4;
constexpr char kCloseChannel = '\xff';

std::string on_channel(char channel, std::string_view bytes) {
    std::string message;
    message.reserve(bytes.size() + 1);
    message += channel;
    message += bytes;
    return message;
}

}  // namespace

std::string input_message(std::string_view bytes) { return on_channel(kInputChannel, bytes); }

std::string end_of_input_message() { return {kCloseChannel, kInputChannel}; }

std::string terminal_size_message(kube::TerminalSize size) {
    return on_channel(kResizeChannel,
                      fmt::format(R"({{"Width":{},"Height":{}}})", size.columns, size.rows));
}

ServerMessage parse_server_message(std::string_view message) {
    using Kind = ServerMessage::Kind;
    if (message.size() < 2) return {};
    const std::string_view rest = message.substr(1);
    switch (message[0]) {
        case kOutputChannel:
            return {Kind::kOutput, rest};
        case kErrorChannel:
            return {Kind::kError, rest};
        case kStatusChannel:
            return {Kind::kEnd, rest};
        default:
            return {};
    }
}

Result<int> read_command_end(std::string_view status) {
    const std::optional<json::value> read = kube::read_json(status);
    const json::object* const object = read ? read->if_object() : nullptr;
    if (object == nullptr)
        return Error(Code::kInternal, "the server does not say how the command ended");
    if (kube::string_at(*object, "status") == "Success") return 0;
    if (kube::string_at(*object, "reason") == "NonZeroExitCode")
        for (const json::object* cause :
             kube::objects_at(kube::child(*object, "details"), "causes"))
            if (kube::string_at(*cause, "reason") == "ExitCode")
                if (const auto code = parse_number<int>(kube::string_at(*cause, "message")))
                    return *code;
    // A server may leave out its kind.
    const std::string_view message = kube::string_at(*object, "message");
    if (message.empty()) return kube::error_from_status(0, *read);
    return Error(Code::kInternal, std::string(message));
}

}  // namespace muster::cli
