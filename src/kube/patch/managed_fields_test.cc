#include "kube/patch/managed_fields.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/rng.h"
#include "base/test_seeds.h"
#include "kube/patch/structured_merge.h"
#include "kube/schema/schema.h"

namespace muster::kube::managed_fields_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Schema* config_map() {
    static const Schema::Ptr schema = core_schema("ConfigMap");
    return schema.get();
}

const IgnoredFields& no_type() {
    static const IgnoredFields ignored = *FieldSet::from_json(
        json::parse(R"({"f:apiVersion":{},"f:kind":{},"f:metadata":{"f:name":{}}})"));
    return ignored;
}

FieldOwner at(std::string name, std::string time, std::string version = "v1",
              std::string subresource = "") {
    return {std::move(name), std::move(version), std::move(subresource), std::move(time)};
}

/// "Apply m1 t1 .data.a .data.b", one line an entry.
std::vector<std::string> lines(const json::array& entries) {
    std::vector<std::string> found;
    for (const json::value& entry : entries) {
        std::string line = fmt::format("{} {}", entry.at("operation").as_string().c_str(),
                                       entry.at("manager").as_string().c_str());
        if (const json::value* part = entry.as_object().if_contains("subresource"))
            line += fmt::format("/{}", part->as_string().c_str());
        if (const json::value* time = entry.as_object().if_contains("time"))
            line += fmt::format(" {}", time->as_string().c_str());
        for (const FieldPathElements& path : FieldSet::from_json(entry.at("fieldsV1"))->members())
            line += " " + describe(path);
        found.push_back(std::move(line));
    }
    return found;
}

/// One object and its managers.
struct World {
    const Schema* schema = config_map();
    json::value live = json::object();
    json::array entries;

    void write(const FieldOwner& who, std::string_view next) {
        const json::value after = json::parse(next);
        record_write(entries, schema, live, after, no_type(), who);
        live = after;
    }
    Result<void> apply(const FieldOwner& who, std::string_view configuration,
                       ApplyOptions options = {}) {
        json::value next = live;
        json::array managers = entries;
        TRY_VOID(apply_fields(managers, schema, next, json::parse(configuration), no_type(), who,
                              options));
        live = std::move(next);
        entries = std::move(managers);
        return {};
    }
    std::string data() const {
        const json::value* data = live.as_object().if_contains("data");
        return data == nullptr ? "none" : json::serialize(*data);
    }
};

TEST(RecordWrite, ACreatorOwnsEverything) {
    World world;
    world.write(at("m1", "t1"), R"({"kind":"ConfigMap","metadata":{"name":"a","labels":{"x":"y"}},
                                    "data":{"a":"1"}})");
    EXPECT_THAT(lines(world.entries), ElementsAre("Update m1 t1 .data .data.a .metadata.labels "
                                                  ".metadata.labels.x"));
    EXPECT_EQ(json::serialize(world.entries),
              R"([{"manager":"m1","operation":"Update","apiVersion":"v1","time":"t1",)"
              R"("fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:a":{}},)"
              R"("f:metadata":{"f:labels":{".":{},"f:x":{}}}}}])");
}

TEST(RecordWrite, AChangeMovesAFieldAndARemovalFreesIt) {
    World world;
    world.write(at("m1", "t1"), R"({"data":{"a":"1","b":"1","c":"1"}})");
    world.write(at("m2", "t2"), R"({"data":{"a":"2","b":"1","d":"1"}})");
    EXPECT_THAT(lines(world.entries),
                ElementsAre("Update m1 t1 .data .data.b", "Update m2 t2 .data.a .data.d"));
    world.write(at("m1", "t3"), R"({"data":{"a":"3","b":"1","d":"1"}})");
    EXPECT_THAT(lines(world.entries),
                ElementsAre("Update m2 t2 .data.d", "Update m1 t3 .data .data.a .data.b"));
    world.write(at("m3", "t4"), R"({"immutable":false})");
    EXPECT_THAT(lines(world.entries), ElementsAre("Update m3 t4 .immutable"));
}

TEST(RecordWrite, NothingChangedIsNothingRecorded) {
    World world;
    world.write(at("m1", "t1"), R"({"data":{"a":"1"}})");
    const json::array before = world.entries;
    EXPECT_FALSE(record_write(world.entries, config_map(), world.live, world.live, no_type(),
                              at("m2", "t2")));
    EXPECT_EQ(world.entries, before);
    // A removal alone gives the writer nothing to own.
    world.write(at("m2", "t2"), R"({"data":{}})");
    EXPECT_THAT(lines(world.entries), ElementsAre("Update m1 t1 .data"));
}

TEST(RecordWrite, VersionAndSubresourceTellEntriesOfOneManagerApart) {
    World world;
    world.write(at("m", "t1"), R"({"data":{"a":"1"}})");
    world.write(at("m", "t2", "v2"), R"({"data":{"a":"1","b":"1"}})");
    world.write(at("m", "t3", "v2", "status"), R"({"data":{"a":"1","b":"1","c":"1"}})");
    world.write(at("m", "t4", "v2"), R"({"data":{"a":"1","b":"2","c":"1"}})");
    EXPECT_THAT(lines(world.entries),
                ElementsAre("Update m t1 .data .data.a", "Update m/status t3 .data.c",
                            "Update m t4 .data.b"));
}

TEST(RecordWrite, OldUpdatersBecomeOne) {
    World world;
    json::object data;
    for (int i = 10; i < 22; ++i) {
        data[fmt::format("k{}", i)] = "x";
        world.write(at(fmt::format("m{}", i), fmt::format("t{}", i)),
                    json::serialize(json::object{{"data", data}}));
    }
    ASSERT_EQ(world.entries.size(), 10U);
    EXPECT_EQ(lines(world.entries).front(),
              "Update ancient-changes t12 .data .data.k10 .data.k11 .data.k12");
    EXPECT_EQ(lines(world.entries).back(), "Update m21 t21 .data.k21");
}

TEST(Apply, ToNothingMakesTheConfiguration) {
    World world;
    ASSERT_TRUE(world.apply(at("m1", "t1"), R"({"kind":"ConfigMap","data":{"a":"1"}})"));
    EXPECT_EQ(world.live, json::parse(R"({"kind":"ConfigMap","data":{"a":"1"}})"));
    EXPECT_THAT(lines(world.entries), ElementsAre("Apply m1 t1 .data.a"));
}

TEST(Apply, AgainChangesNothingNotEvenTheTime) {
    World world;
    ASSERT_TRUE(world.apply(at("m1", "t1"), R"({"data":{"a":"1"}})"));
    const World before = world;
    ASSERT_TRUE(world.apply(at("m1", "t2"), R"({"data":{"a":"1"}})"));
    EXPECT_EQ(world.live, before.live);
    EXPECT_EQ(world.entries, before.entries);
    ASSERT_TRUE(world.apply(at("m1", "t3"), R"({"data":{"a":"2"}})"));
    EXPECT_THAT(lines(world.entries), ElementsAre("Apply m1 t3 .data.a"));
}

TEST(Apply, TheSameValueIsSharedAnotherIsAConflict) {
    World world;
    ASSERT_TRUE(world.apply(at("m1", "t1"), R"({"data":{"a":"1"}})"));
    ASSERT_TRUE(world.apply(at("m2", "t2"), R"({"data":{"a":"1","b":"1"}})"));
    EXPECT_THAT(lines(world.entries),
                ElementsAre("Apply m1 t1 .data.a", "Apply m2 t2 .data.a .data.b"));
    const World before = world;
    const Result<void> refused = world.apply(at("m2", "t3"), R"({"data":{"a":"2","b":"2"}})");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kConflict);
    EXPECT_EQ(refused.error().message(),
              "Apply failed with 1 conflict: conflict with \"m1\": .data.a");
    EXPECT_THAT(refused.error().causes(),
                ElementsAre(Cause{"FieldManagerConflict", "conflict with \"m1\"", ".data.a"}));
    EXPECT_EQ(world.live, before.live);
    ASSERT_TRUE(world.apply(at("m2", "t4"), R"({"data":{"a":"2","b":"2"}})", {.force = true}));
    EXPECT_EQ(world.data(), R"({"a":"2","b":"2"})");
    EXPECT_THAT(lines(world.entries), ElementsAre("Apply m2 t4 .data.a .data.b"))
        << "who owns nothing any more is gone";
}

TEST(Apply, ConflictsAreListedByManager) {
    World world;
    world.write(at("editor", "t1"), R"({"data":{"a":"1","b":"1"}})");
    world.write(at("scaler", "t2", "v1", "scale"), R"({"data":{"a":"1","b":"1","c":"1"}})");
    const Result<void> refused =
        world.apply(at("m", "t3"), R"({"data":{"a":"2","b":"2","c":"2"}})");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(),
              "Apply failed with 3 conflicts: conflicts with \"editor\" using v1:\n"
              "- .data.a\n- .data.b\n"
              "conflicts with \"scaler\" with subresource \"scale\" using v1:\n- .data.c");
    EXPECT_EQ(refused.error().causes().size(), 3U);
}

TEST(Apply, ToleratedConflictsAreNone) {
    World world;
    world.write(at("editor", "t1"), R"({"data":{"a":"1","b":"1"}})");
    const ApplyOptions only_a{.tolerated =
                                  *FieldSet::from_json(json::parse(R"({"f:data":{"f:a":{}}})"))};
    const Result<void> refused =
        world.apply(at("m", "t2"), R"({"data":{"a":"2","b":"2"}})", only_a);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("1 conflict: conflict with \"editor\" using "
                                                     "v1: .data.b"));
    ASSERT_TRUE(world.apply(at("m", "t3"), R"({"data":{"a":"2"}})", only_a));
    EXPECT_THAT(lines(world.entries),
                ElementsAre("Apply m t3 .data.a", "Update editor t1 .data .data.b"));
}

TEST(Apply, WhatIsGivenUpGoesUnlessSomebodyElseOwnsIt) {
    World world;
    ASSERT_TRUE(world.apply(at("m1", "t1"), R"({"data":{"a":"1","b":"1","c":"1"}})"));
    ASSERT_TRUE(world.apply(at("m2", "t2"), R"({"data":{"b":"1"}})"));
    world.write(at("editor", "t3"), R"({"data":{"a":"1","b":"1","c":"2","d":"1"}})");
    ASSERT_TRUE(world.apply(at("m1", "t4"), R"({"immutable":false})"));
    EXPECT_EQ(world.data(), R"({"b":"1","c":"2","d":"1"})")
        << "b is m2's, c and d became the editor's";
    EXPECT_THAT(lines(world.entries), ElementsAre("Apply m2 .data.b", "Apply m1 t4 .immutable",
                                                  "Update editor t3 .data.c .data.d"));
    ASSERT_TRUE(world.apply(at("m2", "t5"), R"({})"));
    EXPECT_EQ(world.data(), R"({"c":"2","d":"1"})");
}

TEST(Apply, WhatWasThereBeforeBelongsToNobodyKnown) {
    World world;
    world.live = json::parse(R"({"data":{"a":"1"}})");
    const Result<void> refused = world.apply(at("m", "t1"), R"({"data":{"a":"2"}})");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(),
                HasSubstr("conflict with \"before-first-apply\" using v1: .data.a"));
    ASSERT_TRUE(world.apply(at("m", "t2"), R"({"data":{"b":"2"}})"));
    EXPECT_THAT(lines(world.entries),
                ElementsAre("Apply m t2 .data.b", "Update before-first-apply t2 .data .data.a"));
}

TEST(Apply, AManagerThatUpdatesIsAnotherThanOneThatApplies) {
    World world;
    world.write(at("kubectl", "t1"), R"({"data":{"a":"1"}})");
    EXPECT_FALSE(world.apply(at("kubectl", "t2"), R"({"data":{"a":"2"}})"));
    ASSERT_TRUE(world.apply(at("kubectl", "t2"), R"({"data":{"a":"1"}})"));
    EXPECT_THAT(lines(world.entries),
                ElementsAre("Apply kubectl .data.a", "Update kubectl t1 .data .data.a"));
    world.write(at("editor", "t3"), R"({"data":{"a":"3"}})");
    EXPECT_THAT(lines(world.entries),
                ElementsAre("Update kubectl t1 .data", "Update editor t3 .data.a"))
        << "an update takes a field from who applied it";
}

TEST(Apply, AVersionIsNoOtherApplier) {
    World world;
    ASSERT_TRUE(world.apply(at("m", "t1", "v1"), R"({"data":{"a":"1","b":"1"}})"));
    ASSERT_TRUE(world.apply(at("m", "t2", "v2"), R"({"data":{"a":"1"}})"));
    EXPECT_THAT(lines(world.entries), ElementsAre("Apply m t2 .data.a"));
    EXPECT_EQ(world.data(), R"({"a":"1"})");
}

/// Lists with keys: what one manager removes of an item that another owns in part.
TEST(Apply, AnItemStaysWithWhoOwnsAPartOfIt) {
    const Schema::Ptr pod = core_schema("PodSpec");
    json::value live = json::object();
    json::array entries;
    const auto apply = [&](const char* who, const char* configuration) {
        const Result<void> applied = apply_fields(entries, pod.get(), live,
                                                  json::parse(configuration), {}, at(who, "t"), {});
        ASSERT_TRUE(applied) << applied.error().message();
    };
    apply("m1", R"({"containers":[{"name":"a","image":"i","workingDir":"/w"},
                                  {"name":"b","image":"i"}]})");
    apply("m2", R"({"containers":[{"name":"a","env":[{"name":"E","value":"1"}]}]})");
    apply("m1", R"({"containers":[{"name":"c","image":"i"}]})");
    EXPECT_EQ(live, json::parse(R"({"containers":[
        {"name":"a","env":[{"name":"E","value":"1"}]},{"name":"c","image":"i"}]})"))
        << json::serialize(live);
    apply("m2", "{}");
    EXPECT_EQ(live, json::parse(R"({"containers":[{"name":"c","image":"i"}]})"));
    EXPECT_THAT(lines(entries),
                ElementsAre("Apply m1 t .containers[name=\"c\"] .containers[name=\"c\"].image "
                            ".containers[name=\"c\"].name"));
}

TEST(Apply, AnItemGivenUpGoesWithWhatOthersChangedInIt) {
    World world;
    world.schema = core_schema("PodSpec").get();
    ASSERT_TRUE(world.apply(at("m1", "t1"), R"({"containers":[{"name":"a","image":"1"}]})"));
    world.write(at("editor", "t2"), R"({"containers":[{"name":"a","image":"2"}]})");
    ASSERT_TRUE(world.apply(at("m1", "t3"), R"({"hostname":"h"})"));
    EXPECT_EQ(world.live, json::parse(R"({"containers":null,"hostname":"h"})"));
    EXPECT_THAT(lines(world.entries), ElementsAre("Apply m1 t3 .hostname"));
}

TEST(Apply, MetadataStaysWhenItsLastFieldIsGivenUp) {
    for (const char* first :
         {R"({"metadata":{"labels":{"a":"1"}}})", R"({"metadata":{"finalizers":["x.y/z"]}})"}) {
        World world;
        world.live = json::parse(R"({"metadata":{"name":"n"}})");
        ASSERT_TRUE(world.apply(at("m1", "t1"), first));
        ASSERT_TRUE(world.apply(at("m1", "t2"), R"({"data":{"a":"1"}})"));
        EXPECT_EQ(world.live, json::parse(R"({"metadata":{"name":"n"},"data":{"a":"1"}})"))
            << json::serialize(world.live);
    }
}

TEST(Apply, AMapThatIsAppliedEmptyIsNullWhenNothingIsLeftOfIt) {
    World world;
    ASSERT_TRUE(world.apply(at("m1", "t1"), R"({"data":{"a":"1"}})"));
    ASSERT_TRUE(world.apply(at("m1", "t2"), R"({"data":{}})"));
    EXPECT_EQ(world.live, json::parse(R"({"data":null})")) << json::serialize(world.live);
}

TEST(ReadManagedFields, MakesWhatClientsSendCanonical) {
    const Result<json::array> read = read_managed_fields(json::parse(R"([
        {"manager":"u","operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05+01:00",
         "fieldsType":"FieldsV1","fieldsV1":{"f:b":{},"f:a":{".":{}}},"extra":1},
        {"manager":"e","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1"},
        {"manager":"s","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1",
         "fieldsV1":{"f:x":{}},"subresource":"status"}])")
                                                             .as_array());
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(json::serialize(*read),
              R"([{"manager":"s","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1",)"
              R"("fieldsV1":{"f:x":{}},"subresource":"status"},)"
              R"({"manager":"u","operation":"Update","apiVersion":"v1",)"
              R"("time":"2026-01-02T02:04:05Z","fieldsType":"FieldsV1",)"
              R"("fieldsV1":{"f:a":{},"f:b":{}}}])");
    EXPECT_EQ(*read_managed_fields(*read), *read);
}

TEST(ReadManagedFields, RefusesWhatIsNone) {
    const auto entry = [](std::string_view changed) {
        json::object fields{{"manager", "m"},
                            {"operation", "Apply"},
                            {"apiVersion", "v1"},
                            {"fieldsType", "FieldsV1"},
                            {"fieldsV1", {{"f:a", json::object()}}}};
        for (const auto& [key, value] : json::parse(changed).as_object()) fields[key] = value;
        return json::array{std::move(fields)};
    };
    EXPECT_TRUE(read_managed_fields(entry("{}")));
    for (const char* wrong :
         {R"({"operation":"Delete"})", R"({"operation":null})", R"({"apiVersion":""})",
          R"({"fieldsType":"FieldsV2"})", R"({"fieldsV1":{"a":{}}})", R"({"time":"noon"})"}) {
        const Result<json::array> read = read_managed_fields(entry(wrong));
        ASSERT_FALSE(read) << wrong;
        EXPECT_EQ(read.error().code(), Code::kBadRequest);
    }
    EXPECT_FALSE(read_managed_fields(json::array{1}));
}

TEST(ReadManagedFields, KnowsAReset) {
    EXPECT_TRUE(resets_managed_fields({}));
    EXPECT_TRUE(resets_managed_fields(json::array{json::object()}));
    EXPECT_FALSE(resets_managed_fields(json::array{json::object(), json::object()}));
    EXPECT_FALSE(resets_managed_fields(json::array{json::object{{"manager", ""}}}));
}

// --- laws, under seeds ---

json::array random_items(Rng& rng, std::string_view key, std::initializer_list<json::value> keys,
                         std::initializer_list<std::string_view> fields) {
    json::array items;
    for (const json::value& name : keys) {
        if (rng.chance(0.5)) continue;
        json::object item{{key, name}};
        for (std::string_view field : fields)
            if (rng.chance(0.5)) item[field] = std::to_string(rng.below(2));
        // Now in front, now behind: orders differ.
        items.insert(rng.chance(0.5) ? items.begin() : items.end(), json::value(std::move(item)));
    }
    return items;
}

json::value random_config_map(Rng& rng) {
    json::object data;
    for (const char* key : {"a", "b", "c"})
        if (rng.chance(0.5)) data[key] = std::to_string(rng.below(2));
    json::object object;
    if (!data.empty() || rng.chance(0.2)) object["data"] = std::move(data);
    if (rng.chance(0.3)) {
        json::array finalizers;
        for (const char* name : {"x/a", "x/b"})
            if (rng.chance(0.5)) finalizers.emplace_back(name);
        object["metadata"] = json::object{{"finalizers", std::move(finalizers)}};
    }
    if (rng.chance(0.3)) object["immutable"] = rng.chance(0.5);
    return object;
}

json::value random_pod_spec(Rng& rng) {
    json::array containers = random_items(rng, "name", {"a", "b", "c"}, {"image", "workingDir"});
    for (json::value& container : containers) {
        if (rng.chance(0.4))
            container.as_object()["env"] = random_items(rng, "name", {"E", "F"}, {"value"});
        if (rng.chance(0.3))
            container.as_object()["ports"] =
                random_items(rng, "containerPort", {1, 2}, {"name", "hostIP"});
    }
    json::object spec;
    if (!containers.empty() || rng.chance(0.2)) spec["containers"] = std::move(containers);
    if (rng.chance(0.3)) spec["tolerations"] = json::array{{{"key", std::to_string(rng.below(2))}}};
    if (rng.chance(0.3)) spec["nodeSelector"] = {{"k", std::to_string(rng.below(2))}};
    if (rng.chance(0.3)) spec["hostname"] = std::to_string(rng.below(2));
    return spec;
}

bool is_empty(const json::value& value) {
    return (value.is_object() && value.get_object().empty()) ||
           (value.is_array() && value.get_array().empty());
}

/// Without empty lists and maps, for which the laws do not hold, in upstream neither: who applies
/// one a second time may change the object again.
json::value without_empty(const json::value& value) {
    if (const json::array* array = value.if_array()) {
        json::array kept;
        for (const json::value& item : *array) kept.push_back(without_empty(item));
        return kept;
    }
    const json::object* object = value.if_object();
    if (object == nullptr) return value;
    json::object kept;
    for (const auto& field : *object)
        if (json::value inner = without_empty(field.value()); !is_empty(inner))
            kept.emplace(field.key(), std::move(inner));
    return kept;
}

FieldSet set_of_applier(const json::array& entries, const std::string& name) {
    for (const json::value& entry : entries)
        if (entry.at("manager") == json::value(name) && entry.at("operation") == "Apply")
            return *FieldSet::from_json(entry.at("fieldsV1"));
    return {};
}

/// A member of the set is the path, leads to it, or lies below it.
bool lies_on_a_path_of(const FieldSet& set, const FieldPathElements& path) {
    const FieldSet* below = &set;
    for (const PathElement& element : path) {
        const FieldSet::Node* node = below->find(element);
        if (node == nullptr) return false;
        if (node->member) return true;
        below = &node->below;
    }
    return true;
}

struct Kind {
    const char* name;
    json::value (*make)(Rng& rng);
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class ApplyLaws : public testing::TestWithParam<Kind> {};

TEST_P(ApplyLaws, HoldForManyManagersAndWriters) {
    for (const std::uint64_t seed : seeds_of_this_run(300, 5)) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        World world;
        world.schema = core_schema(GetParam().name).get();
        for (int step = 0; step < 12 && !HasFailure(); ++step) {
            const std::string name = fmt::format("m{}", rng.below(3));
            const json::value configuration = without_empty(GetParam().make(rng));
            const std::string text = json::serialize(configuration);
            SCOPED_TRACE(name + " " + text + " to " + json::serialize(world.live));
            const FieldOwner who = at(name, fmt::format("t{:02}", step));
            if (rng.chance(0.3)) {
                world.write(who, text);
                continue;
            }
            const World before = world;
            if (!world.apply(who, text)) {
                EXPECT_EQ(world.live, before.live);
                ASSERT_TRUE(world.apply(who, text, {.force = true}));
            }
            // What was applied is there.
            json::value merged = world.live;
            merge_fields(world.schema, merged, configuration);
            EXPECT_EQ(merged, world.live);
            // And again it is not a change.
            const World once = world;
            ASSERT_TRUE(world.apply(at(name, "later"), text));
            EXPECT_EQ(world.live, once.live);
            EXPECT_EQ(world.entries, once.entries);
            // A missing field has no owner.
            const FieldSet there =
                with_named_fields(world.schema, field_set_of(world.schema, world.live));
            for (const json::value& entry : world.entries)
                EXPECT_TRUE(includes(there, *FieldSet::from_json(entry.at("fieldsV1"))))
                    << json::serialize(entry) << " of " << json::serialize(world.live);
            // What others lose goes with an item that the manager gave up, or is a container that
            // became empty.
            const FieldSet gone = compare_fields(world.schema, before.live, world.live).removed;
            const FieldSet last = set_of_applier(before.entries, name);
            for (const json::value& entry : before.entries)
                for (const FieldPathElements& path :
                     intersection_of(gone, *FieldSet::from_json(entry.at("fieldsV1"))).members())
                    EXPECT_TRUE(lies_on_a_path_of(last, path))
                        << describe(path) << " of " << json::serialize(entry);
        }
    }
}

TEST_P(ApplyLaws, ACreatorOwnsWhatAWriteToNothingAdds) {
    const json::value nothing = json::object{{"metadata", json::object()}};
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        Rng rng(seed);
        const json::value object = GetParam().make(rng);
        SCOPED_TRACE(json::serialize(object));
        const Schema* schema = rng.chance(0.9) ? core_schema(GetParam().name).get() : nullptr;
        json::array entries;
        record_write(entries, schema, nothing, object, no_type(), at("m", "t"));
        EXPECT_EQ(json::serialize(record_creation(schema, object, no_type(), at("m", "t"))),
                  json::serialize(entries));
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ApplyLaws,
                         testing::Values(Kind{"ConfigMap", random_config_map},
                                         Kind{"PodSpec", random_pod_spec}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace muster::kube::managed_fields_test
