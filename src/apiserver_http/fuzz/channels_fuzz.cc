#include <cstdint>
#include <string_view>

#include "apiserver_http/internal/streams/channel_messages.h"
#include "base/check.h"

using namespace muster;

/// Input is the message's own text, and the version decides what can be closed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view message(reinterpret_cast<const char*>(data), size);
    for (const bool version_5 : {false, true}) {
        const auto said = apiserver_http::parse_client_message(message, version_5);
        if (!said) {
            CHECK(!said.error().empty(), "refused without a reason");
            continue;
        }
        using Kind = apiserver_http::ClientMessage::Kind;
        if (said->kind == Kind::kInput)
            CHECK(said->input == message.substr(1) &&
                      apiserver_http::channel_message(apiserver_http::Channel::kInput,
                                                      said->input) == message,
                  "input differs from what was sent");
        CHECK(version_5 || said->kind != Kind::kEndOfInput, "version 4 closes nothing");
    }
    return 0;
}
