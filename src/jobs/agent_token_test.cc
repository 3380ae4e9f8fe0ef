#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/internal/test_kinds.h"

// The token of the agents in a job's pods.

namespace muster::jobs::agent_token_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

const JobKind& pytorch() { return *find_kind("kubeflow.org/v1", "PyTorchJob"); }

const std::string kWorkerSpec = "spec/pytorchReplicaSpecs/Worker/template/spec/";
const std::string kFirst = kWorkerSpec + "containers/0/";

Job job_with(std::vector<Edit> edits, bool tokens = true) {
    const json::value manifest =
        manifest_of(pytorch(), {{{"Master", 1}, {"Worker", 2}}, std::move(edits)});
    return load(pytorch(), manifest, {.agent_tokens = tokens}).value();
}

/// "CONTAINER NAME/KEY" of each container that gets the token.
std::vector<std::string> given(const Job& job, const ReplicaId& replica = {"Worker", 0}) {
    std::vector<std::string> found;
    const kube::Pod pod = build_pod(job, replica).value();
    for (const kube::Container& container : pod.spec.containers)
        for (const kube::EnvVar& variable : container.env)
            if (variable.name == "MUSTER_TOKEN" && variable.value_from) {
                const auto& key = variable.value_from->secret_key_ref;
                EXPECT_TRUE(key->optional.value_or(false));
                found.push_back(container.name + " " + key->name + "/" + key->key);
            }
    return found;
}

TEST(AgentToken, GoesToContainersWhoseCommandNamesAnAgent) {
    struct Case {
        std::string command;
        bool gets = false;
    };
    for (const Case& row : std::vector<Case>{
             {R"(["muster-run", "train.py"])", true},
             {R"(["/opt/bin/muster-run", "train.py"])", true},
             {R"(["/opt/muster", "muster-run", "--nproc-per-node=1", "train.py"])", true},
             {R"(["/opt/muster", "muster-run-for", "torchrun", "train.py"])", true},
             {R"(["env", "PYTHON_EXEC=python3", "/opt/muster", "muster-run", "train.py"])", true},
             {R"(["bash", "-c", "cd /work; muster-run train.py"])", true},
             {R"~(["bash", "-c", "(/opt/muster muster-run-for torchrun train.py)"])~", true},
             {R"(["torchrun", "train.py"])", false},
             {R"(["python", "-m", "torch.distributed.run", "train.py"])", false},
             {R"(["python", "/data/muster-run/train.py"])", false},
             {R"(["python", "train.py", "--name=muster-run"])", false},
             {R"(["sh", "-c", "my-muster-run x; muster-runs y"])", false},
             {R"~(["python", "-c", "print('muster-run')"])~", false},
             {R"(["muster-run", "--token-file", "/etc/token", "train.py"])", false},
             {R"(["bash", "-c", "muster-run --token_file=/etc/token train.py"])", false},
         }) {
        const Job job = job_with({{kFirst + "command", row.command}});
        EXPECT_EQ(given(job).size(), row.gets ? 1u : 0u) << row.command;
        EXPECT_EQ(has_owned_objects(job), row.gets) << row.command;
        EXPECT_EQ(pytorch().owned_objects(job, {}).size(), row.gets ? 1u : 0u) << row.command;
        EXPECT_THAT(given(job, {"Master", 0}), IsEmpty()) << "the master's has none";
    }
    EXPECT_THAT(given(job_with({{kFirst + "args", R"(["muster-run", "x"])"}})),
                ElementsAre("pytorch j-muster-token/token"));
}

TEST(AgentToken, GoesToNoOtherContainer) {
    const Job job =
        job_with({{kFirst + "command", R"(["muster-run", "train.py"])"},
                  {kWorkerSpec + "containers/1", R"({"name": "side", "image": "x"})"},
                  {kWorkerSpec + "initContainers", R"([{"name": "i", "image": "x"}])"}});
    EXPECT_THAT(given(job), ElementsAre("pytorch j-muster-token/token"));
    EXPECT_THAT(build_pod(job, {"Worker", 0})->spec.init_containers.front().env, IsEmpty());
}

TEST(AgentToken, OfTheUserIsKept) {
    for (const char* own : {"MUSTER_TOKEN", "MUSTER_TOKEN_FILE"}) {
        const Job job = job_with(
            {{kFirst + "command", R"(["muster-run", "train.py"])"},
             {kFirst + "env", std::string(R"([{"name": ")") + own + R"(", "value": "mine"}])"}});
        EXPECT_THAT(given(job), IsEmpty()) << own;
        EXPECT_FALSE(has_owned_objects(job)) << own;
    }
}

TEST(AgentToken, IsMadeForProgramsThatTheAnnotationSaysAreAgents) {
    const std::vector<Edit> side{{kWorkerSpec + "containers/1", R"({"name": "a", "image": "x"})"},
                                 {"metadata/annotations", R"({"muster.dev/agent": "muster-run"})"}};
    const Job job = job_with(side);
    EXPECT_THAT(given(job), ElementsAre("pytorch j-muster-token/token"));
    EXPECT_THAT(given(job, {"Master", 0}), ElementsAre("pytorch j-muster-token/token"));
    EXPECT_TRUE(has_owned_objects(job));

    json::value other = manifest_of(pytorch(), {{{"Worker", 1}}});
    other.at("metadata").as_object()["annotations"] = {{"muster.dev/agent", "torchrun"}};
    const Review seen = review(pytorch(), other, {.agent_tokens = true});
    EXPECT_FALSE(has_owned_objects(seen.job));
    EXPECT_THAT(seen.warnings,
                ElementsAre(AllOf(Field(&Cause::field, "metadata.annotations[muster.dev/agent]"),
                                  Field(&Cause::reason, "Ineffective"))));
}

TEST(AgentToken, IsNowhereWithoutAPlatformThatGivesIt) {
    const Job job = job_with({{kFirst + "command", R"(["muster-run", "train.py"])"},
                              {"metadata/annotations", R"({"muster.dev/agent": "muster-run"})"}},
                             false);
    EXPECT_THAT(given(job), IsEmpty());
    EXPECT_FALSE(has_owned_objects(job));
    EXPECT_THAT(pytorch().owned_objects(job, {}), IsEmpty());
    EXPECT_THAT(owned_types(pytorch(), {}), IsEmpty());
    EXPECT_THAT(owned_types(pytorch(), {.agent_tokens = true}), ElementsAre(kube::types::kSecrets));
}

TEST(AgentToken, IsRandomAndItsSecretImmutable) {
    const Job job = job_with({{kFirst + "command", R"(["muster-run", "train.py"])"}});
    std::vector<std::string> tokens;
    for (int i = 0; i < 2; ++i) {
        const std::vector<OwnedObject> made = pytorch().owned_objects(job, {});
        ASSERT_EQ(made.size(), 1u);
        EXPECT_EQ(made[0].type, kube::types::kSecrets);
        EXPECT_TRUE(made[0].before_pods_only);
        EXPECT_EQ(made[0].content, (json::object{{"type", "Opaque"}, {"immutable", true}}))
            << "what is printed before it is made";
        json::object content = made[0].content;
        ASSERT_TRUE(made[0].make(content));
        const json::string token = content.at("data").at("token").as_string();
        EXPECT_GE(token.size(), 64u);
        tokens.emplace_back(token);
    }
    EXPECT_NE(tokens[0], tokens[1]);
}

}  // namespace
}  // namespace muster::jobs::agent_token_test
