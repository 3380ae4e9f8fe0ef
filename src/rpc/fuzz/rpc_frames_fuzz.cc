// The first byte selects the size of the pieces into which the rest is cut. However it is cut, the
// reader must find the same frames and the same end; a frame that it accepts can be written, and
// reads back the same.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "rpc/internal/frames.h"

using namespace muster::rpc;

namespace {

constexpr std::size_t kLongest = 1000;

std::string read_all(std::string_view bytes, std::size_t piece) {
    FrameReader reader(kLongest);
    std::string said;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        reader.put(bytes.substr(at, piece));
        for (;;) {
            auto frame = reader.next();
            if (!frame) return said + "! " + frame.error().message();
            if (!*frame) break;
            CHECK((*frame)->kind_case() != Frame::KIND_NOT_SET, "a frame is of a kind");
            std::string again;
            CHECK(append_frame(again, **frame, 2 * kLongest), "what is read can be written");
            FrameReader second(2 * kLongest);
            second.put(again);
            auto same = second.next();
            CHECK(same && *same && (*same)->SerializeAsString() == (*frame)->SerializeAsString(),
                  "what is written is read as it was");
            said += (*frame)->SerializeAsString() + "\n";
        }
    }
    return said + (reader.torn() ? "torn" : "whole");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    CHECK(read_all(bytes, (data[0] & 0x3fu) + 1) == read_all(bytes, std::max<std::size_t>(size, 1)),
          "how bytes are cut does not matter");
    return 0;
}
