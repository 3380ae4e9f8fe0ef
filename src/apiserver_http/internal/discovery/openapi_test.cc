#include "apiserver_http/internal/discovery/openapi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <set>

#include "apiserver/registry_fixture.h"
#include "apiserver_http/field_descriptions.h"
#include "apiserver_http/internal/discovery/references_fixture.h"

namespace muster::apiserver_http::openapi_test {
namespace {

using testing::EndsWith;

class OpenApiTest : public ::testing::Test, protected apiserver::RegistryFixture {
  protected:
    json::value document(std::string_view path) {
        const auto found = documents_.find(path);
        EXPECT_NE(found, nullptr) << path;
        return found == nullptr ? json::value() : json::parse(found->text);
    }
    /// The component of the kind, found as kubectl finds it.
    static const json::object* component_of(const json::value& document, std::string_view kind) {
        for (const auto& [name, schema] : document.at("components").at("schemas").as_object())
            if (const json::value* kinds =
                    schema.as_object().if_contains("x-kubernetes-group-version-kind"))
                for (const json::value& one : kinds->as_array())
                    if (one.at("kind").as_string() == kind) return &schema.get_object();
        return nullptr;
    }
    /// Follows `$ref` and `allOf` and takes one step to a property or to the items.
    static const json::object& step(const json::value& document, const json::object& from,
                                    std::string_view key) {
        const json::object* schema = &from;
        while (true) {
            if (const json::value* all = schema->if_contains("allOf"))
                schema = &all->at(0).as_object();
            const json::value* reference = schema->if_contains("$ref");
            if (reference == nullptr) break;
            const std::string_view name = reference->as_string();
            schema = &document.at("components")
                          .at("schemas")
                          .at(name.substr(name.rfind('/') + 1))
                          .as_object();
        }
        return key == "[]" ? schema->at("items").as_object()
                           : schema->at("properties").at(key).as_object();
    }

    apiserver::ExtensionServers extensions_;
    OpenApiDocuments documents_{registry_, extensions_};
};

TEST_F(OpenApiTest, TheIndexNamesEachDocumentWithItsHash) {
    const json::value index = json::parse(documents_.index()->text);
    std::size_t seen = 0;
    for (const auto& [path, entry] : index.at("paths").as_object()) {
        const auto document = documents_.find(path);
        ASSERT_NE(document, nullptr) << path;
        EXPECT_EQ(entry.at("serverRelativeURL"),
                  json::value(fmt::format("/openapi/v3/{}?hash={}", std::string_view(path),
                                          document->hash)));
        ++seen;
    }
    EXPECT_EQ(seen, registry_.served().size());
    EXPECT_EQ(documents_.find("api/v2"), nullptr);
    EXPECT_EQ(documents_.find("v1"), nullptr);
    EXPECT_EQ(documents_.find(""), nullptr);
}

TEST_F(OpenApiTest, EveryReferenceHasItsComponent) {
    define("things", "Thing", "a.org", R"({"name":"v1","served":true,"storage":true})");
    for (const auto& [api_version, defs] : registry_.served()) {
        const json::value whole = document((api_version == "v1" ? "api/" : "apis/") + api_version);
        std::set<std::string> names;
        collect_references(whole, names);
        EXPECT_FALSE(names.empty());
        for (const std::string& name : names)
            EXPECT_TRUE(whole.at("components")
                            .at("schemas")
                            .as_object()
                            .contains(name.substr(name.rfind('/') + 1)))
                << name;
        EXPECT_EQ(json::serialize(whole).find("null"), std::string::npos);
    }
}

TEST_F(OpenApiTest, FieldsOfBuiltInKindsAreFound) {
    const json::value core = document("api/v1");
    EXPECT_EQ(core.at("openapi"), "3.0.0");
    const json::object* pod = component_of(core, "Pod");
    ASSERT_NE(pod, nullptr);
    EXPECT_EQ(pod, &core.at("components").at("schemas").at("io.k8s.api.core.v1.Pod").as_object());
    EXPECT_EQ(pod->at("x-kubernetes-group-version-kind"),
              json::parse(R"([{"group":"","version":"v1","kind":"Pod"}])"));
    const json::object& spec = step(core, *pod, "spec");
    const json::object& containers = step(core, spec, "containers");
    EXPECT_EQ(containers.at("type"), "array");
    // What a client needs to make a strategic merge patch by itself.
    EXPECT_EQ(containers.at("x-kubernetes-patch-strategy"), "merge");
    EXPECT_EQ(containers.at("x-kubernetes-patch-merge-key"), "name");
    EXPECT_EQ(step(core, spec, "volumes").at("x-kubernetes-patch-strategy"), "merge,retainKeys");
    const json::object& container = step(core, containers, "[]");
    EXPECT_EQ(step(core, container, "image").at("type"), "string");
    const json::object& limits = step(core, step(core, container, "resources"), "limits");
    EXPECT_EQ(limits.at("additionalProperties"), json::parse(R"({"allOf":[{"$ref":
                "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}]})"));
    const json::object& finalizers = step(core, step(core, *pod, "metadata"), "finalizers");
    EXPECT_EQ(finalizers.at("x-kubernetes-patch-strategy"), "merge");
    EXPECT_FALSE(finalizers.contains("x-kubernetes-patch-merge-key"));
    const json::object* list = component_of(core, "PodList");
    ASSERT_NE(list, nullptr);
    EXPECT_EQ(step(core, step(core, step(core, *list, "items"), "[]"), "kind").at("type"),
              "string");

    const json::value leases = document("apis/coordination.k8s.io/v1");
    EXPECT_TRUE(leases.at("components")
                    .at("schemas")
                    .as_object()
                    .contains("io.k8s.api.coordination.v1.LeaseSpec"));
    const json::value crds = document("apis/apiextensions.k8s.io/v1");
    EXPECT_TRUE(crds.at("components")
                    .at("schemas")
                    .as_object()
                    .contains("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
                              "CustomResourceDefinition"));
}

TEST(Descriptions, AreOfStructuresAndFieldsThatThereAre) {
    std::size_t seen = 0;
    for_each_description([&](std::string_view structure, std::string_view field) {
        const kube::Schema::Ptr schema = kube::core_schema(structure);
        ASSERT_NE(schema, nullptr) << structure;
        if (!field.empty())
            EXPECT_NE(schema->property(field), nullptr) << structure << "." << field;
        EXPECT_THAT(std::string(description_of(structure, field)), EndsWith("."))
            << structure << "." << field;
        ++seen;
    });
    EXPECT_GT(seen, 100u);
    EXPECT_EQ(description_of("Pod", "none"), "");
    EXPECT_EQ(description_of("None"), "");
}

TEST_F(OpenApiTest, BuiltInKindsAreDescribed) {
    const json::value core = document("api/v1");
    const json::object* pod = component_of(core, "Pod");
    EXPECT_EQ(pod->at("description").as_string(), description_of("Pod"));
    EXPECT_EQ(pod->at("properties").at("spec").at("description").as_string(),
              description_of("Pod", "spec"));
    EXPECT_EQ(step(core, step(core, *pod, "spec"), "containers").at("description").as_string(),
              description_of("PodSpec", "containers"));
}

TEST_F(OpenApiTest, OperationsSayWhatAPatchMayBe) {
    define("things", "Thing", "a.org", R"({"name":"v1","served":true,"storage":true,
        "subresources":{"status":{},
        "scale":{"specReplicasPath":".spec.n","statusReplicasPath":".status.n"}}})");
    struct Row {
        const char* document;
        const char* path;
        const char* kind;
        bool strategic;
    };
    constexpr Row kRows[] = {
        {"api/v1", "/api/v1/namespaces/{namespace}/pods/{name}",
         R"({"group":"","version":"v1","kind":"Pod"})", true},
        {"api/v1", "/api/v1/namespaces/{name}", R"({"group":"","version":"v1","kind":"Namespace"})",
         true},
        {"apis/a.org/v1", "/apis/a.org/v1/namespaces/{namespace}/things/{name}",
         R"({"group":"a.org","version":"v1","kind":"Thing"})", false},
        {"apis/a.org/v1", "/apis/a.org/v1/namespaces/{namespace}/things/{name}/status",
         R"({"group":"a.org","version":"v1","kind":"Thing"})", false},
        {"apis/a.org/v1", "/apis/a.org/v1/namespaces/{namespace}/things/{name}/scale",
         R"({"group":"autoscaling","version":"v1","kind":"Scale"})", false},
    };
    for (const Row& row : kRows) {
        const json::value whole = document(row.document);
        const json::value& patch = whole.at("paths").at(row.path).at("patch");
        EXPECT_EQ(patch.at("x-kubernetes-group-version-kind"), json::parse(row.kind)) << row.path;
        std::set<std::string> names;
        for (const json::value& parameter : patch.at("parameters").as_array()) {
            EXPECT_EQ(parameter.at("in"), "query");
            names.emplace(parameter.at("name").as_string());
        }
        for (const char* name : {"fieldValidation", "dryRun", "fieldManager", "force"})
            EXPECT_TRUE(names.contains(name)) << row.path << " " << name;
        const json::object& types = patch.at("requestBody").at("content").as_object();
        EXPECT_TRUE(types.contains("application/apply-patch+yaml"));
        EXPECT_TRUE(types.contains("application/merge-patch+json"));
        EXPECT_EQ(types.contains("application/strategic-merge-patch+json"), row.strategic)
            << row.path;
    }
}

TEST_F(OpenApiTest, EveryPathAndOperationIsThereOnce) {
    const json::value core = document("api/v1");
    std::set<std::string> ids;
    for (const auto& [path, item] : core.at("paths").as_object())
        for (const auto& [method, operation] : item.as_object())
            if (method != "parameters")
                EXPECT_TRUE(ids.emplace(operation.at("operationId").as_string()).second)
                    << std::string_view(path) << " " << std::string_view(method);
    const json::object& pods =
        core.at("paths").at("/api/v1/namespaces/{namespace}/pods").as_object();
    for (const char* method : {"get", "post", "delete", "parameters"})
        EXPECT_TRUE(pods.contains(method)) << method;
    const json::object& everywhere = core.at("paths").at("/api/v1/pods").as_object();
    EXPECT_TRUE(everywhere.contains("get"));
    EXPECT_FALSE(everywhere.contains("post"));
    EXPECT_FALSE(core.at("paths").at("/api/v1/namespaces").as_object().contains("delete"));
    EXPECT_TRUE(
        core.at("paths").as_object().contains("/api/v1/namespaces/{namespace}/pods/{name}/log"));
    EXPECT_TRUE(core.at("paths").as_object().contains("/api/v1/namespaces/{name}/finalize"));
}

TEST_F(OpenApiTest, TheSchemaOfACustomResourceIsWrittenOut) {
    define("things", "Thing", "b.a.org", R"({"name":"v1","served":true,"storage":true})",
           R"({"type":"object","description":"A thing.","required":["spec"],"properties":{
               "spec":{"type":"object","properties":{"size":{"type":"integer","minimum":1,
               "description":"How big."},"port":{"x-kubernetes-int-or-string":true}}}}})");
    const json::value whole = document("apis/b.a.org/v1");
    const json::object* thing = component_of(whole, "Thing");
    ASSERT_NE(thing, nullptr);
    EXPECT_EQ(thing, &whole.at("components").at("schemas").at("org.a.b.v1.Thing").as_object());
    EXPECT_EQ(thing->at("description"), "A thing.");
    EXPECT_EQ(thing->at("required"), json::array{"spec"});
    EXPECT_EQ(thing->at("properties").at("spec"), json::parse(R"({"type":"object","properties":{
        "port":{"x-kubernetes-int-or-string":true},
        "size":{"type":"integer","minimum":1,"description":"How big."}}})"));
    EXPECT_EQ(thing->at("properties").at("metadata"),
              json::parse(R"({"description":"Name, labels and the like.","allOf":[{"$ref":
        "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]})"));
}

TEST_F(OpenApiTest, DocumentsAreMadeAgainOnlyWhenTheirDefinitionsChange) {
    define("things", "Thing", "a.org", R"({"name":"v1","served":true,"storage":true})");
    const auto index = documents_.index();
    const auto core = documents_.find("api/v1");
    const auto things = documents_.find("apis/a.org/v1");
    EXPECT_EQ(documents_.index(), index);
    EXPECT_EQ(documents_.find("apis/a.org/v1"), things);

    registry_.remove("things.a.org");
    define("things", "Thing", "a.org", R"({"name":"v1","served":true,"storage":true})",
           R"({"type":"object","properties":{"spec":{"type":"object"}}})");
    EXPECT_NE(documents_.index()->hash, index->hash);
    EXPECT_EQ(documents_.find("api/v1"), core);
    EXPECT_NE(documents_.find("apis/a.org/v1")->hash, things->hash);

    registry_.remove("things.a.org");
    EXPECT_EQ(documents_.index()->text.find("a.org"), std::string::npos);
    EXPECT_EQ(documents_.find("apis/a.org/v1"), nullptr);
}

}  // namespace
}  // namespace muster::apiserver_http::openapi_test
