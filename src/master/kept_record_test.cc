#include "master/kept_record.h"

#include <gtest/gtest.h>

namespace muster::master {
namespace {

TEST(KeptRecord, ASectionIsAChangeLikeAnyOther) {
    KeptRecord record({.epoch = 3, .sections = {{"shards", "old"}}});
    ASSERT_TRUE(record.set_section("shards", "old"));
    EXPECT_EQ(record.version(), 0u) << "nothing to write";
    ASSERT_TRUE(record.set_section("tally", "one"));
    EXPECT_EQ(record.version(), 1u);
    EXPECT_EQ(record.written_version(), 0u);
    EXPECT_EQ(record.shared()->sections.at("tally"), "one");
    ASSERT_TRUE(record.set_section("shards", ""));
    EXPECT_FALSE(record.now().sections.contains("shards"));
    ASSERT_TRUE(record.set_section("shards", ""));
    EXPECT_EQ(record.version(), 2u);
}

TEST(KeptRecord, IsFinalWhenTheJobHasEnded) {
    KeptRecord record({.epoch = 3});
    record.end({.kind = Verdict::Kind::kSucceeded});
    const auto late = record.set_section("tally", "one");
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), Code::kGone);
    EXPECT_EQ(record.version(), 1u);
}

}  // namespace
}  // namespace muster::master
