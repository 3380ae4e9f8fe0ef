#include "checkpoint/copy/copier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/rng.h"
#include "base/test_seeds.h"
#include "checkpoint/copy/streaming.h"

namespace muster::checkpoint::copier_test {
namespace {

std::vector<std::byte> noise(std::size_t bytes, Rng& rng) {
    std::vector<std::byte> made(bytes);
    for (std::byte& one : made) one = static_cast<std::byte>(rng.below(256));
    return made;
}

TEST(Streaming, CopiesAsMemcpyDoesFromAnyPlaceToAnyOther) {
    Rng rng(1);
    const std::vector<std::byte> source = noise(300'000, rng);
    for (const std::size_t from : {0u, 1u, 17u})
        for (const std::size_t to : {0u, 3u, 63u})
            for (const std::size_t bytes :
                 {0u, 1u, 1000u, 262'143u, 262'144u, 262'209u, 280'001u}) {
                std::vector<std::byte> target(source.size() + 200, std::byte{7});
                stream(target.data() + to, source.data() + from, bytes);
                end_streams();
                const auto begin = target.begin() + static_cast<std::ptrdiff_t>(to);
                const auto end = begin + static_cast<std::ptrdiff_t>(bytes);
                EXPECT_TRUE(
                    std::equal(begin, end, source.begin() + static_cast<std::ptrdiff_t>(from)));
                EXPECT_EQ(std::count(target.begin(), begin, std::byte{7}), begin - target.begin());
                EXPECT_EQ(std::count(end, target.end(), std::byte{7}), target.end() - end);
            }
}

TEST(Copier, CopiesEveryPartOnceWithAnyNumberOfThreads) {
    for (const std::uint64_t seed : seeds_of_this_run(50, 5)) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        Copier copier(1 + static_cast<int>(rng.below(4)));
        for (int rounds = 0; rounds < 5; ++rounds) {
            std::vector<std::size_t> sizes;
            for (std::uint64_t i = rng.below(200); i-- > 0;)
                sizes.push_back(rng.below(rng.chance(0.05) ? 10'000'000 : 5000));
            const std::size_t all = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
            std::vector<std::byte> source(all);
            for (std::size_t i = 0; i < all; i += 97) source[i] = static_cast<std::byte>(i % 251);
            // A byte between two parts belongs to none of them.
            std::vector<std::byte> target(all + sizes.size(), std::byte{0xee});
            std::vector<Copying> parts;
            std::size_t from = 0;
            std::size_t to = 0;
            for (const std::size_t size : sizes) {
                parts.push_back({target.data() + to, source.data() + from, size});
                from += size;
                to += size + 1;
            }
            copier.copy(parts);
            for (const Copying& part : parts) {
                ASSERT_TRUE(std::equal(part.to, part.to + part.bytes, part.from));
                ASSERT_EQ(part.to[part.bytes], std::byte{0xee});
            }
        }
    }
}

TEST(Copier, NothingIsNoWork) {
    Copier copier(3);
    copier.copy({});
    std::byte one{1};
    std::byte other{2};
    const Copying parts[] = {{&other, &one, 0}};
    copier.copy(parts);
    EXPECT_EQ(other, std::byte{2});
}

}  // namespace
}  // namespace muster::checkpoint::copier_test
