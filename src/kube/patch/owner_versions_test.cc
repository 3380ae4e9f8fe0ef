#include "kube/patch/owner_versions.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "kube/patch/managed_fields.h"
#include "kube/values/json_access.h"

namespace muster::kube::owner_versions_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// v2 has spec.count where v1 has spec.size.
class Renamed final : public OwnerVersions {
  public:
    const Version* find(std::string_view api_version) const override {
        return api_version == "x.io/v1" || api_version == "x.io/v2" ? &version_ : nullptr;
    }
    ObjectPtr convert(const json::value& object, std::string_view api_version) override {
        asked.emplace_back(api_version);
        if (unknown) return nullptr;
        json::value made = object;
        made.as_object()["apiVersion"] = api_version;
        json::value* spec = made.as_object().if_contains("spec");
        const bool first = api_version == "x.io/v1";
        const char* from = first ? "count" : "size";
        if (spec != nullptr && spec->is_object())
            if (const json::value* field = spec->as_object().if_contains(from)) {
                const json::value kept = *field;
                spec->as_object().erase(from);
                spec->as_object()[first ? "size" : "count"] = kept;
            }
        return std::make_shared<const json::value>(std::move(made));
    }

    bool unknown = false;
    std::vector<std::string> asked;

  private:
    FieldSet ignored_ =
        *FieldSet::from_json(json::parse(R"({"f:apiVersion":{},"f:kind":{},"f:metadata":{}})"));
    Version version_{.schema = nullptr, .ignored = &ignored_};
};

class OwnerVersionsTest : public ::testing::Test {
  protected:
    json::value in_version(std::string_view version) {
        if (string_at(live_.as_object(), "apiVersion") == version) return live_;
        return *versions_.convert(live_, version);
    }
    Result<void> apply(std::string_view who, std::string_view version, std::string_view spec,
                       bool force = false) {
        json::value next = in_version(version);
        json::array entries = entries_;
        const json::value configuration{
            {"apiVersion", version}, {"kind", "K"}, {"spec", json::parse(spec)}};
        const Result<void> applied =
            apply_fields(entries, nullptr, next, configuration, *versions_.find(version)->ignored,
                         {std::string(who), std::string(version), "", "t"},
                         {.force = force, .versions = &versions_, .unset = &unset_});
        if (applied) {
            live_ = std::move(next);
            entries_ = std::move(entries);
        }
        return applied;
    }
    void write(std::string_view who, std::string_view version, std::string_view spec) {
        const json::value before = in_version(version);
        json::value after = before;
        after.as_object()["spec"] = json::parse(spec);
        record_write(entries_, nullptr, before, after, *versions_.find(version)->ignored,
                     {std::string(who), std::string(version), "", "t"}, &versions_);
        live_ = std::move(after);
    }
    /// "a v1 {fields of spec}".
    std::vector<std::string> owners() const {
        std::vector<std::string> all;
        for (const json::value& value : entries_) {
            const json::object& entry = value.as_object();
            json::object fields = entry.at("fieldsV1").as_object();
            json::value* spec = fields.if_contains("f:spec");
            if (spec != nullptr) spec->as_object().stable_erase(".");
            all.push_back(
                fmt::format("{} {} {}", std::string_view(string_at(entry, "manager")),
                            string_at(entry, "apiVersion").substr(5),
                            spec == nullptr ? "" : std::string_view(json::serialize(*spec))));
        }
        return all;
    }
    std::string spec_in(std::string_view version) {
        return json::serialize(in_version(version).at("spec"));
    }

    Renamed versions_;
    json::value live_{{"apiVersion", "x.io/v1"}, {"kind", "K"}, {"spec", json::object()}};
    json::value unset_{{"spec", json::object()}};
    json::array entries_;
};

TEST_F(OwnerVersionsTest, AConflictIsSeenUnderAnotherName) {
    ASSERT_TRUE(apply("a", "x.io/v1", R"({"size":1})"));
    const Result<void> refused = apply("b", "x.io/v2", R"({"count":2})");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr(R"(conflict with "a": .spec.size)"));
    EXPECT_TRUE(apply("b", "x.io/v2", R"({"count":1})"));
    EXPECT_THAT(owners(), ElementsAre(R"(b v2 {"f:count":{}})", R"(a v1 {"f:size":{}})"));
    ASSERT_TRUE(apply("b", "x.io/v2", R"({"count":2})", true));
    EXPECT_THAT(owners(), ElementsAre("a v1 {}", R"(b v2 {"f:count":{}})"));
    EXPECT_EQ(spec_in("x.io/v1"), R"({"size":2})");
}

TEST_F(OwnerVersionsTest, AWriteTakesAFieldUnderItsOtherName) {
    ASSERT_TRUE(apply("a", "x.io/v1", R"({"size":1,"name":"n"})"));
    write("b", "x.io/v2", R"({"count":2,"name":"n"})");
    EXPECT_THAT(owners(), ElementsAre(R"(a v1 {"f:name":{}})", R"(b v2 {"f:count":{}})"));
    write("c", "x.io/v2", R"({"name":"n"})");
    EXPECT_THAT(owners(), ElementsAre(R"(a v1 {"f:name":{}})"));
}

TEST_F(OwnerVersionsTest, AnUnrelatedWriteTakesNothing) {
    ASSERT_TRUE(apply("a", "x.io/v1", R"({"size":1})"));
    write("b", "x.io/v2", R"({"count":1,"name":"n"})");
    EXPECT_THAT(owners(), ElementsAre(R"(a v1 {"f:size":{}})", R"(b v2 {"f:name":{}})"));
}

TEST_F(OwnerVersionsTest, AnApplierGivesUpWhatItAppliedInAnotherVersion) {
    ASSERT_TRUE(apply("a", "x.io/v1", R"({"size":1,"name":"n"})"));
    ASSERT_TRUE(apply("a", "x.io/v2", R"({"name":"n"})"));
    EXPECT_EQ(spec_in("x.io/v2"), R"({"name":"n"})");
    EXPECT_THAT(owners(), ElementsAre(R"(a v2 {"f:name":{}})"));
}

TEST_F(OwnerVersionsTest, WhatAnotherOwnsUnderItsOtherNameStays) {
    ASSERT_TRUE(apply("a", "x.io/v1", R"({"size":1,"name":"n"})"));
    ASSERT_TRUE(apply("b", "x.io/v2", R"({"count":1})"));
    ASSERT_TRUE(apply("a", "x.io/v1", R"({"name":"n"})"));
    EXPECT_EQ(spec_in("x.io/v2"), R"({"name":"n","count":1})");
    ASSERT_TRUE(apply("b", "x.io/v2", R"({})"));
    EXPECT_EQ(spec_in("x.io/v2"), R"({"name":"n"})");
}

TEST_F(OwnerVersionsTest, OneVersionAsksNothing) {
    ASSERT_TRUE(apply("a", "x.io/v1", R"({"size":1})"));
    ASSERT_TRUE(apply("b", "x.io/v1", R"({"size":2})", true));
    ASSERT_TRUE(apply("b", "x.io/v1", R"({"size":2})"));
    EXPECT_THAT(versions_.asked, IsEmpty());
}

TEST_F(OwnerVersionsTest, BothStatesAreAskedForBeforeTheyAreKnown) {
    ASSERT_TRUE(apply("a", "x.io/v1", R"({"size":1})"));
    live_ = in_version("x.io/v2");
    versions_.asked.clear();
    versions_.unknown = true;
    write("b", "x.io/v2", R"({"count":2})");
    EXPECT_THAT(versions_.asked, ElementsAre("x.io/v1", "x.io/v1"));
}

}  // namespace
}  // namespace muster::kube::owner_versions_test
