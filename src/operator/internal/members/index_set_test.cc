#include "operator/internal/members/index_set.h"

#include <gtest/gtest.h>

#include <set>

#include "base/rng.h"

namespace muster::operators::index_set_test {
namespace {

std::set<std::int32_t> members(const IndexSet& set) {
    std::set<std::int32_t> all;
    for (std::int32_t i = set.next(0); i >= 0; i = set.next(i + 1)) all.insert(i);
    return all;
}

TEST(IndexSet, AgreesWithAnOrdinarySet) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Rng rng(seed);
        const std::int32_t range = seed % 2 == 0 ? 64 : 1000;
        IndexSet set;
        std::set<std::int32_t> model;
        for (int step = 0; step < 500; ++step) {
            const auto index =
                static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(range)));
            const bool present = rng.chance(0.5);
            set.set(index, present);
            present ? void(model.insert(index)) : void(model.erase(index));
            ASSERT_EQ(set.contains(index), present);
            ASSERT_EQ(set.size(), static_cast<std::int32_t>(model.size()));
        }
        EXPECT_EQ(members(set), model);
        EXPECT_EQ(IndexSet::parse(set.to_string(), range), set);
        const IndexSet copy = set;
        set.clear();
        EXPECT_EQ(members(copy), model);
        EXPECT_TRUE(set.empty());
    }
}

TEST(IndexSet, WhatWasTakenOutAgainMakesNoDifference) {
    IndexSet grown;
    grown.insert(3);
    grown.insert(900);
    grown.erase(900);
    IndexSet small;
    small.insert(3);
    EXPECT_EQ(grown, small);
    grown.insert(100);
    small.insert(4);
    EXPECT_FALSE(grown == small);
}

TEST(IndexSet, IsWrittenAsBatchJobsWriteIt) {
    const std::pair<const char*, const char*> rows[] = {
        {"0-2,5", "0-2,5"}, {"", ""},           {"7", "7"},      {"3,1,2", "1-3"},
        {"1-", ""},         {"x,4", "4"},       {"-1,2", "2"},   {"5-3", ""},
        {"8-12", "8-9"},    {"9999999999", ""}, {"1,,2", "1-2"}, {"0-99999", "0-9"}};
    for (auto [text, canonical] : rows)
        EXPECT_EQ(IndexSet::parse(text, 10).to_string(), canonical) << text;
}

}  // namespace
}  // namespace muster::operators::index_set_test
