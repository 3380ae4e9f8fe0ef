// The first byte selects the size of the pieces into which the rest, the frames, is cut. However
// they are cut, both sides of the protocol see the same, and nothing exceeds its limit.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "rsh/internal/protocol.h"

using namespace muster::rsh;

namespace {

struct Heard {
    std::string frames;
    std::string wishes;
    std::string news;

    friend bool operator==(const Heard&, const Heard&) = default;
};

void hear(const Frame& frame, ClientProtocol& client, ServerProtocol& server, Heard& heard) {
    heard.frames += frame_text(frame.type, frame.payload);
    const auto wish = client.take(frame);
    if (wish) {
        if (const auto* start = std::get_if<Start>(&*wish))
            CHECK(!start->command.empty() && start->command.size() <= kMostCommand,
                  "a command has its size");
        heard.wishes += std::to_string(wish->index());
    } else {
        heard.wishes += wish.error().message();
    }
    const auto news = server.take(frame);
    heard.news += news ? std::to_string(news->index()) : news.error().message();
}

Heard listen(std::string_view bytes, std::size_t piece) {
    FrameReader reader;
    ClientProtocol client;
    ServerProtocol server;
    Heard heard;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        reader.put(bytes.substr(at, piece));
        for (;;) {
            const auto frame = reader.next();
            if (!frame) {
                heard.frames += frame.error().message();
                return heard;
            }
            if (!*frame) break;
            CHECK((*frame)->payload.size() <= kMostCommand + 1, "no frame is over the limit");
            hear(**frame, client, server, heard);
        }
    }
    return heard;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    CHECK(listen(bytes, data[0] + std::size_t{1}) == listen(bytes, bytes.size()),
          "how bytes are cut does not matter");
    return 0;
}
