#include "checkpoint/format/crc32.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

namespace muster::checkpoint::crc32_test {
namespace {

using ::testing::ElementsAre;

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(Crc32, IsThatOfZipForEachPiece) {
    // The check value of CRC-32/ISO-HDLC is that of "123456789".
    for (const int threads : {1, 3})
        EXPECT_THAT(crc32_of({bytes("123456789"), {}, bytes("a")}, threads),
                    ElementsAre(0xcbf43926, 0, 0xe8b7be43));
    EXPECT_THAT(crc32_of({}, 4), ElementsAre());
}

TEST(Crc32, OfPartsIsThatOfTheWhole) {
    std::string text(20'000'000, '\0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 + i / 251);
    const std::string_view all = text;
    for (const int threads : {1, 2, 5}) {
        const auto crcs =
            crc32_of({bytes(all), bytes(all.substr(1)), bytes(all.substr(0, 9))}, threads);
        // Computed with Python's zlib.crc32.
        EXPECT_THAT(crcs, ElementsAre(0x5f53072d, 0x5ff86601, 0x23faf38b)) << threads;
    }
}

}  // namespace
}  // namespace muster::checkpoint::crc32_test
