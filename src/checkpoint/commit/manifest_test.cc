#include "checkpoint/commit/manifest.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <span>

#include "checkpoint/image/digest.h"

namespace muster::checkpoint::manifest_test {
namespace {

using ::testing::HasSubstr;

Manifest two_shards() {
    return {
        .job = "default/bert",
        .facts = {.epoch = UINT64_MAX, .generation = 17, .step = 1500},
        .format = Format::kTorch,
        .layout = {.world_size = 4, .shards = 2, .words = {{"tp", "2"}, {"pp", "1"}}},
        .made_unix_ms = 1'700'000'000'123,
        .data_position = R"({"epoch": 3})",
        .shards = {
            {.rank = 0,
             .files = {{.path = "rank_00000.pt", .bytes = kChunk + 1, .chunks = {0, UINT64_MAX}}}},
            {.rank = 2,
             .files = {{.path = "a/rank_00002.pt", .bytes = 0, .chunks = {}},
                       {.path = "b", .bytes = 5, .chunks = {7}}}}}};
}

TEST(Manifest, IsReadAsItWasWritten) {
    EXPECT_EQ(decode_manifest(encode(two_shards())).value(), two_shards());
    EXPECT_TRUE(two_shards().complete());
    EXPECT_EQ(bytes_of(two_shards()), kChunk + 6);
}

TEST(Manifest, OfSomeRanksIsNotComplete) {
    Manifest part = two_shards();
    part.shards.erase(part.shards.begin());
    EXPECT_FALSE(part.complete());
    EXPECT_EQ(decode_manifest(encode(part)).value(), part);
}

TEST(Manifest, EachBitAndEachByteThatIsMissingIsSeen) {
    const std::string text = encode(two_shards());
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string flipped = text;
        flipped[i] = static_cast<char>(flipped[i] ^ 1);
        EXPECT_FALSE(decode_manifest(flipped)) << "byte " << i;
        EXPECT_FALSE(decode_manifest(text.substr(0, i))) << i << " bytes";
    }
}

struct Bad {
    const char* name;
    std::function<void(Manifest&)> change;
    const char* why;
};

class BadManifests : public ::testing::TestWithParam<Bad> {};

// What no manifest may say, although its digest is right.
TEST_P(BadManifests, AreRefusedWithTheField) {
    Manifest manifest = two_shards();
    GetParam().change(manifest);
    const auto read = decode_manifest(encode(manifest));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), Code::kInvalid);
    EXPECT_THAT(read.error().message(), HasSubstr(GetParam().why));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadManifests,
    ::testing::Values(
        Bad{"above", [](Manifest& m) { m.shards[0].files[0].path = "../x"; },
            "shards[0].files[0].path: \"../x\" is no path"},
        Bad{"root", [](Manifest& m) { m.shards[0].files[0].path = "/etc/passwd"; }, "is no path"},
        Bad{"no_path", [](Manifest& m) { m.shards[0].files[0].path = ""; }, "is no path"},
        Bad{"itself", [](Manifest& m) { m.shards[0].files[0].path = "manifest.json"; }, "twice"},
        Bad{"file_twice", [](Manifest& m) { m.shards[0].files[0].path = "b"; },
            "the file b is there twice"},
        Bad{"rank_twice", [](Manifest& m) { m.shards[1].rank = 0; }, "rank 0 comes after rank 0"},
        Bad{"rank_outside", [](Manifest& m) { m.shards[1].rank = 4; }, "shards[1].rank"},
        Bad{"no_file", [](Manifest& m) { m.shards[1].files.clear(); }, "shards[1].files"},
        Bad{"too_many_shards", [](Manifest& m) { m.layout.shards = 1; }, "there are 2"},
        Bad{"more_shards_than_ranks", [](Manifest& m) { m.layout.shards = 5; }, "layout.shards"},
        Bad{"no_shards", [](Manifest& m) { m.layout.shards = 0; }, "layout.shards"},
        Bad{"a_digest_less", [](Manifest& m) { m.shards[0].files[0].chunks.pop_back(); },
            "must be the 2 digests"},
        Bad{"before_time", [](Manifest& m) { m.made_unix_ms = -1; }, "made_unix_ms"}),
    [](const auto& bad) { return bad.param.name; });

TEST(Manifest, OfALaterVersionIsToldAsSuch) {
    std::string text = encode(two_shards());
    text.replace(text.find("\"version\":1"), 11, "\"version\":2");
    const std::size_t end = text.find(",\"digest\"");
    const std::uint64_t digest =
        digest_of(std::as_bytes(std::span(std::string_view(text).substr(0, end))));
    text.resize(end);
    text += fmt::format(",\"digest\":\"{:016x}\"}}\n", digest);
    EXPECT_EQ(decode_manifest(text).error().code(), Code::kUnsupported);
}

TEST(Manifest, FormatsHaveNames) {
    for (const Format format : {Format::kSafetensors, Format::kTorch, Format::kTorchDistributed})
        EXPECT_EQ(format_named(name_of(format)), format);
    EXPECT_EQ(format_named("pickle"), std::nullopt);
    EXPECT_EQ(describe(two_shards().layout), "4 ranks, 2 shards, pp=1, tp=2");
    EXPECT_EQ(describe({}), "1 rank, 1 shard");
}

}  // namespace
}  // namespace muster::checkpoint::manifest_test
