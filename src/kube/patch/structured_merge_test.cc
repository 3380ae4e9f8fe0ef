#include "kube/patch/structured_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <ostream>

#include "base/rng.h"
#include "kube/schema/schema.h"

namespace muster::kube::structured_merge_test {
namespace {

using testing::HasSubstr;

/// Every way in which a field can be taken apart.
const Schema* sample() {
    static const Schema::Ptr schema = [] {
        const json::value openapi = json::parse(R"({"type":"object","properties":{
            "number":{"type":"integer"},
            "text":{"type":"string"},
            "struct":{"type":"object","properties":{
                "a":{"type":"integer"},"b":{"type":"integer"},
                "inner":{"type":"object","properties":{"x":{"type":"integer"}}}}},
            "map":{"type":"object","additionalProperties":{"type":"integer"}},
            "maps":{"type":"object","additionalProperties":{
                "type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}},
            "atomicMap":{"type":"object","x-kubernetes-map-type":"atomic",
                         "additionalProperties":{"type":"integer"}},
            "atomicList":{"type":"array","items":{"type":"integer"}},
            "set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
            "list":{"type":"array","x-kubernetes-list-type":"map",
                    "x-kubernetes-list-map-keys":["name"],
                    "items":{"type":"object","required":["name"],"properties":{
                        "name":{"type":"string"},"v":{"type":"integer"},"w":{"type":"integer"}}}},
            "ports":{"type":"array","x-kubernetes-list-type":"map",
                     "x-kubernetes-list-map-keys":["port","protocol"],
                     "items":{"type":"object","required":["port"],"properties":{
                         "port":{"type":"integer"},"v":{"type":"integer"},
                         "protocol":{"type":"string","default":"TCP"}}}},
            "open":{"type":"object","x-kubernetes-preserve-unknown-fields":true,
                    "properties":{"known":{"type":"integer"}}},
            "any":{"x-kubernetes-preserve-unknown-fields":true}}})");
        auto [read, causes] = Schema::from_openapi(openapi, "");
        for (const Cause& cause : causes) ADD_FAILURE() << cause.field << ": " << cause.message;
        return read;
    }();
    return schema.get();
}

std::string text(const FieldSet& set) {
    std::string text;
    for (const FieldPathElements& path : set.members())
        text += (text.empty() ? "" : " ") + describe(path);
    return text;
}

FieldSet set_from(std::string_view fields_v1) {
    Result<FieldSet> set = FieldSet::from_json(json::parse(fields_v1));
    EXPECT_TRUE(set) << set.error().message();
    return set ? *std::move(set) : FieldSet();
}

struct Compared {
    const char* before;
    const char* after;
    const char* added;
    const char* modified;
    const char* removed;
};

TEST(CompareFields, TellsWhatWasAddedModifiedAndRemoved) {
    for (const Compared& row : {
             Compared{"{}", "{}", "", "", ""},
             Compared{R"({"number":1})", R"({"number":1})", "", "", ""},
             Compared{R"({"number":1})", R"({"number":2})", "", ".number", ""},
             Compared{R"({"number":1})", R"({"text":"x"})", ".text", "", ".number"},
             // What is new counts with everything in it.
             Compared{"{}", R"({"struct":{"a":1,"inner":{"x":1}}})",
                      ".struct .struct.a .struct.inner .struct.inner.x", "", ""},
             Compared{R"({"struct":{"a":1,"inner":{"x":1}}})", R"({"struct":{"a":1}})", "", "",
                      ".struct.inner .struct.inner.x"},
             Compared{R"({"map":{"a":1}})", R"({"map":{"a":2,"b":1}})", ".map.b", ".map.a", ""},
             Compared{R"({"map":{}})", R"({"map":{"a":1}})", ".map.a", "", ""},
             Compared{R"({"map":null})", R"({"map":{"a":1}})", ".map.a", "", ""},
             Compared{R"({"number":null})", R"({"number":1})", "", ".number", ""},
             // A leaf is a leaf as a whole.
             Compared{R"({"atomicMap":{"a":1}})", R"({"atomicMap":{"a":1,"b":1}})", "",
                      ".atomicMap", ""},
             Compared{"{}", R"({"atomicMap":{"a":1}})", ".atomicMap", "", ""},
             Compared{R"({"atomicList":[1,2]})", R"({"atomicList":[2,1]})", "", ".atomicList", ""},
             // Items are identified by their content, not by their position.
             Compared{R"({"set":["a","b"]})", R"({"set":["b","c","a"]})", R"(.set[="c"])", "", ""},
             Compared{R"({"set":["a","b"]})", R"({"set":["b"]})", "", "", R"(.set[="a"])"},
             Compared{R"({"list":[{"name":"a","v":1},{"name":"b"}]})",
                      R"({"list":[{"name":"b","v":2},{"name":"a","v":3}]})", R"(.list[name="b"].v)",
                      R"(.list[name="a"].v)", ""},
             Compared{R"({"list":[]})", R"({"list":[{"name":"a"}]})",
                      R"(.list[name="a"] .list[name="a"].name)", "", ""},
             Compared{R"({"ports":[{"port":80}]})", R"({"ports":[{"port":80,"protocol":"TCP"}]})",
                      R"(.ports[port=80,protocol="TCP"].protocol)", "", ""},
             Compared{R"({"ports":[{"port":80}]})", R"({"ports":[{"port":80,"protocol":"UDP"}]})",
                      R"(.ports[port=80,protocol="UDP"] .ports[port=80,protocol="UDP"].port)"
                      R"( .ports[port=80,protocol="UDP"].protocol)",
                      "", R"(.ports[port=80,protocol="TCP"] .ports[port=80,protocol="TCP"].port)"},
             // Equal items are one leaf.
             Compared{R"({"list":[{"name":"a","v":1},{"name":"a","v":2}]})",
                      R"({"list":[{"name":"a","v":1},{"name":"a","v":2}]})", "", "", ""},
             Compared{R"({"list":[{"name":"a","v":1},{"name":"a","v":2}]})",
                      R"({"list":[{"name":"a","v":2},{"name":"a","v":1}]})", "",
                      R"(.list[name="a"])", ""},
             Compared{R"({"set":["a"]})", R"({"set":["a","a"]})", R"(.set[="a"])", "",
                      R"(.set[="a"])"},
             Compared{R"({"set":["a","a"]})", R"({"set":["a"]})", R"(.set[="a"])", "",
                      R"(.set[="a"])"},
             // A list with an item that nothing identifies.
             Compared{R"({"list":[{"v":1}]})", R"({"list":[{"v":2}]})", "", ".list", ""},
             Compared{R"({"set":["a"]})", R"({"set":[["a"]]})", "", ".set", ""},
             Compared{R"({"set":[1.5]})", R"({"set":[2.5]})", "", ".set", ""},
             // Without a schema.
             Compared{R"({"any":{"a":[1],"b":{"c":1}}})", R"({"any":{"a":[2],"b":{"c":1,"d":1}}})",
                      ".any.b.d", ".any.a", ""},
             Compared{R"({"open":{"x":{"y":1}}})", R"({"open":{"x":{"y":2},"known":1}})",
                      ".open.known", ".open.x.y", ""},
             Compared{R"({"any":{"a":1}})", R"({"any":[1]})", "", ".any", ".any.a"},
             Compared{R"({"any":1})", R"({"any":{"a":1}})", ".any.a", ".any", ""},
         }) {
        SCOPED_TRACE(std::string(row.before) + " to " + row.after);
        const FieldChanges changes =
            compare_fields(sample(), json::parse(row.before), json::parse(row.after));
        EXPECT_EQ(text(changes.added), row.added);
        EXPECT_EQ(text(changes.modified), row.modified);
        EXPECT_EQ(text(changes.removed), row.removed);
        EXPECT_EQ(changes.empty(), !*row.added && !*row.modified && !*row.removed);
    }
}

TEST(CompareFields, LooksNotAtWhatIsIgnored) {
    const FieldSet ignored = set_from(R"({"f:struct":{"f:inner":{}},"f:number":{}})");
    const FieldChanges changes =
        compare_fields(sample(), json::parse(R"({"number":1,"struct":{"a":1,"inner":{"x":1}}})"),
                       json::parse(R"({"number":2,"struct":{"a":2}})"), ignored);
    EXPECT_EQ(text(changes.modified), ".struct.a");
    EXPECT_TRUE(changes.added.empty() && changes.removed.empty());
}

TEST(FieldSetOf, HasLeavesItemsAndKeys) {
    struct Row {
        const char* configuration;
        const char* members;
    };
    for (const Row& row : {
             Row{"{}", ""},
             Row{R"({"number":1,"text":null})", ".number .text"},
             Row{R"({"struct":{"a":1,"inner":{"x":1}}})", ".struct.a .struct.inner.x"},
             Row{R"({"struct":{}})", ".struct"},
             Row{R"({"map":{"a":1}})", ".map.a"},
             Row{R"({"maps":{"k":{"a":1}}})", ".maps.k .maps.k.a"},
             Row{R"({"atomicMap":{"a":1},"atomicList":[1]})", ".atomicList .atomicMap"},
             Row{R"({"set":["b","a"]})", R"(.set[="a"] .set[="b"])"},
             Row{R"({"list":[{"name":"a","v":1}]})",
                 R"(.list[name="a"] .list[name="a"].name .list[name="a"].v)"},
             Row{R"({"list":[],"set":[]})", ""},
             Row{R"({"any":{"a":[1],"b":{"c":1}}})", ".any.a .any.b .any.b.c"},
         })
        EXPECT_EQ(text(field_set_of(sample(), json::parse(row.configuration))), row.members)
            << row.configuration;
}

struct Merged {
    const char* what;
    const char* live;
    const char* configuration;
    const char* result;
};

void PrintTo(const Merged& row, std::ostream* out) { *out << row.what; }

class MergeFields : public testing::TestWithParam<Merged> {};

TEST_P(MergeFields, Gives) {
    const Merged& row = GetParam();
    const json::value configuration = json::parse(row.configuration);
    ASSERT_TRUE(check_mergeable(sample(), configuration));
    json::value live = json::parse(row.live);
    merge_fields(sample(), live, configuration);
    EXPECT_EQ(live, json::parse(row.result)) << json::serialize(live);
    const json::value once = live;
    merge_fields(sample(), live, configuration);
    EXPECT_EQ(live, once) << "again it changes nothing";
}

INSTANTIATE_TEST_SUITE_P(
    Objects, MergeFields,
    testing::Values(
        Merged{"nothing into something", R"({"number":1})", "{}", R"({"number":1})"},
        Merged{"something into nothing", "{}", R"({"struct":{"a":1}})", R"({"struct":{"a":1}})"},
        Merged{"a leaf is replaced", R"({"number":1})", R"({"number":2})", R"({"number":2})"},
        Merged{"objects merge deep", R"({"struct":{"a":1,"inner":{"x":1}}})",
               R"({"struct":{"b":2,"inner":{"x":2}}})",
               R"({"struct":{"a":1,"b":2,"inner":{"x":2}}})"},
        Merged{"maps merge", R"({"map":{"a":1}})", R"({"map":{"b":2}})",
               R"({"map":{"a":1,"b":2}})"},
        Merged{"an empty map takes nothing away", R"({"map":{"a":1}})", R"({"map":{}})",
               R"({"map":{"a":1}})"},
        Merged{"null beside a map is an empty map", R"({"map":{"a":1}})", R"({"map":null})",
               R"({"map":{"a":1}})"},
        Merged{"null replaces a scalar", R"({"number":1})", R"({"number":null})",
               R"({"number":null})"},
        Merged{"an atomic map is replaced", R"({"atomicMap":{"a":1}})", R"({"atomicMap":{"b":2}})",
               R"({"atomicMap":{"b":2}})"},
        Merged{"an atomic list is replaced", R"({"atomicList":[1,2]})", R"({"atomicList":[3]})",
               R"({"atomicList":[3]})"},
        Merged{"without a schema objects merge and lists are replaced",
               R"({"any":{"a":[1],"b":{"c":1}}})", R"({"any":{"a":[2],"b":{"d":1}}})",
               R"({"any":{"a":[2],"b":{"c":1,"d":1}}})"},
        Merged{"another type replaces", R"({"any":{"a":1}})", R"({"any":[1]})", R"({"any":[1]})"}));

INSTANTIATE_TEST_SUITE_P(
    Lists, MergeFields,
    testing::Values(
        Merged{"items merge by their key", R"({"list":[{"name":"a","v":1},{"name":"b","v":1}]})",
               R"({"list":[{"name":"b","w":2}]})",
               R"({"list":[{"name":"a","v":1},{"name":"b","v":1,"w":2}]})"},
        Merged{"a key left out has its default", R"({"ports":[{"port":80,"protocol":"TCP"}]})",
               R"({"ports":[{"port":80,"v":1}]})",
               R"({"ports":[{"port":80,"protocol":"TCP","v":1}]})"},
        Merged{"a list into an empty one", R"({"set":[]})", R"({"set":["b","a"]})",
               R"({"set":["b","a"]})"},
        Merged{"new items come last", R"({"set":["a","b"]})", R"({"set":["c"]})",
               R"({"set":["a","b","c"]})"},
        Merged{"new items come before the next that both have", R"({"set":["a","b","c"]})",
               R"({"set":["x","b"]})", R"({"set":["a","x","b","c"]})"},
        Merged{"new items come behind the one before them", R"({"set":["a","b","c"]})",
               R"({"set":["b","x"]})", R"({"set":["a","b","c","x"]})"},
        Merged{"the order of the configuration wins", R"({"set":["a","b"]})",
               R"({"set":["b","a"]})", R"({"set":["b","a"]})"},
        Merged{"what only the live list has keeps its place", R"({"set":["1","a","2","b","3"]})",
               R"({"set":["a","b"]})", R"({"set":["1","a","2","b","3"]})"},
        Merged{"between items that change places", R"({"set":["1","a","2","b","3"]})",
               R"({"set":["b","a"]})", R"({"set":["1","2","b","3","a"]})"},
        Merged{"equal items become the one that is applied",
               R"({"list":[{"name":"a","v":1},{"name":"a","v":2},{"name":"b"}]})",
               R"({"list":[{"name":"a","w":3}]})", R"({"list":[{"name":"a","w":3},{"name":"b"}]})"},
        Merged{"equal items that are not applied stay", R"({"set":["a","a","b"]})",
               R"({"set":["b"]})", R"({"set":["a","a","b"]})"},
        Merged{"a live list that can't be taken apart is replaced", R"({"list":[{"v":1}]})",
               R"({"list":[{"name":"a"}]})", R"({"list":[{"name":"a"}]})"}));

json::value random_sample(Rng& rng) {
    const auto number = [&] { return json::value(static_cast<std::int64_t>(rng.below(2))); };
    json::object value;
    if (rng.chance(0.5)) value["number"] = number();
    if (rng.chance(0.4)) {
        json::object map;
        for (const char* key : {"a", "b"})
            if (rng.chance(0.6)) map[key] = number();
        for (const char* field : {"map", "atomicMap", "struct"})
            if (rng.chance(0.6)) value[field] = map;
    }
    if (rng.chance(0.5)) {
        json::array set;
        for (const char* item : {"a", "b", "c", "a"})
            if (rng.chance(0.4))
                set.insert(rng.chance(0.5) ? set.begin() : set.end(), json::value(item));
        value["set"] = std::move(set);
    }
    if (rng.chance(0.6)) {
        json::array list;
        for (const char* name : {"a", "b", "c", "a"})
            if (rng.chance(0.4)) list.push_back(json::object{{"name", name}, {"v", number()}});
        value["list"] = std::move(list);
    }
    if (rng.chance(0.3)) value["any"] = rng.chance(0.5) ? number() : json::object{{"x", number()}};
    return value;
}

TEST(CompareFields, KeepsItsLaws) {
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        Rng rng(seed);
        const json::value a = random_sample(rng);
        const json::value b = random_sample(rng);
        SCOPED_TRACE(json::serialize(a) + " and " + json::serialize(b));
        const FieldChanges there = compare_fields(sample(), a, b);
        const FieldChanges back = compare_fields(sample(), b, a);
        EXPECT_EQ(there.added, back.removed);
        EXPECT_EQ(there.modified, back.modified);
        EXPECT_TRUE(compare_fields(sample(), a, a).empty());
        EXPECT_TRUE(intersection_of(there.added, there.modified).empty());
        // With everything taken away that is new, only modifications and removals are left.
        json::value without = b;
        remove_fields(sample(), without, there.added);
        const FieldChanges rest = compare_fields(sample(), a, without);
        EXPECT_TRUE(intersection_of(rest.added, there.added).empty()) << text(rest.added);
        if (!check_mergeable(sample(), b)) continue;
        json::value merged = a;
        merge_fields(sample(), merged, b);
        const FieldChanges done = compare_fields(sample(), merged, b);
        EXPECT_TRUE(done.added.empty() && done.modified.empty())
            << "all of b is in " << json::serialize(merged);
        EXPECT_TRUE(includes(there.removed, done.removed)) << "nothing comes from elsewhere";
        json::value nothing = b;
        remove_fields(sample(), nothing, field_set_of(sample(), b));
        // Containers of which nothing is left are null; no one owns an empty list.
        if (const json::object* left = nothing.if_object())
            for (const auto& field : *left)
                EXPECT_TRUE(field.value().is_null() || field.value() == json::array())
                    << json::serialize(field.value());
    }
}

TEST(NewFieldsOf, AreWhatIsAddedToNothing) {
    const json::value nothing = json::object{{"metadata", json::object()}};
    FieldSet ignored;
    ignored.insert({PathElement::field("number")});
    ignored.insert({PathElement::field("metadata"), PathElement::field("a")});
    ignored.insert({PathElement::field("struct"), PathElement::field("a")});
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        Rng rng(seed);
        json::value object = random_sample(rng);
        if (rng.chance(0.8)) object.get_object()["metadata"] = random_sample(rng);
        SCOPED_TRACE(json::serialize(object));
        EXPECT_EQ(
            json::serialize(new_fields_of(sample(), object, ignored)),
            json::serialize(compare_fields(sample(), nothing, object, ignored).added.to_json()));
    }
}

TEST(CheckMergeable, RefusesWhatCannotBeMerged) {
    struct Row {
        const char* configuration;
        const char* message;
    };
    for (const Row& row : {
             Row{R"({"bogus":1})", ".bogus: field not declared in schema"},
             Row{R"({"struct":{"inner":{"y":1}}})",
                 ".struct.inner.y: field not declared in schema"},
             Row{R"({"list":[{"name":"a","y":1}]})",
                 R"(.list[name="a"].y: field not declared in schema)"},
             Row{R"({"set":["a","a"]})", R"(.set: duplicate entries for key [="a"])"},
             Row{R"({"ports":[{"port":1},{"port":1,"protocol":"TCP"}]})",
                 R"(.ports: duplicate entries for key [port=1,protocol="TCP"])"},
             Row{R"({"list":[{"v":1}]})",
                 ".list: a list with keys has an item that they don't identify"},
             Row{R"({"list":["a"]})", ".list: a list with keys has an item that is not an object"},
             Row{R"({"set":[null]})",
                 ".set: a set has an item that is not a string, boolean or whole number"},
             Row{R"({"set":[{}]})",
                 ".set: a set has an item that is not a string, boolean or whole number"},
         }) {
        const Result<void> checked = check_mergeable(sample(), json::parse(row.configuration));
        ASSERT_FALSE(checked) << row.configuration;
        EXPECT_EQ(checked.error().message(), row.message);
        EXPECT_EQ(checked.error().code(), Code::kInternal);
    }
    EXPECT_TRUE(check_mergeable(sample(), json::parse(R"({"open":{"x":1},"any":{"y":[1,1]}})")));
}

TEST(RemoveFields, RemovesMembersAndLeavesNullOfWhatIsEmptied) {
    struct Row {
        const char* value;
        const char* fields;
        const char* result;
    };
    for (const Row& row : {
             Row{R"({"number":1,"text":"x"})", R"({"f:number":{},"f:absent":{}})",
                 R"({"text":"x"})"},
             Row{R"({"struct":{"a":1,"b":2}})", R"({"f:struct":{"f:a":{}}})",
                 R"({"struct":{"b":2}})"},
             Row{R"({"struct":{"inner":{"x":1}},"number":1})",
                 R"({"f:struct":{"f:inner":{"f:x":{}}}})",
                 R"({"struct":{"inner":null},"number":1})"},
             Row{R"({"struct":{}})", R"({"f:struct":{"f:a":{}}})", R"({"struct":{}})"},
             Row{R"({"set":["a","b","c"]})", R"({"f:set":{"v:\"b\"":{}}})", R"({"set":["a","c"]})"},
             Row{R"({"set":["a"]})", R"({"f:set":{"v:\"a\"":{}}})", R"({"set":null})"},
             Row{R"({"list":[{"name":"a","v":1},{"name":"b","v":1}]})",
                 R"({"f:list":{"k:{\"name\":\"a\"}":{},"k:{\"name\":\"b\"}":{"f:v":{}}}})",
                 R"({"list":[{"name":"b"}]})"},
             Row{R"({"atomicMap":{"a":1}})", R"({"f:atomicMap":{"f:a":{}}})",
                 R"({"atomicMap":{"a":1}})"},
         }) {
        json::value value = json::parse(row.value);
        remove_fields(sample(), value, set_from(row.fields));
        EXPECT_EQ(value, json::parse(row.result)) << row.value << " without " << row.fields;
    }
}

TEST(WithNamedFields, AddsTheFieldsOnTheWay) {
    const FieldSet set = set_from(
        R"({"f:struct":{"f:inner":{"f:x":{}}},"f:map":{"f:a":{}},"f:any":{"f:b":{"f:c":{}}},
            "f:list":{"k:{\"name\":\"a\"}":{"f:v":{}}}})");
    EXPECT_EQ(text(with_named_fields(sample(), set)),
              ".any .any.b.c .list .list[name=\"a\"].v .map .map.a .struct .struct.inner "
              ".struct.inner.x");
}

TEST(StructuredMerge, KnowsWhatIsAtomicInTheBuiltInKinds) {
    struct Row {
        const char* kind;
        const char* configuration;
        const char* members;
    };
    for (const Row& row : {
             Row{"Service", R"({"spec":{"selector":{"a":"b"},"ports":[{"port":80}]}})",
                 R"(.spec.ports[port=80,protocol="TCP"] .spec.ports[port=80,protocol="TCP"].port)"
                 " .spec.selector"},
             Row{"PodSpec", R"({"nodeSelector":{"a":"b"},"tolerations":[{"key":"x"}]})",
                 ".nodeSelector .tolerations"},
             Row{"Container",
                 R"({"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"x"}}}],
                     "ports":[{"containerPort":1}]})",
                 R"(.env[name="A"] .env[name="A"].name .env[name="A"].valueFrom.fieldRef)"
                 R"( .ports[containerPort=1,protocol="TCP"])"
                 R"( .ports[containerPort=1,protocol="TCP"].containerPort)"},
             Row{"ObjectMeta",
                 R"({"finalizers":["x/y"],"ownerReferences":[{"uid":"u","name":"n"}]})",
                 R"(.finalizers[="x/y"] .ownerReferences[uid="u"])"},
             Row{"PodAffinityTerm", R"({"labelSelector":{"matchLabels":{"a":"b"}}})",
                 ".labelSelector"},
         })
        EXPECT_EQ(text(field_set_of(core_schema(row.kind).get(), json::parse(row.configuration))),
                  row.members);
}

}  // namespace
}  // namespace muster::kube::structured_merge_test
