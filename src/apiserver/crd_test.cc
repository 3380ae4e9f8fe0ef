#include "apiserver/internal/types/crd.h"

#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "apiserver/server_fixture.h"

namespace muster::apiserver::crd_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kThings = "/apis/ex.org/v1/namespaces/default/things";
constexpr const char* kThing = "/apis/ex.org/v1/namespaces/default/things/t";

constexpr const char* kSchema = R"({"type":"object","properties":{
    "spec":{"type":"object","required":["size"],"properties":{
        "size":{"type":"integer","minimum":0},
        "color":{"type":"string","enum":["red","blue"],"default":"red"},
        "replicas":{"type":"integer"},
        "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
    "status":{"type":"object","properties":{
        "replicas":{"type":"integer"},"selector":{"type":"string"},"phase":{"type":"string"}}}}})";

std::string definition(std::string_view more_versions = "", std::string_view schema = kSchema) {
    return fmt::format(
        R"({{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
        "metadata":{{"name":"things.ex.org"}},"spec":{{"group":"ex.org","scope":"Namespaced",
        "names":{{"plural":"things","kind":"Thing"}},"versions":[
        {{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{}}},
          "subresources":{{"status":{{}},"scale":{{"specReplicasPath":".spec.replicas",
             "statusReplicasPath":".status.replicas","labelSelectorPath":".status.selector"}}}}}}
        {}]}}}})",
        schema, more_versions);
}

std::string thing(std::string_view name, std::string_view spec, std::string_view more = "") {
    return fmt::format(
        R"({{"apiVersion":"ex.org/v1","kind":"Thing","metadata":{{"name":"{}"}},"spec":{}{}}})",
        name, spec, more);
}

class CrdTest : public ServerFixture {
  protected:
    void define() {
        const kube::Response made = post(kCrds, definition());
        ASSERT_EQ(made.status, 201) << text(made);
    }
};

TEST_F(CrdTest, DefaultsMakeNoObjectLargerThanABodyMayBe) {
    const std::string schema = fmt::format(
        R"({{"type":"object","properties":{{"list":{{"type":"array","items":{{"type":"object",
        "properties":{{"a":{{"type":"string","default":"{}"}}}}}}}}}}}})",
        std::string(1000, 'x'));
    ASSERT_EQ(post(kCrds, definition("", schema)).status, 201);
    const auto with_items = [](std::size_t count) {
        return fmt::format(
            R"({{"apiVersion":"ex.org/v1","kind":"Thing","metadata":{{"name":"t"}},"list":[{}]}})",
            fmt::join(std::vector<std::string>(count, "{}"), ","));
    };
    EXPECT_EQ(post(kThings, with_items(100'000)).status, 413);
    EXPECT_EQ(post(kThings, with_items(2000)).status, 201);
    const kube::Response grown = merge_patch(
        kThing,
        fmt::format(R"({{"list":[{}]}})", fmt::join(std::vector<std::string>(4000, "{}"), ",")));
    EXPECT_EQ(grown.status, 413);
    EXPECT_EQ(string_at_path(grown, "reason"), "RequestEntityTooLarge");
    EXPECT_EQ(get(kThing).body->at("list").as_array().size(), 2000);
}

TEST_F(CrdTest, ADefinitionIsEstablishedAtOnceAndServes) {
    EXPECT_EQ(get(kThings).status, 404);
    const kube::Response made = post(kCrds, definition());
    ASSERT_EQ(made.status, 201) << text(made);
    EXPECT_EQ(at(made, "spec.names.singular"), "thing");
    EXPECT_EQ(at(made, "spec.names.listKind"), "ThingList");
    EXPECT_EQ(at(made, "status.storedVersions"), json::array{"v1"});
    EXPECT_THAT(text(made), HasSubstr(R"("type":"Established","status":"True")"));
    EXPECT_EQ(at(get(kThings), "kind"), "ThingList");
    EXPECT_EQ(post(kThings, thing("t", R"({"size":1})")).status, 201);
    EXPECT_EQ(get(kThings).body->at("items").at(0).at("kind"), "Thing");
}

TEST_F(CrdTest, WrongColumnsAndNamesAreRefused) {
    struct Row {
        const char* columns;
        const char* problem;
    };
    constexpr Row kRows[] = {
        {R"([{"name":"A","type":"text","jsonPath":".a"}])",
         "spec.versions[1].additionalPrinterColumns[0].type: Invalid value: \"text\": must be one "
         "of "
         "boolean,date,integer,number,string"},
        {R"([{"name":"A","type":"date","jsonPath":".a"},{"name":"B","type":"date","jsonPath":".a["}])",
         "spec.versions[1].additionalPrinterColumns[1].jsonPath: Invalid value: \".a[\": is an "
         "invalid JSON path: expected an index"},
        {R"([{"name":"","type":"date","jsonPath":".a"}])",
         "spec.versions[1].additionalPrinterColumns[0].name: Required value"},
        {R"([{"name":"A","type":"date","jsonPath":""}])",
         "spec.versions[1].additionalPrinterColumns[0].jsonPath: Required value"},
    };
    for (const Row& row : kRows) {
        const kube::Response refused =
            post(kCrds, definition(fmt::format(
                            R"(,{{"name":"v2","served":true,"storage":false,
                          "schema":{{"openAPIV3Schema":{{"type":"object"}}}},
                          "additionalPrinterColumns":{}}})",
                            row.columns)));
        EXPECT_EQ(refused.status, 422) << text(refused);
        EXPECT_THAT(message(refused), HasSubstr(row.problem));
    }
    json::value crd = json::parse(definition());
    crd.at("spec").at("names").as_object()["shortNames"] = {"th", "T h"};
    const kube::Response refused = post(kCrds, json::serialize(crd));
    EXPECT_EQ(refused.status, 422);
    EXPECT_THAT(message(refused), HasSubstr("spec.names.shortNames[1]: Invalid value: \"T h\""));
}

TEST_F(CrdTest, AVersionHasAtMost200Columns) {
    const auto with_columns = [](std::size_t count) {
        json::value crd = json::parse(definition());
        json::array columns(count,
                            {{"name", "A"}, {"type", "string"}, {"jsonPath", ".spec.color"}});
        crd.at("spec").at("versions").at(0).as_object()["additionalPrinterColumns"] =
            std::move(columns);
        return json::serialize(crd);
    };
    const kube::Response refused = post(kCrds, with_columns(201));
    EXPECT_EQ(refused.status, 422);
    EXPECT_THAT(message(refused), HasSubstr("spec.versions[0].additionalPrinterColumns: Too many: "
                                            "201: must have at most 200 items"));
    EXPECT_EQ(post(kCrds, with_columns(200)).status, 201);
}

TEST_F(CrdTest, ValidationNamesAllFaults) {
    define();
    const kube::Response refused =
        post(kThings, thing("t", R"({"color":"green","replicas":"many"})"));
    EXPECT_EQ(refused.status, 422);
    EXPECT_THAT(message(refused), HasSubstr("Thing.ex.org \"t\" is invalid: ["));
    EXPECT_THAT(message(refused), HasSubstr("spec.size: Required value"));
    EXPECT_THAT(message(refused), HasSubstr("spec.color: Unsupported value: \"green\": supported "
                                            "values: \"red\", \"blue\""));
    EXPECT_THAT(message(refused),
                HasSubstr("spec.replicas: Invalid value: \"string\": spec.replicas in body must "
                          "be of type integer: \"string\""));
    EXPECT_EQ(post(kThings, thing("t", R"({"size":-1})")).status, 422);
    EXPECT_EQ(post(kThings, R"({"metadata":{"name":"t"}})").status, 400) << "kind is needed";
    EXPECT_EQ(post(kThings, R"({"apiVersion":"ex.org/v1","kind":"Thang","metadata":{"name":"t"}})")
                  .status,
              422);
}

TEST_F(CrdTest, UnknownFieldsArePrunedWithAWarningEachAndDefaultsSet) {
    define();
    const kube::Response made =
        post(kThings, thing("t", R"({"size":1,"junk":{"a":1},"free":{"any":[1]}})", R"(,"top":1)"));
    ASSERT_EQ(made.status, 201) << text(made);
    EXPECT_THAT(made.warnings, ::testing::UnorderedElementsAre("unknown field \"spec.junk\"",
                                                               "unknown field \"top\""));
    EXPECT_EQ(at(made, "spec"),
              (json::object{{"size", 1}, {"free", {{"any", json::array{1}}}}, {"color", "red"}}));
    const kube::Response strict =
        post(kThings, thing("s", R"({"size":1,"junk":1})"), {{"fieldValidation", "Strict"}});
    EXPECT_EQ(strict.status, 400);
    EXPECT_THAT(message(strict), HasSubstr("strict decoding error: unknown field \"spec.junk\""));
}

TEST_F(CrdTest, SpecAndStatusAreWrittenApart) {
    define();
    const kube::Response made =
        post(kThings, thing("t", R"({"size":1})", R"(,"status":{"phase":"Early"})"));
    EXPECT_TRUE(at(made, "status").is_null());
    EXPECT_EQ(at(made, "metadata.generation"), 1);
    const kube::Response status = merge_patch(
        std::string(kThing) + "/status",
        R"({"metadata":{"labels":{"a":"b"}},"spec":{"size":9},"status":{"phase":"On"}})");
    EXPECT_EQ(at(status, "status.phase"), "On") << text(status);
    EXPECT_EQ(at(status, "spec.size"), 1);
    EXPECT_TRUE(at(status, "metadata.labels").is_null()) << "custom resources drop labels here";
    EXPECT_EQ(at(status, "metadata.generation"), 1);
    const kube::Response spec =
        merge_patch(kThing, R"({"spec":{"size":2},"status":{"phase":"X"}})");
    EXPECT_EQ(at(spec, "status.phase"), "On");
    EXPECT_EQ(at(spec, "metadata.generation"), 2);
    EXPECT_EQ(merge_patch(std::string(kThing) + "/status", R"({"status":{"phase":3}})").status,
              422);
}

TEST_F(CrdTest, UpdatesNeedARevisionAndStrategicMergeIsNotServed) {
    define();
    post(kThings, thing("t", R"({"size":1})"));
    const kube::Response refused = put(kThing, json::parse(thing("t", R"({"size":2})")));
    EXPECT_EQ(refused.status, 422);
    EXPECT_THAT(message(refused), HasSubstr("metadata.resourceVersion: Invalid value: 0: must be "
                                            "specified for an update"));
    const kube::Response strategic = call(kube::Method::kPatch, kThing, parse("{}"), {},
                                          kube::ContentType::kStrategicMergePatch);
    EXPECT_EQ(strategic.status, 415);
    EXPECT_THAT(message(strategic), HasSubstr("application/merge-patch+json"));
}

TEST_F(CrdTest, TheScaleSubresourceReadsAndWritesTheDeclaredPaths) {
    define();
    post(kThings, thing("t", R"({"size":1,"replicas":2})"));
    merge_patch(std::string(kThing) + "/status", R"({"status":{"replicas":1,"selector":"app=t"}})");
    const kube::Response scale = get(std::string(kThing) + "/scale");
    EXPECT_EQ(at(scale, "kind"), "Scale");
    EXPECT_EQ(at(scale, "apiVersion"), "autoscaling/v1");
    EXPECT_EQ(at(scale, "spec"), (json::object{{"replicas", 2}}));
    EXPECT_EQ(at(scale, "status"), (json::object{{"replicas", 1}, {"selector", "app=t"}}));
    const kube::Response patched =
        merge_patch(std::string(kThing) + "/scale", R"({"spec":{"replicas":5}})");
    EXPECT_EQ(at(patched, "spec.replicas"), 5) << text(patched);
    const kube::Response now = get(kThing);
    EXPECT_EQ(at(now, "spec.replicas"), 5);
    EXPECT_EQ(at(now, "metadata.generation"), 2);
    EXPECT_EQ(put(std::string(kThing) + "/scale", body_of(scale)).status, 409) << "a stale scale";
    EXPECT_EQ(merge_patch(std::string(kThing) + "/scale", R"({"spec":{"replicas":-1}})").status,
              422);
}

TEST_F(CrdTest, OtherVersionsShowTheSameObjectUnderTheirName) {
    post(kCrds, definition(fmt::format(
                    R"(,{{"name":"v2","served":true,"storage":false,"deprecated":true,
                         "schema":{{"openAPIV3Schema":{}}}}},
                       {{"name":"v3","served":false,"storage":false,
                         "schema":{{"openAPIV3Schema":{}}}}})",
                    kSchema, kSchema)));
    post(kThings, thing("t", R"({"size":1})"));
    const std::string other = "/apis/ex.org/v2/namespaces/default/things";
    const kube::Response seen = get(other + "/t");
    EXPECT_EQ(at(seen, "apiVersion"), "ex.org/v2");
    EXPECT_THAT(seen.warnings, ::testing::ElementsAre(HasSubstr("ex.org/v2 Thing is deprecated")));
    const kube::Response patched = merge_patch(other + "/t", R"({"spec":{"size":7}})");
    EXPECT_EQ(at(patched, "apiVersion"), "ex.org/v2") << text(patched);
    EXPECT_EQ(at(get(kThing), "apiVersion"), "ex.org/v1");
    EXPECT_EQ(at(get(kThing), "spec.size"), 7);
    const kube::Response made =
        post(other, R"({"apiVersion":"ex.org/v2","kind":"Thing","metadata":{"name":"u"},
                        "spec":{"size":1}})");
    EXPECT_EQ(made.status, 201) << text(made);
    EXPECT_EQ(at(get(std::string(kThings) + "/u"), "apiVersion"), "ex.org/v1");
    auto watch = open_watch(other);
    const auto first = events(*watch);
    ASSERT_EQ(first.size(), 2u);
    EXPECT_EQ(first[0].object->at("apiVersion"), "ex.org/v2");
    EXPECT_EQ(get("/apis/ex.org/v3/namespaces/default/things").status, 404);
}

TEST_F(CrdTest, ADefinitionTakesItsInstancesWithItThenItsPaths) {
    define();
    const std::string at_first = revision(get(kThings));
    post(kThings, thing("t", R"({"size":1})"));
    post(kThings, thing("held", R"({"size":1})"));
    merge_patch(std::string(kThings) + "/held", R"({"metadata":{"finalizers":["a.b/c"]}})");
    auto watch = open_watch(kThings, {{"resourceVersion", revision(get(kThings))}});
    auto behind = open_watch(kThings, {{"resourceVersion", at_first}});
    const kube::Response going = remove(std::string(kCrds) + "/things.ex.org");
    EXPECT_EQ(going.status, 200);
    EXPECT_EQ(at(going, "metadata.finalizers"),
              json::array{"customresourcecleanup.apiextensions.k8s.io"});
    const kube::Response refused = post(kThings, thing("new", R"({"size":1})"));
    EXPECT_EQ(refused.status, 403);
    EXPECT_THAT(message(refused),
                HasSubstr("create not allowed while custom resource definition is terminating"));
    settle();
    EXPECT_EQ(get(kThing).status, 404);
    EXPECT_EQ(get(std::string(kThings) + "/held").status, 200);
    merge_patch(std::string(kThings) + "/held", R"({"metadata":{"finalizers":null}})");
    settle();
    EXPECT_EQ(get(std::string(kCrds) + "/things.ex.org").status, 404);
    EXPECT_EQ(body_of(get(kThings)), "404 page not found\n");
    EXPECT_THAT(drain(*watch), ::testing::EndsWith("DELETED held, EOF"));
    EXPECT_THAT(drain(*behind), ::testing::AllOf(::testing::StartsWith("ADDED t, ADDED held, "),
                                                 ::testing::EndsWith("DELETED held, EOF")))
        << "it had not read what it missed";
    EXPECT_EQ(post(kCrds, definition()).status, 201);
    EXPECT_EQ(get(kThings).body->at("items").as_array().size(), 0u);
}

TEST_F(CrdTest, AnUpdatedDefinitionServesItsNewSchema) {
    define();
    const std::string path = std::string(kCrds) + "/things.ex.org";
    EXPECT_EQ(post(kThings, thing("t", R"({"size":1,"color":"green"})")).status, 422);
    json::value changed = body_of(get(path));
    changed.at("spec")
        .at("versions")
        .at(0)
        .at("schema")
        .at("openAPIV3Schema")
        .at("properties")
        .at("spec")
        .at("properties")
        .at("color")
        .at("enum")
        .as_array()
        .push_back("green");
    const kube::Response updated = put(path, changed);
    ASSERT_EQ(updated.status, 200) << text(updated);
    EXPECT_EQ(at(updated, "metadata.generation"), 2);
    EXPECT_EQ(post(kThings, thing("t", R"({"size":1,"color":"green"})")).status, 201);
    changed = body_of(get(path));
    changed.at("spec").as_object()["scope"] = "Cluster";
    EXPECT_EQ(put(path, changed).status, 422);
}

TEST_F(CrdTest, DefinitionsThatCannotBeAreRefused) {
    const std::vector<std::pair<const char*, const char*>> rows = {
        {R"({"metadata":{"name":"things.ex.org"}})", "spec"},
        {R"({"metadata":{"name":"wrong"},"spec":{"group":"ex.org","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})",
         "must be spec.names.plural+\\\".\\\"+spec.group"},
        {R"({"metadata":{"name":"things.ex.org"},"spec":{"group":"ex.org","scope":"Odd","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})",
         "spec.scope: Unsupported value"},
        {R"({"metadata":{"name":"things.ex.org"},"spec":{"group":"ex.org","scope":"Cluster","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})",
         "must have exactly one version marked as storage version"},
        {R"({"metadata":{"name":"things.ex.org"},"spec":{"group":"ex.org","scope":"Cluster","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true}]}})",
         "spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required"},
        {R"({"metadata":{"name":"things.ex"},"spec":{"group":"ex","scope":"Cluster","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})",
         "should be a domain with at least one dot"},
        {R"({"metadata":{"name":"things.x.k8s.io"},"spec":{"group":"x.k8s.io","scope":"Cluster","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})",
         "protected groups must have approval annotation"},
        {R"({"metadata":{"name":"1things.ex.org"},"spec":{"group":"ex.org","scope":"Cluster","names":{"plural":"1things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})",
         R"(spec.names.plural: Invalid value: \"1things\": a DNS-1035 label must consist of)"},
        {R"({"metadata":{"name":"things.ex.org"},"spec":{"group":"ex.org","scope":"Cluster","names":{"plural":"things","kind":"My_Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})",
         R"(spec.names.kind: Invalid value: \"My_Thing\": may have mixed case, but should otherwise match: a DNS-1035 label must)"},
        {R"({"metadata":{"name":"things.ex.org"},"spec":{"group":"ex.org","scope":"Cluster","names":{"plural":"things","kind":"Thing","listKind":"Things!"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})",
         R"(spec.names.listKind: Invalid value: \"Things!\": may have mixed case)"},
        {R"({"metadata":{"name":"things.ex.org"},"spec":{"group":"ex.org","scope":"Cluster","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"1v","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})",
         R"(spec.versions[0].name: Invalid value: \"1v\": a DNS-1035 label must consist of)"},
    };
    for (const auto& [body, expected] : rows) {
        const kube::Response response = post(kCrds, body);
        EXPECT_EQ(response.status, 422) << text(response);
        EXPECT_THAT(text(response), HasSubstr(expected));
    }
}

/// The definition of a resource whose size has another minimum.
std::string definition_of(std::string_view plural, int least) {
    std::string text = definition();
    const auto replace = [&](std::string_view from, std::string_view to) {
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
            text.replace(at, from.size(), to);
    };
    replace("things", plural);
    replace(R"("minimum":0)", fmt::format(R"("minimum":{})", least));
    return text;
}

TEST_F(CrdTest, AChangedDefinitionServesItsOwnSchemaWhateverIsValidatedMeanwhile) {
    ASSERT_EQ(post(kCrds, definition_of("things", 9)).status, 201);
    const std::string path = std::string(kCrds) + "/things.ex.org";
    const auto changed_to = [&](int least) {
        json::value changed = json::parse(definition_of("things", least));
        changed.at("metadata").as_object()["resourceVersion"] =
            get(path).body->at("metadata").at("resourceVersion");
        return changed;
    };
    const auto status_of_size = [&](int size) {
        return post(kThings, thing(fmt::format("t{}", size), fmt::format(R"({{"size":{}}})", size)),
                    {{"dryRun", "All"}})
            .status;
    };
    EXPECT_EQ(put(path, changed_to(3)).status, 200);
    EXPECT_EQ(status_of_size(2), 422);
    EXPECT_EQ(status_of_size(3), 201);
    EXPECT_EQ(put(path, changed_to(5), {{"dryRun", "All"}}).status, 200);
    EXPECT_EQ(status_of_size(3), 201);
    // Both are validated before either is written, and one comes too late.
    for (const json::value& changed : {changed_to(6), changed_to(7)}) {
        kube::Request request;
        request.method = kube::Method::kPut;
        request.path = path;
        request.body = std::make_shared<const json::value>(changed);
        asio::co_spawn(context, server_->call(std::move(request)), asio::detached);
    }
    settle();
    EXPECT_EQ(status_of_size(5), 422);
    EXPECT_EQ(status_of_size(6), 201);
}

TEST_F(CrdTest, ADefinitionServesItsOwnSchemaWhateverIsValidatedMeanwhile) {
    EXPECT_EQ(post(kCrds, definition_of("things", 9), {{"dryRun", "All"}}).status, 201);
    EXPECT_EQ(get(kThings).status, 404);
    for (const auto& [plural, least] : {std::pair{"things", 3}, std::pair{"others", 5}}) {
        kube::Request request;
        request.method = kube::Method::kPost;
        request.path = kCrds;
        request.body = parse(definition_of(plural, least));
        asio::co_spawn(context, server_->call(std::move(request)), asio::detached);
    }
    settle();
    EXPECT_EQ(post(kCrds, definition_of("things", 9)).status, 409);
    const std::string path = std::string(kCrds) + "/things.ex.org";
    EXPECT_EQ(put(path + "/status", body_of(get(path))).status, 200);
    const auto status_of_size = [&](std::string_view plural, int size) {
        return post(fmt::format("/apis/ex.org/v1/namespaces/default/{}", plural),
                    thing(fmt::format("t{}", size), fmt::format(R"({{"size":{}}})", size)))
            .status;
    };
    EXPECT_EQ(status_of_size("things", 2), 422);
    EXPECT_EQ(status_of_size("things", 3), 201);
    EXPECT_EQ(status_of_size("others", 4), 422);
    EXPECT_EQ(status_of_size("others", 5), 201);
}

TEST(Definitions, TakeTheSchemasThatTheValidationOfTheirSpecRead) {
    const json::value crd = json::parse(definition());
    const std::string spec = json::serialize(crd.at("spec"));
    ReadDefinition read;
    FieldErrors causes;
    crd_strategy(read).validate(crd.get_object(), causes);
    const ReadDefinition::Versions own = read.of(spec);
    ASSERT_EQ(own.size(), 1u);
    EXPECT_EQ(definitions_of(crd.get_object(), read, spec).at(0)->schema, own[0].schema);
    for (const std::string& other : {spec + " ", std::string()}) {
        EXPECT_TRUE(read.of(other).empty());
        const kube::Schema::Ptr again = definitions_of(crd.get_object(), read, other).at(0)->schema;
        ASSERT_NE(again, nullptr);
        EXPECT_NE(again, own[0].schema);
        EXPECT_EQ(again->to_openapi(), own[0].schema->to_openapi());
    }
}

TEST(Definitions, DeclareTheSameUntilTheirSpecChanges) {
    json::value before = json::parse(definition());
    before.at("metadata").as_object()["uid"] = "mine";
    before.at("metadata").as_object()["generation"] = 1;
    json::value deleted = before;
    deleted.at("metadata").as_object()["generation"] = 2;
    deleted.at("metadata").as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    EXPECT_TRUE(declares_the_same(deleted.get_object(), before.get_object()));
    json::value changed = deleted;
    changed.at("spec").at("names").as_object()["shortNames"] = json::array{"th"};
    EXPECT_FALSE(declares_the_same(changed.get_object(), before.get_object()));
    json::value another = before;
    another.at("metadata").as_object()["uid"] = "another's";
    EXPECT_FALSE(declares_the_same(another.get_object(), before.get_object()));
}

TEST_F(CrdTest, OwnersOfCustomKindsAreFollowed) {
    define();
    const kube::Response owner = post(kThings, thing("t", R"({"size":1})"));
    post(
        "/api/v1/namespaces/default/pods",
        pod("p",
            fmt::format(
                R"(,"ownerReferences":[{{"apiVersion":"ex.org/v1","kind":"Thing","name":"t","uid":"{}","controller":true}}])",
                string_at_path(owner, "metadata.uid"))));
    settle();
    EXPECT_EQ(get("/api/v1/namespaces/default/pods/p").status, 200);
    remove(kThing);
    settle();
    EXPECT_EQ(get("/api/v1/namespaces/default/pods/p").status, 404);
}

}  // namespace
}  // namespace muster::apiserver::crd_test
