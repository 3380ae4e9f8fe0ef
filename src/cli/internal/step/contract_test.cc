#include "cli/internal/step/contract.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace muster::cli::contract_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

StepWords words() {
    StepWords made;
    made.kind = "pytorch";
    made.command = "python3 train.py";
    made.image = "train:1";
    return made;
}

/// "WHERE: WHAT" of each problem.
std::vector<std::string> problems(const StepWords& said,
                                  const std::vector<std::string>& environment) {
    std::vector<std::string> all;
    for (const StepProblem& one : read_contract(said, environment, 1).problems)
        all.push_back(one.where + ": " + one.what);
    return all;
}

std::string name(const std::vector<std::string>& environment, std::uint64_t random = 1,
                 const std::string& workers = "") {
    StepWords said = words();
    said.num_worker = workers;
    const Contract contract = read_contract(said, environment, random);
    EXPECT_THAT(contract.problems, IsEmpty());
    return contract.request.name;
}

TEST(StepContract, EachProblemNamesItsVariableOrFlagAndAllAreTold) {
    StepWords said;
    said.kind = "pytorch";
    said.num_worker = "many";
    said.num_ps = "2";
    said.env = {"=x"};
    said.tolerations = {"gpu:Never"};
    said.options = {{"gang", "perhaps"},
                    {"topology", "ring"},
                    {"timeout", "soon"},
                    {"push-metrics", "ftp://gateway"}};
    EXPECT_THAT(
        problems(said, {"KFJ_RUN_ID=a b", "KFJ_NAMESPACE=My_Space", "KFJ_TASK_NODE_SELECTOR=cpu",
                        "KFJ_TASK_VOLUME_MOUNT=x", "KFJ_TASK_RESOURCE_CPU=a lot",
                        "KFJ_TASK_RESOURCE_MEMORY=4G~2G", "KFJ_TASK_RESOURCE_GPU=two",
                        "KFJ_TASK_RESOURCE_RDMA=x", "DEFAULT_POD_RESOURCES=[1]", "HUBSECRET=A B",
                        "MUSTER_STEP_RESTART_POLICY=Sometimes", "MUSTER_STEP_STUCK_AFTER=never"}),
        testing::UnorderedElementsAre(
            HasSubstr("KFJ_RUN_ID: \"a b\" can't be the value of a label"),
            HasSubstr("KFJ_NAMESPACE: \"My_Space\" can't be the name of a namespace"),
            HasSubstr("--command: say what the pods run"), HasSubstr("--image: name the image"),
            HasSubstr("--num_worker: \"many\" is no whole number from 1"),
            HasSubstr("--num_ps: a job of PyTorchJob has no parameter servers"),
            HasSubstr("HUBSECRET: \"A B\" can't be the name of a Secret"),
            HasSubstr("KFJ_TASK_RESOURCE_CPU: \"a lot\" is no quantity"),
            HasSubstr("KFJ_TASK_RESOURCE_MEMORY: \"4G~2G\" is no quantity"),
            HasSubstr("DEFAULT_POD_RESOURCES: it must be a JSON object"),
            HasSubstr("KFJ_TASK_RESOURCE_GPU: \"two\" is no number of GPUs"),
            HasSubstr("KFJ_TASK_RESOURCE_RDMA: \"x\" is no whole number from 0"),
            HasSubstr("--env: \"=x\" is no NAME=VALUE"),
            HasSubstr("KFJ_TASK_VOLUME_MOUNT: \"x\" does not say its kind"),
            HasSubstr("KFJ_TASK_NODE_SELECTOR: \"cpu\" is no key=value"),
            HasSubstr("--toleration: \"gpu:Never\" is no KEY[=VALUE][:EFFECT]"),
            HasSubstr("--gang: \"perhaps\" is neither true nor false"),
            HasSubstr("--topology: \"ring\" must be one of spread, pack, any"),
            HasSubstr("MUSTER_STEP_RESTART_POLICY: \"Sometimes\" must be one of Never, OnFailure"),
            HasSubstr("--timeout: \"soon\" is no time such as"),
            HasSubstr("--push-metrics: \"ftp://gateway\" is no address of a Pushgateway, such as"),
            HasSubstr("MUSTER_STEP_STUCK_AFTER: \"never\" is no time such as")));
}

TEST(StepContract, AnUnknownKindIsToldWithTheKnownOnes) {
    StepWords said = words();
    said.kind = "caffe";
    EXPECT_THAT(problems(said, {}),
                ElementsAre("KIND: \"caffe\" is no kind of job: it is pytorch, tf, horovod, mpi, "
                            "mxnet, paddle, jax, xgboost, deepspeed"));
}

TEST(StepContract, AFlagComesBeforeOurVariableAndThatBeforeThePlatforms) {
    StepWords said = words();
    const auto cpu = [&](const std::vector<std::string>& environment) {
        return read_contract(said, environment, 1).request.cpu.limit;
    };
    EXPECT_EQ(cpu({"KFJ_TASK_RESOURCE_CPU=1"}), "1");
    EXPECT_EQ(cpu({"KFJ_TASK_RESOURCE_CPU=1", "MUSTER_STEP_CPU=2"}), "2");
    said.options["cpu"] = "3";
    EXPECT_EQ(cpu({"KFJ_TASK_RESOURCE_CPU=1", "MUSTER_STEP_CPU=2"}), "3");
}

TEST(StepContract, ARangeIsARequestAndALimit) {
    const StepRequest request =
        read_contract(words(), {"KFJ_TASK_RESOURCE_CPU=2~4", "KFJ_TASK_RESOURCE_MEMORY=4G"}, 1)
            .request;
    EXPECT_EQ(request.cpu.request, "2");
    EXPECT_EQ(request.cpu.limit, "4");
    EXPECT_EQ(request.memory.request, "4G");
    EXPECT_EQ(request.memory.limit, "4G");
}

TEST(StepContract, TheNameKeepsItsHashAndItsPodsHaveNames) {
    const std::string pipeline(200, 'p');
    const std::vector<std::string> first = {"KFJ_PIPELINE_NAME=" + pipeline, "KFJ_RUN_ID=r",
                                            "KFJ_TASK_ID=1"};
    const std::vector<std::string> second = {"KFJ_PIPELINE_NAME=" + pipeline, "KFJ_RUN_ID=r",
                                             "KFJ_TASK_ID=2"};
    EXPECT_EQ(name(first).size(), 54u);
    EXPECT_NE(name(first), name(second)) << "two steps of one run are two jobs";
    EXPECT_EQ(name(first, 1), name(first, 2)) << "a step that is tried again makes the same job";
    EXPECT_LE(name(first, 1, "1001").size() + std::string("-worker-1000").size(), 63u);
    EXPECT_NE(name({"KFJ_PIPELINE_NAME=p"}, 1), name({"KFJ_PIPELINE_NAME=p"}, 2));
    EXPECT_NE(name({"KFJ_RUN_ID=1", "KFJ_TASK_ID=12"}), name({"KFJ_RUN_ID=11", "KFJ_TASK_ID=2"}));
    EXPECT_EQ(step_job_name("tfjob", "My__Pipe.line \xe4\xb8\xad", 0x1f, 54),
              "tfjob-my-pipe-line-0000001f");
    EXPECT_EQ(step_job_name("tfjob", "", 0x1f, 54), "tfjob-0000001f");
    EXPECT_EQ(step_job_name("tfjob", "___", 0x1f, 54), "tfjob-0000001f");
}

TEST(StepContract, ANameForPeopleIsMadeToFitAndOneThatJobsAreFoundByIsNot) {
    const Contract contract =
        read_contract(words(), {"KFJ_CREATOR=ann@example.org", "KFJ_TASK_NAME=first step!"}, 1);
    EXPECT_THAT(contract.problems, IsEmpty());
    EXPECT_EQ(contract.request.job_labels.at("pipeline-username"), "ann-example.org");
    EXPECT_EQ(contract.request.job_labels.at("task-name"), "first-step");
    EXPECT_THAT(contract.notices, ElementsAre(HasSubstr("KFJ_TASK_NAME: \"first step!\""),
                                              HasSubstr("KFJ_CREATOR: \"ann@example.org\"")));
    EXPECT_THAT(problems(words(), {"KFJ_TASK_ID=4 2"}), ElementsAre(HasSubstr("KFJ_TASK_ID: ")));
}

TEST(StepContract, RdmaWithoutItsResourceIsRefused) {
    EXPECT_THAT(problems(words(), {"KFJ_TASK_RESOURCE_RDMA=1"}),
                ElementsAre(HasSubstr("RDMA_RESOURCE_NAME: KFJ_TASK_RESOURCE_RDMA asks for RDMA")));
}

TEST(StepContract, APasswordIsNotTold) {
    StepWords said = words();
    said.options = {{"push-metrics", "http://ann:secret@gateway"}};
    EXPECT_THAT(problems(said, {}), testing::ElementsAre(testing::AllOf(
                                        HasSubstr("--push-metrics: the address has a user in it"),
                                        testing::Not(HasSubstr("secret")))));
}

TEST(StepContract, EachOptionHasAVariable) {
    for (const StepOption& option : step_options()) {
        std::string variable = "MUSTER_STEP_";
        for (const char c : option.name)
            variable += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
        // No option takes this, or it has the value of it.
        const Contract with = read_contract(words(), {variable + "=\x01 no value"}, 1);
        StepWords said = words();
        said.options[std::string(option.name)] = "\x01 no value";
        const Contract by_flag = read_contract(said, {}, 1);
        EXPECT_EQ(with.problems.size(), by_flag.problems.size()) << option.name;
        if (!with.problems.empty()) {
            EXPECT_EQ(with.problems[0].where, variable);
            EXPECT_EQ(by_flag.problems[0].where, fmt::format("--{}", option.name));
        }
    }
}

}  // namespace
}  // namespace muster::cli::contract_test
