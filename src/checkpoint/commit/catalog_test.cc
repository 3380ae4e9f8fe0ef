#include "checkpoint/commit/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "checkpoint/commit/committer.h"
#include "checkpoint/storage/durable_text.h"
#include "checkpoint/storage/memory_storage.h"

namespace muster::checkpoint::catalog_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CatalogTest : public ::testing::Test {
  protected:
    void save(std::uint64_t step, std::uint64_t generation = 1) {
        const ImageFacts facts{.epoch = 1, .generation = generation, .step = step};
        const std::string staging = staging_directory(facts);
        ASSERT_TRUE(storage.make_directory(staging));
        const std::string content = "content";
        const auto file = write_shard(storage, staging, "rank_00000.safetensors",
                                      {std::as_bytes(std::span(content))}, 1);
        const Manifest manifest{
            .job = "j", .facts = facts, .shards = {{.rank = 0, .files = {file.value()}}}};
        ASSERT_TRUE(commit(storage, manifest, {.directory = std::to_string(step)}));
    }
    Catalog catalog() { return read_catalog(storage).value(); }
    std::vector<std::uint64_t> steps() {
        std::vector<std::uint64_t> found;
        for (const FoundCheckpoint& one : catalog().checkpoints)
            found.push_back(one.manifest.facts.step);
        return found;
    }
    Result<FoundCheckpoint> to_load(std::optional<std::uint64_t> step = std::nullopt) {
        return checkpoint_to_load(catalog(), "/data", step);
    }

    MemoryStorage storage;
};

TEST_F(CatalogTest, TheNewestGenerationComesFirst) {
    for (const std::uint64_t step : {100u, 900u, 1000u}) save(step);
    save(950, 2);
    EXPECT_THAT(steps(), ElementsAre(950, 1000, 900, 100));
    EXPECT_EQ(to_load()->directory, "950");
    EXPECT_EQ(to_load(900)->directory, "900");
    EXPECT_EQ(catalog().latest, "950");
}

TEST_F(CatalogTest, WhereNothingIsThatIsSaid) {
    EXPECT_THAT(steps(), IsEmpty());
    EXPECT_EQ(to_load().error().message(), "there is no checkpoint in /data");
    EXPECT_EQ(to_load().error().code(), Code::kNotFound);
    save(100);
    EXPECT_EQ(to_load(7).error().message(),
              "there is no checkpoint of step 7 in /data; the newest that is there is of step 100");
}

TEST_F(CatalogTest, TheOneBeforeIsLoadedWhereTheNewestIsDamaged) {
    save(100);
    save(200);
    ASSERT_TRUE(storage.flip_bit("200/manifest.json", 20));
    EXPECT_EQ(to_load()->directory, "100");
    ASSERT_EQ(catalog().unusable.size(), 1u);
    EXPECT_THAT(catalog().unusable[0].why, HasSubstr("200/manifest.json: it is no manifest"));
    ASSERT_TRUE(storage.remove("100/rank_00000.safetensors"));
    EXPECT_THAT(to_load().error().message(), HasSubstr("100 can't be loaded: "));
}

TEST_F(CatalogTest, AFileOfAnotherLengthIsDamage) {
    save(100);
    ASSERT_TRUE(write_text_durably(storage, "100", "rank_00000.safetensors", "cont"));
    EXPECT_THAT(catalog().unusable.at(0).why, HasSubstr("has 4 bytes, and had 7"));
}

TEST_F(CatalogTest, DirectoriesOfOthersAreToldApart) {
    save(100);
    ASSERT_TRUE(storage.make_directory("runs"));
    ASSERT_TRUE(write_text_durably(storage, "", "notes.txt", "x"));
    EXPECT_THAT(catalog().others, ElementsAre("runs"));
    EXPECT_THAT(catalog().unusable, IsEmpty());
}

TEST_F(CatalogTest, LatestIsAHint) {
    save(100);
    save(200);
    ASSERT_TRUE(write_text_durably(storage, "", kLatestName, "100\n"));
    EXPECT_EQ(to_load()->directory, "200") << "the machine crashed between the two";
    ASSERT_TRUE(write_text_durably(storage, "", kLatestName, std::string(5000, 'x')));
    EXPECT_EQ(to_load()->directory, "200");
    EXPECT_EQ(catalog().unusable.at(0).directory, "LATEST");
}

}  // namespace
}  // namespace muster::checkpoint::catalog_test
