#include "checkpoint/image/segment_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "checkpoint/image/digest.h"
#include "checkpoint/image/slot_choice.h"

namespace muster::checkpoint::segment_layout_test {
namespace {

using ::testing::HasSubstr;

const SegmentShape kShape{.slots = 3, .capacity = 4 * kPage};

template <class Header>
void sign(Header& header) {
    header.digest = digest_of(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, digest)));
}

TEST(SegmentLayout, AHeaderIsReadAsItWasWritten) {
    const SegmentOwner owner{.job = "ml/bert", .rank = 7};
    const auto read = read_header(make_header(owner, kShape), kShape.bytes());
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->owner, owner);
    EXPECT_EQ(read->shape, kShape);
    EXPECT_EQ(kShape.bytes(), kPage + 3 * 5 * kPage);
    EXPECT_EQ(kShape.slot_begin(2), kPage + 2 * 5 * kPage);
}

TEST(SegmentLayout, WhatIsNoHeaderIsTold) {
    const SegmentHeader good = make_header({.job = "j", .rank = 0}, kShape);
    const auto said = [&](auto change, std::uint64_t bytes = kShape.bytes()) {
        SegmentHeader header = good;
        change(header);
        const auto read = read_header(header, bytes);
        return read ? std::string() : read.error().message();
    };
    EXPECT_EQ(said([](auto&) {}), "");
    EXPECT_THAT(said([](auto& it) { it.magic[0] = 'm'; }), HasSubstr("MUSTERCK"));
    EXPECT_THAT(said([](auto& it) { it.version = 2; }), HasSubstr("version 2"));
    EXPECT_THAT(said([](auto& it) { it.rank = 1; }), HasSubstr("damaged"));
    EXPECT_THAT(said([](auto&) {}, kShape.bytes() - 1), HasSubstr("should have"));
    EXPECT_THAT(said([](auto& it) {
                    it.slots = 0;
                    sign(it);
                }),
                HasSubstr("0 slots"));
    EXPECT_THAT(said([](auto& it) {
                    it.capacity = UINT64_MAX / kPage * kPage;
                    sign(it);
                }),
                HasSubstr("can't be counted"));
    EXPECT_THAT(said([](auto& it) {
                    it.capacity = 1;
                    sign(it);
                }),
                HasSubstr("no multiple"));
    EXPECT_THAT(said([](auto& it) {
                    it.job.fill('x');
                    sign(it);
                }),
                HasSubstr("no end"));
}

TEST(SegmentLayout, TheNewestWordNamesASlotThatIsThere) {
    for (const Newest newest : {Newest{}, Newest{1, 0}, Newest{1ULL << 40, 2}})
        EXPECT_EQ(read_newest(newest.word(), 3).value(), newest);
    EXPECT_FALSE(read_newest(Newest{1, 3}.word(), 3));
    EXPECT_FALSE(read_newest(0x100, 3)) << "an image in no slot";
    EXPECT_FALSE(read_newest(0x01, 3)) << "a slot without an image";
}

TEST(SegmentLayout, AnImageAndItsDigestsFitIntoTheirSlot) {
    const Table table = lay_out({.tensors = {{.name = "a", .dtype = Dtype::kU8, .shape = {3}},
                                             {.name = "b", .dtype = Dtype::kF64, .shape = {2}}}})
                            .value();
    const std::string text = encode(table).value();
    EXPECT_EQ(needed_capacity(table, text), kPage + 24 + 16) << "19 bytes, aligned, and 2 digests";
    const SlotHeader good = make_slot_header(5, {1, 2, 30}, table, text);
    const auto fits = [&](auto change) {
        SlotHeader header = good;
        change(header);
        sign(header);
        return check_slot_header(header, kShape).has_value();
    };
    EXPECT_TRUE(fits([](auto&) {}));
    EXPECT_FALSE(fits([](auto& it) { it.sequence = 0; })) << "it was not published";
    EXPECT_FALSE(fits([](auto& it) { it.image_bytes = kShape.capacity + 1; }));
    EXPECT_FALSE(fits([](auto& it) { it.image_bytes = kShape.capacity; })) << "and the digests?";
    EXPECT_FALSE(fits([](auto& it) { it.image_bytes = UINT64_MAX; }));
    EXPECT_FALSE(fits([](auto& it) { it.tensors = UINT64_MAX; }));
    EXPECT_FALSE(fits([](auto& it) { it.table_bytes = it.image_bytes + 1; }));
    SlotHeader flipped = good;
    flipped.facts.step ^= 1;
    EXPECT_FALSE(check_slot_header(flipped, kShape));
}

TEST(SlotChoice, TheOldestThatIsNeitherNewestNorHeld) {
    const struct {
        std::vector<SlotState> slots;
        std::optional<std::uint32_t> newest;
        std::optional<std::uint32_t> chosen;
        const char* why;
    } rows[] = {
        {{{0}, {0}}, std::nullopt, 0, "nothing was saved"},
        {{{1}, {0}}, 0, 1, "the other one"},
        {{{1}, {2}}, 1, 0, "in turn"},
        {{{1, true}, {2}}, 1, std::nullopt, "the older one is read"},
        {{{1}, {2, true}}, 1, 0, "that the newest is read matters not"},
        {{{4}, {2}, {3}}, 0, 1, "the oldest"},
        {{{4}, {2, true}, {3}}, 0, 2, "the oldest that is free"},
        {{{4}, {0}, {3}}, 0, 1, "one that a crash left"},
        {{{4}}, 0, 0, "there is but one"},
        {{{4, true}}, 0, std::nullopt, "and it is read"},
    };
    for (const auto& row : rows) EXPECT_EQ(next_slot(row.slots, row.newest), row.chosen) << row.why;
}

}  // namespace
}  // namespace muster::checkpoint::segment_layout_test
