#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "base/test_growth.h"
#include "kube/patch/managed_fields.h"
#include "kube/patch/structured_merge.h"
#include "kube/schema/schema.h"

// Who owns what is read from what clients send, and compared with what they apply.

namespace muster::kube::managed_fields_growth_test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

json::object owned_field(std::size_t i) {
    return {{"f:data", {{fmt::format("f:k{}", i), json::object()}}}};
}

/// An entry for each manager, of one field each.
json::array entries_of(std::size_t count, std::string_view operation) {
    json::array entries;
    for (std::size_t i = 0; i < count; ++i)
        entries.push_back({{"manager", fmt::format("m{}", i)},
                           {"operation", operation},
                           {"apiVersion", "v1"},
                           {"fieldsType", "FieldsV1"},
                           {"fieldsV1", owned_field(i)}});
    return entries;
}

json::value with_data(std::size_t count, std::string_view value) {
    json::object data;
    for (std::size_t i = 0; i < count; ++i) data[fmt::format("k{}", i)] = value;
    return {{"data", std::move(data)}};
}

const FieldOwner kWho{.name = "me", .api_version = "v1", .subresource = "", .time = ""};

void read_entries(std::size_t size) {
    ASSERT_TRUE(read_managed_fields(entries_of(size, "Update")));
}

void write_over_all(std::size_t size) {
    json::array entries = entries_of(size, "Update");
    ASSERT_TRUE(
        record_write(entries, nullptr, with_data(size, "a"), with_data(size, "b"), {}, kWho));
    EXPECT_THAT(entries, SizeIs(1));
}

void merge_old_entries(std::size_t size) {
    json::array entries = entries_of(size, "Update");
    const json::value before = with_data(size, "a");
    json::value after = before;
    after.as_object()["other"] = "b";
    ASSERT_TRUE(record_write(entries, nullptr, before, after, {}, kWho));
    EXPECT_THAT(entries, SizeIs(10));
}

void conflict_with_all(std::size_t size) {
    json::array entries = entries_of(size, "Apply");
    json::value live = with_data(size, "a");
    ASSERT_FALSE(apply_fields(entries, nullptr, live, with_data(size, "b"), {}, kWho, {}));
}

void apply_less_beside_all(std::size_t size) {
    json::array entries = entries_of(size, "Apply");
    json::value live = with_data(size, "a");
    ASSERT_TRUE(apply_fields(entries, nullptr, live, with_data(size, "a"), {}, kWho, {}));
    ASSERT_TRUE(apply_fields(entries, nullptr, live, with_data(size / 2, "a"), {}, kWho, {}));
    ASSERT_TRUE(apply_fields(entries, nullptr, live, with_data(1, "b"), {}, kWho, {.force = true}));
}

/// A list by its names, applied in the opposite order.
void apply_a_list_backwards(std::size_t size) {
    const auto list = [&](bool backwards) {
        json::array env;
        for (std::size_t i = 0; i < size; ++i)
            env.push_back({{"name", fmt::format("V{}", backwards ? size - 1 - i : i)}});
        return json::value{
            {"spec", {{"containers", json::array{{{"name", "c"}, {"env", std::move(env)}}}}}}};
    };
    json::array entries;
    json::value live = list(false);
    ASSERT_TRUE(apply_fields(entries, core_schema("Pod").get(), live, list(true), {}, kWho, {}));
}

struct Work {
    const char* name;
    void (*run)(std::size_t size);
    std::size_t size;
};

void PrintTo(const Work& work, std::ostream* out) { *out << work.name; }

class ManagedFieldsGrowth : public ::testing::TestWithParam<Work> {};

TEST_P(ManagedFieldsGrowth, IsLinear) {
    EXPECT_LE(growth_by_ten(GetParam().size, GetParam().run), kLinearGrowth);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ManagedFieldsGrowth,
    ::testing::Values(Work{"read_entries", read_entries, 300},
                      Work{"write_over_all", write_over_all, 300},
                      Work{"merge_old_entries", merge_old_entries, 300},
                      Work{"conflict_with_all", conflict_with_all, 300},
                      Work{"apply_less_beside_all", apply_less_beside_all, 100},
                      Work{"apply_a_list_backwards", apply_a_list_backwards, 100}),
    ::testing::PrintToStringParamName());

TEST(ManagedFields, NotAllConflictsAreNamedWhereTheyAreMany) {
    json::array entries = entries_of(2'000, "Apply");
    json::value live = with_data(2'000, "a");
    const auto done = apply_fields(entries, nullptr, live, with_data(2'000, "b"), {}, kWho, {});
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message(), HasSubstr("Apply failed with 2000 conflicts: "));
    EXPECT_THAT(done.error().message(), HasSubstr("\nand 1500 more"));
    EXPECT_THAT(done.error().causes(), SizeIs(500));
}

/// The text of each conflict has the long name.
TEST(ManagedFields, ConflictsBelowALongNameTakeNoMoreThanTheObject) {
    const std::string name(100'000, 'n');
    const auto below = [&](std::string_view value) {
        json::object fields;
        for (int i = 0; i < 1'000; ++i) fields[fmt::format("k{}", i)] = value;
        return json::value{{name, std::move(fields)}};
    };
    json::array entries;
    json::value live = below("a");
    FieldOwner other = kWho;
    other.name = "other";
    ASSERT_TRUE(apply_fields(entries, nullptr, live, below("a"), {}, other, {.force = true}));
    const auto done = apply_fields(entries, nullptr, live, below("b"), {}, kWho, {});
    ASSERT_FALSE(done);
    EXPECT_LT(done.error().message().size(), 500'000u);
    EXPECT_THAT(done.error().causes(), SizeIs(1));
}

}  // namespace
}  // namespace muster::kube::managed_fields_growth_test
