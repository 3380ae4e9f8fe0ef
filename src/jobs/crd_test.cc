#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "jobs/internal/test_manifest.h"

namespace muster::jobs::crd_test {
namespace {

using testing::ElementsAre;

const json::value& at(const json::value& value, std::string_view pointer) {
    return value.at_pointer(pointer);
}

TEST(CustomResourceDefinition, HasUpstreamsNamesColumnsAndSubresources) {
    const json::value crd = custom_resource_definition(pytorch_kind());
    EXPECT_EQ(at(crd, "/metadata/name"), "pytorchjobs.kubeflow.org");
    EXPECT_EQ(at(crd, "/spec/group"), "kubeflow.org");
    EXPECT_EQ(at(crd, "/spec/scope"), "Namespaced");
    EXPECT_EQ(at(crd, "/spec/names"),
              json::parse(R"({"kind":"PyTorchJob","listKind":"PyTorchJobList",
                              "plural":"pytorchjobs","singular":"pytorchjob"})"));
    const json::value& version = at(crd, "/spec/versions/0");
    EXPECT_EQ(at(version, "/name"), "v1");
    EXPECT_EQ(at(version, "/served"), true);
    EXPECT_EQ(at(version, "/storage"), true);
    EXPECT_EQ(at(version, "/additionalPrinterColumns"),
              json::parse(R"([{"name":"State","type":"string",
                               "jsonPath":".status.conditions[-1:].type"},
                              {"name":"Age","type":"date",
                               "jsonPath":".metadata.creationTimestamp"}])"));
    EXPECT_EQ(at(version, "/subresources"), json::parse(R"({"status":{},"scale":{
                  "specReplicasPath":".spec.pytorchReplicaSpecs.Worker.replicas",
                  "statusReplicasPath":".status.replicaStatuses.Worker.active",
                  "labelSelectorPath":".status.replicaStatuses.Worker.selector"}})"));
}

TEST(CustomResourceDefinition, HasMembersOnlyWhereIdsRise) {
    JobKind rising = pytorch_kind();
    rising.rising_ids = true;
    const std::string_view path =
        "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties";
    const json::value plain = custom_resource_definition(pytorch_kind());
    EXPECT_FALSE(at(plain, path).as_object().contains("members"));
    EXPECT_FALSE(at(plain, path).as_object().contains("plan"));
    json::value crd = custom_resource_definition(rising);
    json::object& status = crd.at_pointer(path).as_object();
    EXPECT_EQ(status.at("members").at_pointer("/additionalProperties/properties/ids/type"),
              "string");
    EXPECT_EQ(status.at("members").at_pointer(
                  "/additionalProperties/properties/ranks/additionalProperties/type"),
              "integer");
    status.erase("members");
    status.erase("plan");
    EXPECT_EQ(crd, plain) << "and differs in nothing else";
}

TEST(CustomResourceDefinition, FitsAClientSideApply) {
    for (const JobKind* kind : all_kinds()) {
        const std::size_t size = json::serialize(custom_resource_definition(*kind)).size();
        EXPECT_LT(size, 256u * 1024u) << kind->resource.kind;
    }
}

TEST(CustomResourceDefinition, IsStructuralAndReadsBackAsWritten) {
    const json::value crd = custom_resource_definition(pytorch_kind());
    const json::value& written = at(crd, "/spec/versions/0/schema/openAPIV3Schema");
    const auto [schema, problems] = kube::Schema::from_openapi(written, "schema");
    EXPECT_THAT(problems, ElementsAre());
    ASSERT_NE(schema, nullptr);
    EXPECT_EQ(schema->property("spec")->to_openapi(),
              object_schema(pytorch_kind())->property("spec")->to_openapi());
}

TEST(CustomResourceDefinition, HasTheFieldsOfTheSpecAndTheirTypes) {
    const json::value crd = custom_resource_definition(pytorch_kind());
    const json::value& spec =
        at(crd, "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties");
    EXPECT_EQ(at(spec, "/nprocPerNode/type"), "string");
    EXPECT_EQ(at(spec, "/elasticPolicy/properties/rdzvId/type"), "string");
    EXPECT_EQ(at(spec, "/elasticPolicy/properties/nProcPerNode/format"), "int32");
    EXPECT_EQ(at(spec, "/elasticPolicy/properties/rdzvConf/items/properties/key/type"), "string");
    EXPECT_EQ(at(spec, "/runPolicy/properties/activeDeadlineSeconds/format"), "int64");
    EXPECT_EQ(at(spec, "/runPolicy/properties/suspend/default"), false);
    const json::value& replica = at(spec, "/pytorchReplicaSpecs/additionalProperties/properties");
    EXPECT_EQ(at(replica, "/replicas/minimum"), 0);
    EXPECT_EQ(at(replica,
                 "/template/properties/spec/properties/containers/items/properties/image/"
                 "type"),
              "string");
    EXPECT_EQ(at(crd, "/spec/versions/0/schema/openAPIV3Schema/properties/spec/required"),
              json::parse(R"(["pytorchReplicaSpecs"])"));
    EXPECT_EQ(at(crd,
                 "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/"
                 "conditions/items/required"),
              json::parse(R"(["type","status"])"));
}

/// The only default that upstream's CRD has; the others are the operator's, in memory.
TEST(CustomResourceDefinition, DefaultsSuspendAndNothingElse) {
    json::value manifest = pytorch_manifest({{"spec/runPolicy", "{}"}});
    kube::apply_defaults(*object_schema(pytorch_kind()), manifest);
    EXPECT_EQ(manifest, pytorch_manifest({{"spec/runPolicy", R"({"suspend":false})"}}));
}

TEST(ObjectSchema, KnowsEveryFieldOfAFullManifestAndNoOther) {
    const json::value manifest = pytorch_manifest(
        {{"spec/runPolicy",
          R"({"cleanPodPolicy":"All","ttlSecondsAfterFinished":1,"activeDeadlineSeconds":1,
              "backoffLimit":1,"suspend":false,"managedBy":"kubeflow.org/training-operator",
              "schedulingPolicy":{"minAvailable":1,"queue":"q","minResources":{"cpu":1},
                                  "priorityClass":"p","scheduleTimeoutSeconds":1}})"},
         {"spec/elasticPolicy",
          R"({"minReplicas":1,"maxReplicas":2,"rdzvBackend":"c10d","rdzvPort":1,"rdzvHost":"h",
              "rdzvId":"i","rdzvConf":[{"key":"k","value":"v"}],"standalone":true,
              "nProcPerNode":1,"maxRestarts":1,
              "metrics":[{"type":"Resource","resource":{"name":"cpu"}}]})"},
         {"spec/comand", R"("x")"},
         {"spec/elasticPolicy/rdzvID", R"("x")"}});
    std::vector<std::string> unknown;
    for (const auto& field : kube::find_unknown(*object_schema(pytorch_kind()), manifest))
        unknown.push_back(field.path + " -> " + field.nearest);
    EXPECT_THAT(unknown, testing::UnorderedElementsAre("spec.comand -> ",
                                                       "spec.elasticPolicy.rdzvID -> rdzvId"));
}

TEST(Registry, FindsKindsByApiVersionAndKind) {
    EXPECT_NE(find_kind("kubeflow.org/v1", "PyTorchJob"), nullptr);
    EXPECT_EQ(find_kind("kubeflow.org/v7", "PyTorchJob"), nullptr);
    EXPECT_EQ(find_kind("kubeflow.org/v1", "pytorchjob"), nullptr);
    EXPECT_TRUE(std::ranges::is_sorted(all_kinds(), {},
                                       [](const JobKind* kind) { return kind->resource.kind; }));
}

}  // namespace
}  // namespace muster::jobs::crd_test
