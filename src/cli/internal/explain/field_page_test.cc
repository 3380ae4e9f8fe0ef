#include "cli/internal/explain/field_page.h"

#include <gmock/gmock.h>

#include <set>

#include "apiserver_http/field_descriptions.h"
#include "jobs/kind.h"

namespace muster::cli::field_page_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string page(std::string_view path, std::string_view api_version = {}, bool recursive = false) {
    const auto found = field_page(kinds_with_fields(), path, api_version, recursive);
    return found ? *found : "error: " + found.error().message();
}

TEST(FieldPage, OfAKind) {
    EXPECT_THAT(page("pytorchjob"),
                AllOf(StartsWith("GROUP:      kubeflow.org\nKIND:       PyTorchJob\n"
                                 "VERSION:    v1\n\nDESCRIPTION:\n    A PyTorchJob that"),
                      HasSubstr("\nFIELDS:\n  apiVersion\t<string>\n"),
                      HasSubstr("\n  metadata\t<ObjectMeta>\n")));
    for (const char* word : {"PyTorchJob", "pytorchjobs"})
        EXPECT_EQ(page(word), page("pytorchjob"));
    EXPECT_THAT(page("po"), StartsWith("KIND:       Pod\nVERSION:    v1\n"));
    EXPECT_THAT(page("deploy.spec.replicas"), HasSubstr("FIELD: replicas <integer>"));
}

TEST(FieldPage, OfAField) {
    EXPECT_EQ(page("pytorchjob.spec.elasticPolicy.minReplicas"),
              "GROUP:      kubeflow.org\nKIND:       PyTorchJob\nVERSION:    v1\n\n"
              "FIELD: minReplicas <integer>\n\nDESCRIPTION:\n"
              "    Fewest workers that training goes on with; maxReplicas if unset.\n"
              "    from 1 to 100000\n");
    EXPECT_THAT(page("pytorchjob.spec"),
                HasSubstr("  pytorchReplicaSpecs\t<map[string]Object> -required-\n"));
    EXPECT_THAT(page("pytorchjob.spec.runPolicy"),
                HasSubstr("  cleanPodPolicy\t<string>\n    Which pods are deleted when the job has "
                          "finished: None (default), Running or\n    All.\n    one of: None, "
                          "Running, All\n"));
    EXPECT_THAT(page("pytorchjob.spec.runPolicy.suspend"), HasSubstr("    default: false\n"));
}

TEST(FieldPage, GoesThroughListsAndMaps) {
    const std::string wanted = page("pytorchjob.spec.pytorchReplicaSpecs.restartPolicy");
    EXPECT_THAT(wanted, HasSubstr("FIELD: restartPolicy <string>"));
    EXPECT_EQ(page("pytorchjob.spec.pytorchReplicaSpecs.Worker.restartPolicy"), wanted);
    EXPECT_THAT(page("pytorchjob.spec.pytorchReplicaSpecs.master"),
                HasSubstr("FIELDS:\n  replicas\t"));
    EXPECT_THAT(page("tfjob.spec.tfReplicaSpecs.PS.template.spec.containers.env.valueFrom"),
                HasSubstr("configMapKeyRef"));
    EXPECT_THAT(page("pod.metadata.labels.anything"), HasSubstr("FIELD: anything <string>"));
}

TEST(FieldPage, FieldsOfKubernetesOwnStructuresHaveWords) {
    const std::string containers =
        page("pytorchjob.spec.pytorchReplicaSpecs.Worker.template.spec.containers");
    EXPECT_THAT(containers,
                AllOf(HasSubstr("DESCRIPTION:\n    What runs in the pod; at least one.\n"),
                      HasSubstr("  env\t<[]EnvVar>\n    Environment variables.\n")));
    EXPECT_EQ(page("pod.spec.containers"),
              "KIND:       Pod\nVERSION:    v1\n" + containers.substr(containers.find("\nFIELD:")));
    EXPECT_THAT(page("pod"), HasSubstr("Containers that run together on one node"));
    EXPECT_THAT(page("pod.spec.ephemeralContainers"),
                AllOf(HasSubstr("Environment variables."), HasSubstr("whose processes it sees.")));
}

/// What a job's manifest may consist of, down to volumes of others.
void find_silent(const kube::Schema& schema, const std::string& path,
                 std::set<std::string>& silent) {
    // No node here mounts these; each field of a Volume says that they are not here.
    static const std::set<std::string_view> kVolumesOfOthers{"AWSElasticBlockStoreVolumeSource",
                                                             "AzureDiskVolumeSource",
                                                             "AzureFileVolumeSource",
                                                             "CSIVolumeSource",
                                                             "CephFSVolumeSource",
                                                             "CinderVolumeSource",
                                                             "EphemeralVolumeSource",
                                                             "FCVolumeSource",
                                                             "FlexVolumeSource",
                                                             "FlockerVolumeSource",
                                                             "GCEPersistentDiskVolumeSource",
                                                             "GitRepoVolumeSource",
                                                             "GlusterfsVolumeSource",
                                                             "ISCSIVolumeSource",
                                                             "ImageVolumeSource",
                                                             "NFSVolumeSource",
                                                             "PhotonPersistentDiskVolumeSource",
                                                             "PortworxVolumeSource",
                                                             "QuobyteVolumeSource",
                                                             "RBDVolumeSource",
                                                             "ScaleIOVolumeSource",
                                                             "StorageOSVolumeSource",
                                                             "VsphereVirtualDiskVolumeSource"};
    if (schema.items) return find_silent(*schema.items, path, silent);
    if (schema.additional) return find_silent(*schema.additional, path, silent);
    const std::string_view structure = kube::core_schema_name(schema);
    if (kVolumesOfOthers.contains(structure)) return;
    for (const auto& [name, field] : schema.properties) {
        const std::string at =
            structure.empty() ? path + "." + name : std::string(structure) + "." + name;
        if (field->description.empty() && apiserver_http::description_of(structure, name).empty() &&
            apiserver_http::description_of(kube::core_schema_name(*field)).empty())
            silent.insert(at);
        find_silent(*field, at, silent);
    }
}

TEST(FieldPage, EveryFieldOfAManifestHasWords) {
    std::set<std::string> silent;
    for (const jobs::JobKind* kind : jobs::all_kinds())
        find_silent(*jobs::object_schema(*kind), kind->resource.kind, silent);
    for (const char* other : {"PodSpec", "ConfigMap", "Secret", "ServiceSpec"})
        find_silent(*kube::core_schema(other), other, silent);
    EXPECT_THAT(silent, testing::IsEmpty());
}

TEST(FieldPage, OfAVersion) {
    EXPECT_THAT(page("mpijob"), HasSubstr("VERSION:    v2beta1\n"));
    EXPECT_THAT(page("mpijob", "kubeflow.org/v1"), HasSubstr("VERSION:    v1\n"));
    EXPECT_THAT(page("mpijob.spec.dialect", "v1alpha2"), HasSubstr("    default: \"v1\"\n"));
    EXPECT_THAT(page("mpijob", "v9"), AllOf(StartsWith("error: there is no mpijob in \"v9\""),
                                            HasSubstr("MPIJob (kubeflow.org/v1)")));
}

TEST(FieldPage, Recursively) {
    const std::string text = page("pytorchjob.spec", {}, true);
    EXPECT_THAT(text, HasSubstr("  elasticPolicy\t<Object>\n    maxReplicas\t<integer>\n"));
    EXPECT_THAT(text, HasSubstr("\n        containers\t<[]Container> -required-\n"));
    EXPECT_THAT(text, Not(HasSubstr("Fewest workers")));
    // A schema that contains itself comes to an end.
    EXPECT_THAT(page("crd", {}, true), HasSubstr("openAPIV3Schema"));
}

TEST(FieldPage, SaysWhatWasMeant) {
    EXPECT_EQ(page("pytorchjob.spec.elasticPolcy"),
              "error: pytorchjob.spec has no field \"elasticPolcy\"; did you mean elasticPolicy?");
    EXPECT_EQ(
        page("pytorchjob.spec.pytorchReplicaSpecs.Wroker"),
        "error: pytorchjob.spec.pytorchReplicaSpecs has no field \"Wroker\"; did you mean Worker?");
    EXPECT_EQ(page("pytorchjbo"),
              "error: the kind \"pytorchjbo\" is not known; did you mean pytorchjob?");
    EXPECT_THAT(page("pytorchjob.spec.x"), HasSubstr("has no field \"x\"; it has elasticPolicy, "));
    EXPECT_THAT(page("pytorchjob.kind.x"),
                HasSubstr("pytorchjob.kind is a string and has no fields"));
    EXPECT_THAT(page("pytorchjob."), StartsWith("error: "));
    EXPECT_THAT(page(""), StartsWith("error: "));
}

TEST(FieldPage, EveryFieldOfEveryKindHasOne) {
    const auto kinds = kinds_with_fields();
    for (const KindWithFields& kind : kinds) {
        const auto found = field_page(kinds, kind.type.plural, kind.type.api_version(), true);
        EXPECT_TRUE(found.has_value()) << kind.type.qualified();
    }
}

}  // namespace
}  // namespace muster::cli::field_page_test
