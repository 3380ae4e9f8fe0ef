#include <cstdint>
#include <string>
#include <vector>

#include "apiserver_http/spdy/spdy_frames.h"
#include "base/check.h"

using namespace muster;

namespace {

/// The result for the bytes when they arrive in pieces of that size: a line for each frame.
std::vector<std::string> frames_of(std::string_view bytes, std::size_t piece) {
    apiserver_http::SpdyDecoder decoder;
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        decoder.put(bytes.substr(at, piece));
        for (;;) {
            auto frame = decoder.next();
            if (!frame) {
                lines.push_back("error: " + frame.error());
                return lines;
            }
            if (!*frame) break;
            std::string line =
                fmt::format("{} {} {} {} {}", static_cast<int>((*frame)->kind), (*frame)->stream,
                            (*frame)->number, (*frame)->last, (*frame)->data);
            for (const auto& [name, value] : (*frame)->headers)
                line += fmt::format(" {}={}", name, value);
            lines.push_back(std::move(line));
        }
    }
    return lines;
}

}  // namespace

/// It makes no difference how the bytes are cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const std::vector<std::string> whole = frames_of(bytes, size == 0 ? 1 : size);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}})
        CHECK(frames_of(bytes, piece) == whole, "frames depend on how they arrive");
    return 0;
}
