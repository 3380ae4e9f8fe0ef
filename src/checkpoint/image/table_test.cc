#include "checkpoint/image/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "base/rng.h"
#include "base/test_seeds.h"

namespace muster::checkpoint::table_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor tensor(std::string name, Dtype dtype, std::vector<std::uint64_t> shape) {
    return {
        .name = std::move(name), .dtype = dtype, .shape = std::move(shape), .begin = 0, .end = 0};
}

/// An image's begin with this table.
std::string with_length(std::string_view json) {
    const std::uint64_t length = json.size();
    std::string text(8, '\0');
    std::memcpy(text.data(), &length, 8);
    return text + std::string(json);
}
std::string error_of(std::string_view json, std::uint64_t payload) {
    const std::string text = with_length(json);
    const auto read = decode(text, text.size() + payload);
    return read ? "" : read.error().message();
}

std::vector<std::string> places(const Table& table) {
    std::vector<std::string> all;
    for (const Tensor& one : table.tensors)
        all.push_back(fmt::format("{} {}-{}", one.name, one.begin, one.end));
    return all;
}

TEST(Dtype, EachIsFoundByItsNameAndItsNumber) {
    for (std::size_t i = 0; i < kDtypes.size(); ++i) {
        EXPECT_EQ(static_cast<std::size_t>(kDtypes[i].dtype), i);
        EXPECT_EQ(dtype_named(kDtypes[i].name), kDtypes[i].dtype);
    }
    EXPECT_EQ(dtype_named("F4"), std::nullopt);
}

TEST(Table, EachTensorIsAlignedToItsElementsWithoutGaps) {
    const auto laid = lay_out(
        {.tensors = {tensor("odd", Dtype::kU8, {3}), tensor("scalar", Dtype::kF32, {}),
                     tensor("b", Dtype::kF32, {2, 2}), tensor("none", Dtype::kI64, {0, 1ULL << 63}),
                     tensor("wide", Dtype::kF64, {1}), tensor("half", Dtype::kBf16, {1})}});
    ASSERT_TRUE(laid) << laid.error().message();
    EXPECT_THAT(places(*laid), ElementsAre("none 0-0", "wide 0-8", "b 8-24", "scalar 24-28",
                                           "half 28-30", "odd 30-33"));
    EXPECT_EQ(laid->payload(), 33u);
}

TEST(Table, NamesThatAreNoneAndShapesThatCantBeAreTold) {
    const struct {
        std::vector<Tensor> tensors;
        const char* said;
    } rows[] = {
        {{tensor("a", Dtype::kU8, {1}), tensor("a", Dtype::kF32, {1})}, "\"a\": is there twice"},
        {{tensor("__metadata__", Dtype::kU8, {1})}, "\"__metadata__\": is no name"},
        {{tensor("\xff", Dtype::kU8, {1})}, "is no name"},
        {{tensor("big", Dtype::kF64, {1ULL << 61})}, "\"big\": its shape has more bytes"},
        {{tensor("a", Dtype::kU8, {1ULL << 62}), tensor("b", Dtype::kU8, {1ULL << 62})},
         "\"b\": its shape has more bytes"},
    };
    for (const auto& row : rows) {
        const auto laid = lay_out({.tensors = row.tensors});
        ASSERT_FALSE(laid) << row.said;
        EXPECT_EQ(laid.error().code(), Code::kInvalid);
        EXPECT_THAT(laid.error().message(), HasSubstr(row.said));
    }
}

TEST(Table, AnImageBeginsAsSafetensorsHasIt) {
    const auto laid =
        lay_out({.tensors = {tensor("w", Dtype::kF16, {2, 3})}, .metadata = {{"format", "pt"}}});
    const std::string text = encode(laid.value()).value();
    EXPECT_EQ(text.size(), kPage);
    std::uint64_t length = 0;
    std::memcpy(&length, text.data(), 8);
    EXPECT_EQ(length, kPage - 8);
    const std::string json = text.substr(8);
    EXPECT_EQ(json.substr(0, json.find_last_not_of(' ') + 1),
              R"({"__metadata__":{"format":"pt"},)"
              R"("w":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]}})");
}

TEST(Table, IsReadAsItWasWritten) {
    for (const std::uint64_t seed : seeds_of_this_run(1000, 5)) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        Table table;
        for (std::uint64_t i = rng.below(40); i-- > 0;) {
            Tensor made = tensor(fmt::format("layer.{}\n\"é{}", i, rng.below(1000)),
                                 kDtypes[rng.below(kDtypes.size())].dtype, {});
            for (std::uint64_t rank = rng.below(4); rank-- > 0;) made.shape.push_back(rng.below(5));
            table.tensors.push_back(std::move(made));
        }
        if (rng.chance(0.5)) table.metadata = {{"framework", "torch"}, {"", "x"}};
        const Table laid = lay_out(table).value();
        const std::string text = encode(laid).value();
        EXPECT_EQ(text.size() % kPage, 0u);
        const std::uint64_t whole = text.size() + laid.payload();
        EXPECT_EQ(table_bytes(text, whole).value(), text.size());
        EXPECT_EQ(decode(text, whole).value(), laid);
        EXPECT_FALSE(decode(text, whole + 1)) << "a byte that belongs to no tensor";
        EXPECT_FALSE(decode(text, whole - 1));
    }
}

TEST(Table, WhatIsNoneIsToldWithTheTensor) {
    const struct {
        const char* json;
        std::uint64_t payload;
        const char* said;
    } rows[] = {
        {"", 0, "no JSON object"},
        {"[]", 0, "no JSON object"},
        {"{\"a\":", 0, "no JSON object"},
        {R"({"a":1})", 0, "\"a\": must have dtype"},
        {R"({"a":{"dtype":"F32","shape":[]}})", 4, "\"a\": must have dtype"},
        {R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4],"x":1}})", 4, "nothing else"},
        {R"({"a":{"dtype":7,"shape":[],"data_offsets":[0,4]}})", 4, "has no dtype"},
        {R"({"a":{"dtype":"F33","shape":[],"data_offsets":[0,4]}})", 4, "unknown dtype \"F33\""},
        {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "whole numbers"},
        {R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, "whole numbers"},
        {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "two whole numbers"},
        {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "not as long"},
        {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "not as long"},
        {R"({"a":{"dtype":"F64","shape":[2305843009213693953],"data_offsets":[0,8]}})", 8,
         "not as long"},
        {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}})", 5, "begins at 1"},
        {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
         R"("b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})",
         7, "\"b\": begins at 3"},
        {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
         R"("b":{"dtype":"U8","shape":[4],"data_offsets":[5,9]}})",
         9, "\"b\": begins at 5, and the one before ends at 4"},
        {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 5, "there are 5 bytes"},
        {R"({"__metadata__":[]})", 0, "__metadata__ must be an object"},
        {R"({"__metadata__":{"a":1}})", 0, "\"a\" must be a text"},
        {"[[[[[[[[]]]]]]]]", 0, "no JSON object"},
    };
    for (const auto& row : rows) EXPECT_THAT(error_of(row.json, row.payload), HasSubstr(row.said));
    EXPECT_EQ(error_of("{}   ", 0), "");
}

TEST(Table, ALengthThatIsNoneIsToldBeforeAnythingIsRead) {
    EXPECT_FALSE(table_bytes("1234567", 100));
    EXPECT_FALSE(table_bytes(with_length("{}"), 7));
    EXPECT_FALSE(table_bytes(with_length("{}"), 9)) << "longer than the image";
    EXPECT_EQ(table_bytes(with_length("{}"), 10).value(), 10u);
    EXPECT_FALSE(table_bytes(std::string(8, '\xff'), UINT64_MAX));
    EXPECT_FALSE(decode(with_length("{}") + "x", 11)) << "not all of the text is the table";
}

TEST(Table, OneThatIsTooLongIsNotWritten) {
    Table table;
    table.metadata["words"] = std::string(kMaxTable, 'x');
    const auto text = encode(table);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code(), Code::kTooLarge);
}

}  // namespace
}  // namespace muster::checkpoint::table_test
