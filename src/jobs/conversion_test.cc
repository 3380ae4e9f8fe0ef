#include "jobs/conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/rng.h"
#include "jobs/internal/test_manifest.h"

namespace muster::jobs::conversion_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

json::value manifest(std::string_view api_version, std::string_view kind, std::string_view spec) {
    return {{"apiVersion", api_version},
            {"kind", kind},
            {"metadata", {{"name", "j"}}},
            {"spec", json::parse(spec)}};
}

std::string there_and_back(const json::value& object, const std::string& version) {
    const Conversion there = convert(object, version);
    EXPECT_THAT(there.problems, IsEmpty());
    const Conversion back = convert(there.object, std::string(object.at("apiVersion").as_string()));
    EXPECT_THAT(back.problems, IsEmpty());
    return json::serialize(back.object);
}

TEST(Conversion, VersionsAreNamedTheStoredOneFirst) {
    EXPECT_THAT(versions_of("TFJob"),
                ElementsAre("kubeflow.org/v1", "kubeflow.org/v1beta1", "kubeflow.org/v1beta2"));
    EXPECT_THAT(versions_of("MPIJob"),
                ElementsAre("kubeflow.org/v2beta1", "kubeflow.org/v1", "kubeflow.org/v1alpha2",
                            "kubeflow.org/v1alpha1"));
    EXPECT_THAT(versions_of("JAXJob"), ElementsAre("kubeflow.org/v1"));
    EXPECT_THAT(versions_of("Pod"), IsEmpty());
    ASSERT_NE(find_old_version("kubeflow.org/v1alpha1", "MPIJob"), nullptr);
    EXPECT_EQ(find_old_version("kubeflow.org/v1alpha1", "MPIJob")->becomes->resource.version, "v1");
    EXPECT_EQ(find_old_version("kubeflow.org/v1alpha2", "MPIJob"), nullptr) << "it is served";
}

TEST(Conversion, TheRunPolicyGetsAStructOfItsOwn) {
    const Conversion done = convert(
        manifest(
            "kubeflow.org/v1beta2", "TFJob",
            R"({"cleanPodPolicy":"All","tfReplicaSpecs":{},"backoffLimit":3,"tfRpcLayer":"grpc"})"),
        "kubeflow.org/v1");
    EXPECT_EQ(json::serialize(done.object.at("spec")),
              R"({"runPolicy":{"cleanPodPolicy":"All","backoffLimit":3},"tfReplicaSpecs":{}})");
    EXPECT_EQ(done.object.at("apiVersion"), "kubeflow.org/v1");
    EXPECT_THAT(done.changes,
                ElementsAre(AllOf(Field(&Cause::field, "spec.cleanPodPolicy"),
                                  Field(&Cause::message,
                                        "is spec.runPolicy.cleanPodPolicy in kubeflow.org/v1")),
                            Field(&Cause::field, "spec.backoffLimit"),
                            AllOf(Field(&Cause::field, "spec.tfRpcLayer"),
                                  Field(&Cause::message, HasSubstr("has no such field")))));
    EXPECT_EQ(origin_of(done.origins, "spec.runPolicy.backoffLimit"), "spec.backoffLimit");
    EXPECT_EQ(origin_of(done.origins, "spec.tfReplicaSpecs.PS"), "spec.tfReplicaSpecs.PS");
}

TEST(Conversion, AnOldDefaultIsWritten) {
    const std::string spec = R"({"tfReplicaSpecs":{}})";
    const Conversion tf =
        convert(manifest("kubeflow.org/v1beta1", "TFJob", spec), "kubeflow.org/v1");
    EXPECT_EQ(tf.object.at("spec").at("runPolicy").at("cleanPodPolicy"), "Running");
    EXPECT_THAT(tf.changes, ElementsAre(Field(&Cause::message, HasSubstr("was the default"))));
    const Conversion back =
        convert(manifest("kubeflow.org/v1", "TFJob", spec), "kubeflow.org/v1beta1");
    EXPECT_EQ(back.object.at("spec").at("cleanPodPolicy"), "None");
    const Conversion pytorch =
        convert(manifest("kubeflow.org/v1beta1", "PyTorchJob", R"({"pytorchReplicaSpecs":{}})"),
                "kubeflow.org/v1");
    EXPECT_EQ(json::serialize(pytorch.object.at("spec")), R"({"pytorchReplicaSpecs":{}})");
    EXPECT_FALSE(pytorch.object.at("metadata").as_object().contains("annotations"))
        << "nothing has to be kept";
}

TEST(Conversion, TwoPlacesThatDisagreeAreRefused) {
    const json::value given =
        manifest("kubeflow.org/v1beta1", "TFJob",
                 R"({"backoffLimit":1,"runPolicy":{"backoffLimit":2},"tfReplicaSpecs":{}})");
    const Conversion done = convert(given, "kubeflow.org/v1");
    EXPECT_THAT(done.problems, ElementsAre(AllOf(Field(&Cause::field, "spec.backoffLimit"),
                                                 Field(&Cause::reason, "FieldValueForbidden"))));
    EXPECT_EQ(done.object, given);
}

TEST(Conversion, WhatTheOldVersionHasNoFieldForIsKept) {
    const json::value given = manifest(
        "kubeflow.org/v1", "PyTorchJob",
        R"({"nprocPerNode":"2","runPolicy":{"suspend":true,"backoffLimit":1},"pytorchReplicaSpecs":{}})");
    const Conversion old = convert(given, "kubeflow.org/v1beta2");
    EXPECT_EQ(json::serialize(old.object.at("spec")),
              R"({"backoffLimit":1,"pytorchReplicaSpecs":{}})");
    EXPECT_THAT(old.changes, Contains(Field(&Cause::field, "spec.nprocPerNode")));
    EXPECT_THAT(old.changes, Contains(Field(&Cause::field, "spec.runPolicy.suspend")));
    EXPECT_EQ(there_and_back(given, "kubeflow.org/v1beta2"), json::serialize(given));
}

// YAML's `annotations:` with nothing behind it is null, and as good as none.
TEST(Conversion, WhatIsKeptNeedsNoMetadata) {
    for (const char* metadata : {"", "null", "{}", R"({"annotations":null})",
                                 R"({"annotations":{}})", R"({"annotations":null,"name":"j"})"}) {
        SCOPED_TRACE(metadata);
        json::value given = manifest("kubeflow.org/v1beta1", "TFJob",
                                     R"({"tfRpcLayer":"grpc","tfReplicaSpecs":{}})");
        json::object& fields = given.get_object();
        if (*metadata == '\0')
            fields.stable_erase("metadata");
        else
            fields["metadata"] = json::parse(metadata);
        EXPECT_EQ(there_and_back(given, "kubeflow.org/v1"), json::serialize(given));
    }
}

TEST(Conversion, AnEditInBetweenStays) {
    const json::value given =
        manifest("kubeflow.org/v1beta1", "TFJob",
                 R"({"tfRpcLayer":"grpc","backoffLimit":3,"tfReplicaSpecs":{}})");
    json::value now = convert(given, "kubeflow.org/v1").object;
    now.at("spec").at("runPolicy").as_object()["cleanPodPolicy"] = "All";
    now.at("spec").at("runPolicy").as_object()["backoffLimit"] = 5;
    const json::value back = convert(now, "kubeflow.org/v1beta1").object;
    EXPECT_EQ(
        back.at("spec"),
        json::parse(
            R"({"tfRpcLayer":"grpc","backoffLimit":5,"cleanPodPolicy":"All","tfReplicaSpecs":{}})"));
}

// --- MPIJob v1alpha1

constexpr std::string_view kTemplate =
    R"("template":{"spec":{"containers":[{"name":"m","image":"i","command":["mpirun","x"]}]}})";

json::value alpha(const std::string& fields) {
    return manifest("kubeflow.org/v1alpha1", "MPIJob",
                    "{" + fields + "," + std::string(kTemplate) + "}");
}

struct SizeRow {
    std::string name;
    std::string fields;
    std::int64_t workers;
    std::string limits;  ///< of a worker
    std::int64_t slots;
};
class MpiSizes : public testing::TestWithParam<SizeRow> {};
TEST_P(MpiSizes, FollowFromTheUnits) {
    const Conversion done = convert(alpha(GetParam().fields), "kubeflow.org/v1");
    ASSERT_THAT(done.problems, IsEmpty());
    const json::value& spec = done.object.at("spec");
    const json::value& worker = spec.at("mpiReplicaSpecs").at("Worker");
    EXPECT_EQ(worker.at("replicas"), GetParam().workers);
    const json::value& container = worker.at("template").at("spec").at("containers").at(0);
    EXPECT_EQ(container.at("resources").at("limits"), json::parse(GetParam().limits));
    EXPECT_FALSE(container.as_object().contains("command"));
    EXPECT_EQ(spec.at("slotsPerWorker"), GetParam().slots);
    const json::value& launcher =
        spec.at("mpiReplicaSpecs").at("Launcher").at("template").at("spec").at("containers").at(0);
    EXPECT_FALSE(launcher.as_object().contains("resources"));
    EXPECT_EQ(launcher.at("command"), json::parse(R"(["mpirun","x"])"));
    EXPECT_THAT(review(*find_kind("kubeflow.org/v1", "MPIJob"), done.object).problems, IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(
    , MpiSizes,
    testing::Values(
        SizeRow{"OneGpuEach", R"("gpus":4)", 4, R"({"nvidia.com/gpu":1})", 1},
        SizeRow{"WholeNodes", R"("gpus":32,"gpusPerNode":8)", 4, R"({"nvidia.com/gpu":8})", 8},
        SizeRow{"LessThanANode", R"("gpus":2,"gpusPerNode":8)", 1, R"({"nvidia.com/gpu":2})", 2},
        SizeRow{"Cpus",
                R"("processingUnits":8,"processingUnitsPerNode":4,"processingResourceType":"cpu")",
                2, R"({"cpu":4})", 4},
        SizeRow{"SlotsAsWritten", R"("gpus":8,"gpusPerNode":4,"slotsPerWorker":2)", 2,
                R"({"nvidia.com/gpu":4})", 2}),
    [](const auto& row) { return row.param.name; });

TEST(MpiV1Alpha1, ReplicasTakeTheUnitsOfTheTemplate) {
    json::value given = alpha(R"("replicas":3)");
    given.at("spec").at("template").at("spec").at("containers").at(0).as_object()["resources"] =
        json::parse(R"({"limits":{"nvidia.com/gpu":4}})");
    const Conversion done = convert(given, "kubeflow.org/v1");
    ASSERT_THAT(done.problems, IsEmpty());
    EXPECT_EQ(done.object.at("spec").at("slotsPerWorker"), 4);
    EXPECT_EQ(done.object.at("spec").at("mpiReplicaSpecs").at("Worker").at("replicas"), 3);
    EXPECT_EQ(there_and_back(given, "kubeflow.org/v1"), json::serialize(given));
    // Edited as a whole: the number that was is not put back beside the new one.
    json::value edited = done.object;
    edited.at("spec").at("mpiReplicaSpecs").at("Worker").as_object()["replicas"] = 5;
    const json::value back = convert(edited, "kubeflow.org/v1alpha1").object;
    EXPECT_EQ(back.at("spec").at("replicas"), 5);
    EXPECT_EQ(back.at("spec").at("template").at("spec").at("containers").at(0).at("resources"),
              json::parse(R"({"limits":{"nvidia.com/gpu":4}})"));
}

// It could not come back: a job of that version has workers.
TEST(MpiV1Alpha1, AJobWithoutWorkersIsRefused) {
    for (const char* replicas : {"0", "-1", "\"some\"", "null"}) {
        json::value now = convert(alpha(R"("gpus":4)"), "kubeflow.org/v1").object;
        now.at("spec").at("mpiReplicaSpecs").at("Worker").as_object()["replicas"] =
            json::parse(replicas);
        EXPECT_THAT(convert(now, "kubeflow.org/v1alpha1").problems,
                    ElementsAre(AllOf(Field(&Cause::field, "spec.mpiReplicaSpecs.Worker.replicas"),
                                      Field(&Cause::reason, "FieldValueInvalid"))))
            << replicas;
    }
}

TEST(MpiV1Alpha1, AnEditedNumberOfWorkersReplacesTheGpus) {
    json::value now = convert(alpha(R"("gpus":4)"), "kubeflow.org/v1").object;
    now.at("spec").at("mpiReplicaSpecs").at("Worker").as_object()["replicas"] = 6;
    const json::value back = convert(now, "kubeflow.org/v1alpha1").object;
    const json::value& spec = back.at("spec");
    EXPECT_EQ(spec.at("replicas"), 6);
    EXPECT_FALSE(spec.as_object().contains("gpus"));
}

TEST(MpiV1Alpha1, KeepsItsLifeAndItsPlaces) {
    const Conversion done = convert(
        alpha(R"("gpus":1,"backoffLimit":2,"activeDeadlineSeconds":9,"launcherOnMaster":true)"),
        "kubeflow.org/v1");
    const json::value& spec = done.object.at("spec");
    EXPECT_EQ(
        spec.at("runPolicy"),
        json::parse(R"({"cleanPodPolicy":"Running","backoffLimit":2,"activeDeadlineSeconds":9})"));
    EXPECT_EQ(spec.at("mpiReplicaSpecs")
                  .at("Launcher")
                  .at("template")
                  .at("spec")
                  .at("tolerations")
                  .at(0)
                  .at("key"),
              "node-role.kubernetes.io/master");
    EXPECT_EQ(
        origin_of(done.origins, "spec.mpiReplicaSpecs.Worker.template.spec.containers[0].image"),
        "spec.template.spec.containers[0].image");
    EXPECT_EQ(origin_of(done.origins,
                        "spec.mpiReplicaSpecs.Worker.template.spec.containers[0].resources.limits["
                        "nvidia.com/gpu]"),
              "spec.gpus");
    EXPECT_EQ(origin_of(done.origins, "spec.mpiReplicaSpecs.Worker.replicas"), "spec.gpus");
    EXPECT_EQ(origin_of(done.origins, "spec.runPolicy.backoffLimit"), "spec.backoffLimit");
    const Conversion plain = convert(alpha(R"("gpus":1)"), "kubeflow.org/v1");
    EXPECT_EQ(plain.object.at("spec").at("runPolicy").at("backoffLimit"), 6);
}

TEST(MpiV1Alpha1, IsRefusedWhereItsSizeMakesNoSense) {
    const auto field_of = [](const std::string& fields) {
        const Conversion done = convert(alpha(fields), "kubeflow.org/v1");
        return done.problems.size() == 1 ? done.problems[0].field : "";
    };
    EXPECT_EQ(field_of(R"("slotsPerWorker":1)"), "spec");
    EXPECT_EQ(field_of(R"("gpus":1,"replicas":1)"), "spec.replicas");
    EXPECT_EQ(field_of(R"("gpus":12,"gpusPerNode":8)"), "spec.gpus");
    EXPECT_EQ(field_of(R"("gpus":0)"), "spec.gpus");
    EXPECT_EQ(field_of(R"("gpus":"many")"), "spec.gpus");
    EXPECT_EQ(field_of(R"("gpus":8,"gpusPerNode":0)"), "spec.gpusPerNode");
    EXPECT_EQ(field_of(R"("processingUnits":3,"processingUnitsPerNode":2)"),
              "spec.processingUnits");
    const Conversion bare =
        convert(manifest("kubeflow.org/v1alpha1", "MPIJob", R"({"gpus":1})"), "kubeflow.org/v1");
    EXPECT_THAT(bare.problems, ElementsAre(Field(&Cause::field, "spec.template")));
}

// --- among served versions

TEST(Conversion, AVersionsConventionsAreWrittenWhereTheyAreAnothers) {
    const json::value given = manifest("kubeflow.org/v1", "MPIJob", R"({"mpiReplicaSpecs":{}})");
    const Conversion done = convert(given, "kubeflow.org/v2beta1");
    EXPECT_EQ(json::serialize(done.object.at("spec")), R"({"mpiReplicaSpecs":{},"dialect":"v1"})");
    EXPECT_THAT(done.changes, ElementsAre(Field(&Cause::message, HasSubstr("still hold"))));
    EXPECT_EQ(there_and_back(given, "kubeflow.org/v2beta1"), json::serialize(given));
    const Conversion same =
        convert(manifest("kubeflow.org/v1alpha2", "MPIJob", R"({"mpiReplicaSpecs":{}})"),
                "kubeflow.org/v1");
    EXPECT_EQ(json::serialize(same.object.at("spec")), R"({"mpiReplicaSpecs":{}})");
    EXPECT_THAT(same.changes, IsEmpty());
}

TEST(Conversion, GoesThroughTheVersionsInBetween) {
    const Conversion done =
        convert(alpha(R"("gpus":2,"backoffLimit":"x")"), "kubeflow.org/v2beta1");
    EXPECT_EQ(done.object.at("spec").at("dialect"), "v1");
    EXPECT_EQ(origin_of(done.origins, "spec.runPolicy.backoffLimit"), "spec.backoffLimit");
    EXPECT_EQ(origin_of(done.origins, "spec.mpiReplicaSpecs.Worker.replicas"), "spec.gpus");
    const json::value given = alpha(R"("gpus":2)");
    EXPECT_EQ(there_and_back(given, "kubeflow.org/v2beta1"), json::serialize(given));
    const json::value beta =
        manifest("kubeflow.org/v1beta1", "TFJob", R"({"tfReplicaSpecs":{},"backoffLimit":1})");
    EXPECT_EQ(there_and_back(beta, "kubeflow.org/v1beta2"), json::serialize(beta));
}

TEST(Conversion, AnObjectOfAnyShapeIsTaken) {
    for (
        const char* text :
        {"1", "[]", "{}", R"({"kind":"TFJob","apiVersion":"kubeflow.org/v1beta1"})",
         R"({"kind":"TFJob","apiVersion":"kubeflow.org/v1beta1","spec":[]})",
         R"({"kind":"TFJob","apiVersion":"kubeflow.org/v1beta1","spec":{"runPolicy":3,"backoffLimit":{}}})",
         R"({"kind":"MPIJob","apiVersion":"kubeflow.org/v1alpha1","spec":{"gpus":1,"template":{"spec":{"containers":[7]}}}})",
         R"({"kind":"MPIJob","apiVersion":"kubeflow.org/v1alpha1","spec":{"gpus":1,"template":{"spec":{"containers":{}}}}})"})
        for (const std::string& version : versions_of("MPIJob"))
            convert(json::parse(text), version);
    for (const char* metadata : {"7", R"({"annotations":[]})"}) {
        json::value given = manifest("kubeflow.org/v1beta1", "TFJob", R"({"tfReplicaSpecs":{}})");
        given.as_object()["metadata"] = json::parse(metadata);
        EXPECT_EQ(convert(given, "kubeflow.org/v1").object.at("metadata"), json::parse(metadata))
            << "what is wrong stays, for the check to say so";
    }
}

// --- there and back

/// Turns a manifest into one like it: fields go, come, change place and value.
class Mutation {
  public:
    explicit Mutation(std::uint64_t seed) : rng_(seed) {}

    json::value of(const json::value& manifest, const json::object& spare) {
        json::value changed = manifest;
        json::object& spec = changed.at("spec").as_object();
        shuffle(spec);
        for (const auto& [key, value] : spare)
            if (rng_.chance(0.4)) spec.emplace(key, value);
        if (rng_.chance(0.5)) shuffle(spec);
        if (rng_.chance(0.3)) changed.at("metadata").as_object()["annotations"] = {{"a", "b"}};
        touch(spec, 0);
        return changed;
    }

  private:
    void shuffle(json::object& object) {
        std::vector<std::pair<std::string, json::value>> all;
        for (const auto& [key, value] : object) all.emplace_back(key, value);
        object.clear();
        while (!all.empty()) {
            const std::size_t at = rng_.below(all.size());
            object.emplace(all[at].first, all[at].second);
            all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
        }
    }
    void touch(json::value& value, int depth) {
        if (json::object* object = value.if_object()) touch(*object, depth);
        if (json::array* list = value.if_array())
            for (json::value& item : *list) touch(item, depth + 1);
    }
    void touch(json::object& object, int depth) {
        if (rng_.chance(0.3)) shuffle(object);
        // Not the size, nor what every version needs.
        if (depth > 1 && rng_.chance(0.1)) object["extra"] = {{"deep", json::array{1, "two"}}};
        for (auto& [key, value] : object) touch(value, depth + 1);
    }

    Rng rng_;
};

struct Family {
    std::string kind;
    std::string version;
    std::string spec;
    std::string spare;  ///< fields that may come
};
const std::vector<Family>& families() {
    static const std::vector<Family> all = {
        {"TFJob", "kubeflow.org/v1beta1",
         R"({"tfReplicaSpecs":{"PS":{"replicas":2,"template":{"spec":{"containers":[{"name":"tensorflow","image":"x"}]}}}}})",
         R"({"cleanPodPolicy":"All","ttlSecondsAfterFinished":1,"activeDeadlineSeconds":2,"backoffLimit":3,"tfRpcLayer":"grpc","typo":1})"},
        {"TFJob", "kubeflow.org/v1",
         R"({"tfReplicaSpecs":{"Worker":{"template":{"spec":{"containers":[]}}}}})",
         R"({"runPolicy":{"suspend":true,"cleanPodPolicy":"None","backoffLimit":4},"successPolicy":"AllWorkers","enableDynamicWorker":true,"cleanPodPolicy":"Running"})"},
        {"PyTorchJob", "kubeflow.org/v1beta2",
         R"({"pytorchReplicaSpecs":{"Master":{"template":{}}}})",
         R"({"cleanPodPolicy":"","ttlSecondsAfterFinished":1,"backoffLimit":3,"runPolicy":{"suspend":false}})"},
        {"PyTorchJob", "kubeflow.org/v1", R"({"pytorchReplicaSpecs":{"Master":{"template":{}}}})",
         R"({"runPolicy":{"ttlSecondsAfterFinished":1},"elasticPolicy":{"maxReplicas":2},"nprocPerNode":"1","status":3})"},
        {"MPIJob", "kubeflow.org/v1alpha1",
         R"({"gpus":8,"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never","containers":[{"command":["a"],"resources":{"limits":{"cpu":1}},"name":"m","image":"i"},{"name":"n","args":["x"],"resources":{}}]}}})",
         R"({"gpusPerNode":4,"slotsPerWorker":2,"backoffLimit":1,"activeDeadlineSeconds":5,"launcherOnMaster":true,"typo":{"a":1}})"},
        {"MPIJob", "kubeflow.org/v1",
         R"({"mpiReplicaSpecs":{"Launcher":{"replicas":1,"template":{"spec":{"containers":[{"name":"m","image":"i"}]}}},"Worker":{"replicas":2,"template":{"spec":{"containers":[{"name":"w","image":"j","resources":{"limits":{"cpu":1}}}]}}}}})",
         R"({"slotsPerWorker":2,"dialect":"v2beta1","runPolicy":{"suspend":true,"backoffLimit":0},"backoffLimit":1,"mainContainer":"w","cleanPodPolicy":"All"})"},
        {"MPIJob", "kubeflow.org/v2beta1",
         R"({"mpiReplicaSpecs":{"Launcher":{"replicas":1,"template":{"spec":{"containers":[{"name":"m","image":"i"}]}}},"Worker":{"replicas":2,"template":{}}}})",
         R"({"slotsPerWorker":2,"dialect":"v1","sshAuthMountPath":"/k","mpiImplementation":"Intel"})"},
    };
    return all;
}

TEST(ConversionProperty, ThereAndBackIsTheSameText) {
    for (const Family& family : families()) {
        const json::value base = manifest(family.version, family.kind, family.spec);
        const json::object spare = json::parse(family.spare).as_object();
        for (std::uint64_t seed = 0; seed < 60; ++seed) {
            const json::value given = Mutation(seed).of(base, spare);
            for (const std::string& version : versions_of(family.kind)) {
                SCOPED_TRACE(version + " seed " + std::to_string(seed) + " " +
                             json::serialize(given));
                ASSERT_EQ(there_and_back(given, version), json::serialize(given));
                // Once more: what is kept does not grow.
                const json::value there = convert(given, version).object;
                const json::value again =
                    convert(convert(there, family.version).object, version).object;
                ASSERT_EQ(json::serialize(again), json::serialize(there));
            }
        }
    }
}

}  // namespace
}  // namespace muster::jobs::conversion_test
