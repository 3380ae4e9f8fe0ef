#include "checkpoint/format/crc32.h"

#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <thread>

#include "base/check.h"

namespace muster::checkpoint {
namespace {

/// Long enough that to combine two of them costs nothing beside them.
constexpr std::size_t kCrcPart = std::size_t{8} << 20;

struct CrcPart {
    std::size_t piece;
    std::span<const std::byte> bytes;
    std::uint32_t crc = 0;
};

std::uint32_t crc_of(std::span<const std::byte> bytes) {
    return static_cast<std::uint32_t>(
        ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::vector<CrcPart> crc_parts_of(const Pieces& pieces) {
    std::vector<CrcPart> parts;
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
        const std::span<const std::byte> all = pieces[piece];
        for (std::size_t at = 0; at < all.size(); at += kCrcPart)
            parts.push_back(
                {.piece = piece, .bytes = all.subspan(at, std::min(kCrcPart, all.size() - at))});
    }
    return parts;
}

}  // namespace

std::vector<std::uint32_t> crc32_of(const Pieces& pieces, int threads) {
    CHECK(threads >= 1, "the caller's thread is one");
    std::vector<CrcPart> parts = crc_parts_of(pieces);
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < parts.size(); i = next++)
            parts[i].crc = crc_of(parts[i].bytes);
    };
    {
        // More threads than whole parts would have nothing to do.
        const std::uint64_t useful = bytes_of(pieces) / kCrcPart + 1;
        std::vector<std::jthread> others;
        for (int i = 1; i < threads && static_cast<std::uint64_t>(i) < useful; ++i)
            others.emplace_back(work);
        work();
    }
    std::vector<std::uint32_t> all(pieces.size(), 0);
    for (const CrcPart& part : parts)
        all[part.piece] = static_cast<std::uint32_t>(
            ::crc32_combine(all[part.piece], part.crc, static_cast<z_off_t>(part.bytes.size())));
    return all;
}

}  // namespace muster::checkpoint
