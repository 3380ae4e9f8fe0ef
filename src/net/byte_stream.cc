#include "net/byte_stream.h"

#include "base/check.h"

namespace muster::net {

ConstBuffers::ConstBuffers(std::initializer_list<asio::const_buffer> pieces) {
    CHECK(pieces.size() <= kMost, "more pieces than go out as one");
    for (const asio::const_buffer& piece : pieces) pieces_[count_++] = piece;
}

std::size_t ConstBuffers::size() const {
    std::size_t bytes = 0;
    for (const asio::const_buffer& piece : pieces()) bytes += piece.size();
    return bytes;
}

void ConstBuffers::consume(std::size_t bytes) {
    for (std::size_t i = 0; i < count_ && bytes > 0; ++i) {
        const std::size_t taken = std::min(bytes, pieces_[i].size());
        pieces_[i] += taken;
        bytes -= taken;
    }
}

std::string ConstBuffers::to_string() const {
    std::string text;
    text.reserve(size());
    for (const asio::const_buffer& piece : pieces())
        text.append(static_cast<const char*>(piece.data()), piece.size());
    return text;
}

std::size_t ByteStream::write_now(ConstBuffers) { return 0; }

}  // namespace muster::net
