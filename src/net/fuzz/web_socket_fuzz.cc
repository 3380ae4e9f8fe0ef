// The first byte selects which side sent the rest, and the size of the pieces into which it is cut;
// the rest are frames. However they are cut, the decoder gives the same result, and no message
// exceeds the limit.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "net/internal/http/web_socket_frames.h"

using namespace muster::net;

namespace {

constexpr std::size_t kLimit = 300;

std::string describe(std::string_view bytes, bool masked, std::size_t piece) {
    WebSocketDecoder decoder(masked, kLimit);
    std::string said;
    bool over = false;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        decoder.put(bytes.substr(at, piece));
        for (;;) {
            const auto event = decoder.next();
            if (!event) {
                CHECK(!over, "one violation is the last word");
                CHECK(is_valid_close_code(event.error().code), "it can be told");
                said += "violation " + std::to_string(event.error().code);
                over = true;
                break;
            }
            if (!*event) break;
            CHECK(!over, "nothing follows a violation or a close");
            CHECK((*event)->bytes.size() <= kLimit, "no message is over the limit");
            if ((*event)->kind == WebSocketOpcode::kText)
                CHECK(muster::is_utf8((*event)->bytes), "text is UTF-8");
            over = (*event)->kind == WebSocketOpcode::kClose;
            said += std::to_string(static_cast<int>((*event)->kind)) + ":" + (*event)->bytes + ";";
        }
    }
    return said;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const bool masked = (data[0] & 0x80) != 0;
    const std::size_t piece = (data[0] & 0x7fu) + 1;
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    CHECK(describe(bytes, masked, piece) == describe(bytes, masked, bytes.size()),
          "how bytes are cut does not matter");
    return 0;
}
