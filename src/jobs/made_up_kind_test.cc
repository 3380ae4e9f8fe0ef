#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/internal/spec_binding.h"
#include "jobs/internal/test_manifest.h"
#include "jobs/internal/variables.h"

// A kind that exists only here goes all the way: schema, load, defaults, pods, services, verdict.
// What this file needed is all that a new kind needs. It differs from PyTorchJob in everything that
// JobKind has data for.

namespace muster::jobs::made_up_kind_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

struct Score {
    std::int32_t tempo = 0;
};
BOOST_DESCRIBE_STRUCT(Score, (), (tempo))

struct OrchestraJobSpec {
    RunPolicy run_policy;
    std::map<std::string, ReplicaSpec> players;
    std::optional<Score> score;
};
BOOST_DESCRIBE_STRUCT(OrchestraJobSpec, (), (run_policy, players, score))

FieldNotes field_notes(const OrchestraJobSpec*) {
    return {{.member = "players", .text = "Who plays.", .required = true},
            {.member = "score", .text = "What is played."}};
}

JobKind orchestrajob(std::string version = "v1") {
    JobKind kind;
    kind.resource = {.group = "music.example.org",
                     .version = std::move(version),
                     .plural = "orchestrajobs",
                     .kind = "OrchestraJob"};
    kind.replicas_field = "players";
    kind.replica_types = {
        {.name = "Conductor", .only_replicas = 1, .required = true, .numbered = false},
        {.name = "Violin",
         .default_replicas = 4,
         .default_restart_policy = "OnFailure",
         .restart_policies = {"Never", "OnFailure"}}};
    kind.default_restart_policy = "Never";
    kind.services = false;
    kind.env_target = EnvTarget::kDefaultContainer;
    bind_spec(kind, &OrchestraJobSpec::players);
    kind.own_defaults = [](Job& job) {
        auto& spec = spec_of<OrchestraJobSpec>(job);
        if (!spec.score) spec.score = Score{.tempo = 60};
    };
    kind.own_rules = [](const Job& job) -> std::vector<Cause> {
        const auto& spec = spec_of<OrchestraJobSpec>(job);
        if (!spec.score || spec.score->tempo < 300) return {};
        return {{"FieldValueInvalid", "nobody plays that fast", "spec.score.tempo"}};
    };
    kind.environment = [](const Job& job,
                          const ReplicaId& replica) -> Result<std::vector<Variable>> {
        const std::int32_t tempo = spec_of<OrchestraJobSpec>(job).score->tempo;
        Variables variables;
        variables.add("TEMPO", std::to_string(tempo), "spec.score.tempo");
        variables.add("SEAT", fmt::format("{}/{}", replica.type, replica.index), "type and index");
        return variables.take();
    };
    kind.own_replica_name = [](std::string_view job, const ReplicaId& replica) {
        return replica.type == "Conductor" ? std::string()
                                           : fmt::format("{}-seat-{}", job, replica.index + 1);
    };
    kind.finish_pod = [](const Job&, const ReplicaId& replica, kube::Pod& pod) {
        if (replica.type == "Violin" && pod.spec.containers[0].command.empty())
            pod.spec.containers[0].command = {"tune", "--wait"};
    };
    kind.starts_after = [](const Job&, const std::string& type) {
        return type == "Conductor" ? std::string("Violin") : std::string();
    };
    kind.success_policy = [](const Job&) {
        return SuccessPolicy{.type = 1, .enough = SuccessPolicy::Enough::kFirst};
    };
    return kind;
}

json::value manifest(const std::vector<Edit>& edits = {}) {
    json::value object = json::parse(R"({
        "apiVersion": "music.example.org/v1", "kind": "OrchestraJob",
        "metadata": {"name": "ninth", "namespace": "hall"},
        "spec": {"players": {
            "Conductor": {"template": {"spec": {"containers": [{"name": "a", "image": "x"}]}}},
            "Violin": {"template": {"spec": {"containers": [
                {"name": "b", "image": "x"}, {"name": "c", "image": "y"}]}}}}}})");
    for (const Edit& edit : edits) apply_edit(object, edit.path, edit.value);
    return object;
}

TEST(MadeUpKind, IsLoadedAndDefaulted) {
    const JobKind kind = orchestrajob();
    const auto job = load(kind, manifest());
    ASSERT_TRUE(job.has_value()) << job.error().message();
    EXPECT_EQ(job->replica("Conductor")->replicas, 1);
    EXPECT_EQ(job->replica("Violin")->replicas, 4);
    EXPECT_EQ(job->replica("Conductor")->restart_policy, "Never");
    EXPECT_EQ(job->replica("Violin")->restart_policy, "OnFailure");
    EXPECT_TRUE(job->replica("Violin")->template_.spec.containers[0].ports.empty());
    EXPECT_EQ(spec_of<OrchestraJobSpec>(*job).score->tempo, 60);
}

TEST(MadeUpKind, IsCheckedByItsDataAndItsOwnRules) {
    const JobKind kind = orchestrajob();
    EXPECT_THAT(review(kind, manifest({{"spec/players/Conductor", ""},
                                       {"spec/players/Violn", "{}"},
                                       {"spec/score/tempo", "300"}}))
                    .problems,
                ElementsAre(Field(&Cause::field, "spec.players.Violn"),
                            AllOf(Field(&Cause::field, "spec.players.Conductor"),
                                  Field(&Cause::reason, "FieldValueRequired")),
                            Field(&Cause::message, "nobody plays that fast")));
    EXPECT_THAT(review(kind, manifest({{"spec/players/Conductor/replicas", "2"}})).problems,
                ElementsAre(Field(&Cause::message, HasSubstr("\"Violin\""))));
    EXPECT_THAT(
        review(kind, manifest({{"spec/players/Conductor/restartPolicy", R"("Always")"},
                               {"spec/players/Violin/restartPolicy", R"("Always")"}}))
            .problems,
        ElementsAre(AllOf(Field(&Cause::field, "spec.players.Violin.restartPolicy"),
                          Field(&Cause::reason, "FieldValueNotSupported"),
                          Field(&Cause::message, HasSubstr("\"Never\" or \"OnFailure\"")))));
    EXPECT_THAT(
        review(kind, manifest({{"spec/players/Violin/restartPolicy", R"("Allways")"}})).problems,
        ElementsAre(Field(&Cause::message, HasSubstr("\"Always\""))));
    EXPECT_THAT(review(kind, manifest({{"spec/score/tempo", R"("allegro")"}})).problems,
                ElementsAre(AllOf(Field(&Cause::field, "spec.score.tempo"),
                                  Field(&Cause::reason, "FieldValueTypeInvalid"))));
}

TEST(MadeUpKind, GivesPods) {
    const JobKind kind = orchestrajob();
    const Job job = load(kind, manifest()).value();
    const kube::Pod conductor = build_pod(job, {"Conductor", 0}).value();
    EXPECT_EQ(conductor.metadata.name, "ninth-conductor");
    EXPECT_EQ(conductor.metadata.labels.at("training.kubeflow.org/operator-name"),
              "orchestrajob-controller");
    EXPECT_FALSE(conductor.metadata.labels.contains("training.kubeflow.org/job-role"));
    EXPECT_FALSE(conductor.metadata.labels.contains("training.kubeflow.org/replica-index"));

    const kube::Pod violin = build_pod(job, {"Violin", 3}).value();
    EXPECT_EQ(violin.metadata.name, "ninth-seat-4");
    EXPECT_THAT(violin.spec.containers[0].command, ElementsAre("tune", "--wait"));
    EXPECT_THAT(
        violin.spec.containers[0].env,
        ElementsAre(Field(&kube::EnvVar::value, "60"), Field(&kube::EnvVar::value, "Violin/3")));
    EXPECT_TRUE(violin.spec.containers[1].env.empty());
}

TEST(MadeUpKind, Decides) {
    const JobKind kind = orchestrajob();
    const Job job = load(kind, manifest()).value();
    const SuccessPolicy success_policy = kind.success_policy(job);
    EXPECT_EQ(judge(kind, success_policy, "hall", "ninth", {}).outcome, Outcome::kPending);
    const Verdict done =
        judge(kind, success_policy, "hall", "ninth", {.wanted = 4, .first_succeeded = true});
    EXPECT_EQ(done.outcome, Outcome::kSucceeded);
    EXPECT_EQ(done.message, "OrchestraJob ninth is successfully completed.");
}

TEST(MadeUpKind, SaysWhetherItsReplicasRestartTogether) {
    ReplicaType type;
    struct Case {
        bool of_the_type;
        const char* said;
        bool together;
    };
    for (const Case& row : std::initializer_list<Case>{{false, "", false},
                                                       {false, "group", true},
                                                       {false, "replica", false},
                                                       {false, "all", false},
                                                       {true, "", true},
                                                       {true, "group", true},
                                                       {true, "replica", false},
                                                       {true, "all", true}}) {
        type.restarts_all = row.of_the_type;
        EXPECT_EQ(restarts_all(type, row.said), row.together) << row.of_the_type << " " << row.said;
    }
}

// Which frameworks accept a replica that starts alone, and which wait without end:
// docs/failures.md.
TEST(Kinds, SayWhoseFailureRestartsAll) {
    const std::map<std::string, std::vector<std::string>> together{
        {"MPIJob", {"Worker"}},
        {"MXJob", {"Scheduler", "Server", "Worker"}},
        {"PaddleJob", {"Master", "Worker"}},
        {"XGBoostJob", {"Master", "Worker"}}};
    for (const JobKind* kind : all_kinds()) {
        std::vector<std::string> found;
        for (const ReplicaType& type : kind->replica_types)
            if (type.restarts_all) found.push_back(type.name);
        const auto wanted = together.find(kind->resource.kind);
        EXPECT_EQ(found, wanted == together.end() ? std::vector<std::string>() : wanted->second)
            << kind->resource.kind;
    }
}

TEST(MadeUpKind, HasASchemaFromItsStruct) {
    const JobKind kind = orchestrajob();
    const json::value crd = custom_resource_definition(kind);
    EXPECT_EQ(crd.at_pointer("/metadata/name"), "orchestrajobs.music.example.org");
    const json::value& version = crd.at_pointer("/spec/versions/0");
    EXPECT_EQ(version.at_pointer("/subresources"), json::parse(R"({"status":{}})"));
    const json::value& spec =
        version.at_pointer("/schema/openAPIV3Schema/properties/spec/properties");
    EXPECT_EQ(spec.at_pointer("/score/properties/tempo/type"), "integer");
    EXPECT_EQ(spec.at_pointer("/players/description"), "Who plays.");
    EXPECT_EQ(
        kube::find_unknown(*object_schema(kind), manifest({{"spec/skore", "{}"}})).at(0).nearest,
        "score");
}

TEST(MadeUpKind, VersionsOfOneResourceShareADefinition) {
    const JobKind first = orchestrajob("v2");
    const JobKind second = orchestrajob("v1beta1");
    const std::vector<const JobKind*> kinds{&first, &pytorch_kind(), &second};
    const std::vector<json::value> all = custom_resource_definitions(kinds);
    ASSERT_EQ(all.size(), 2u);
    const auto& versions = all[0].at_pointer("/spec/versions").as_array();
    ASSERT_EQ(versions.size(), 2u);
    EXPECT_EQ(versions[0].at("name"), "v2");
    EXPECT_EQ(versions[0].at("storage"), true);
    EXPECT_EQ(versions[1].at("name"), "v1beta1");
    EXPECT_EQ(versions[1].at("storage"), false);
    EXPECT_EQ(all[1], custom_resource_definition(pytorch_kind()));
}

}  // namespace
}  // namespace muster::jobs::made_up_kind_test
