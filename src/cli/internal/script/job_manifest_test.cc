#include "cli/internal/script/job_manifest.h"

#include <gmock/gmock.h>

#include "cli/internal/script/start_command.h"
#include "kube/values/json_access.h"
#include "manifest/check.h"
#include "manifest/manifest.h"

namespace muster::cli::job_manifest_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

JobRequest request_of(Framework framework, Words command) {
    JobRequest request;
    request.framework = framework;
    request.name = "train";
    request.command = std::move(command);
    return request;
}

/// The errors that the check of a manifest finds.
std::vector<std::string> problems_of(const json::object& job) {
    manifest::Document document;
    document.source = "train.py";
    document.object = job;
    const manifest::CheckResult checked = manifest::check_documents({document}, {.strict = true});
    std::vector<std::string> problems;
    for (const manifest::Problem& problem : checked.problems)
        if (problem.severity == manifest::Severity::kError) problems.push_back(format(problem));
    return problems;
}

TEST(StartCommand, WhatWasTypedIsStartedAsItsFrameworkWants) {
    struct Case {
        Framework framework;
        Words typed;
        Words expected;
    };
    using enum Framework;
    const std::vector<Case> cases = {
        {kPyTorch, {"train.py", "--lr", "0.1"}, {"muster-run", "train.py", "--lr", "0.1"}},
        {kPyTorch, {"python", "train.py"}, {"muster-run", "train.py"}},
        {kPyTorch, {"python3", "-u", "train.py", "-u"}, {"muster-run", "train.py", "-u"}},
        {kPyTorch,
         {"/opt/venv/bin/python", "train.py"},
         {"env", "PYTHON_EXEC=/opt/venv/bin/python", "muster-run", "train.py"}},
        {kPyTorch, {"python", "-m", "pkg.train", "x"}, {"muster-run", "-m", "pkg.train", "x"}},
        {kPyTorch, {"-m", "pkg.train"}, {"muster-run", "-m", "pkg.train"}},
        {kPyTorch,
         {"torchrun", "--nproc-per-node=2", "train.py"},
         {"muster-run", "--nproc-per-node=2", "train.py"}},
        {kPyTorch,
         {"python3", "-m", "torch.distributed.run", "train.py"},
         {"muster-run", "train.py"}},
        {kDeepSpeed, {"train.py"}, {"muster-run", "train.py"}},
        // An agent would replace these, as torchrun does.
        {kPyTorch,
         {"train.py", "$$", "$local_rank", "${local_rank}", "$x"},
         {"muster-run", "--literal-args", "train.py", "$$", "$local_rank", "${local_rank}", "$x"}},
        {kPyTorch,
         {"torchrun", "train.py", "$$local_rank"},
         {"muster-run", "train.py", "$$local_rank"}},
        {kPyTorch,
         {"./train.sh", "a b"},
         {"muster-run", "--no-python", "bash", "./train.sh", "a b"}},
        {kPyTorch,
         {"python", "-c", "print(1)"},
         {"muster-run", "--no-python", "python", "-c", "print(1)"}},
        {kTensorFlow, {"train.py", "$(X) \"q\"\n"}, {"python3", "train.py", "$(X) \"q\"\n"}},
        {kJax, {"-m", "pkg"}, {"python3", "-m", "pkg"}},
        {kXgboost, {"./a.out"}, {"./a.out"}},
        {kMpi,
         {"train.py"},
         {"mpirun", "--allow-run-as-root", "--bind-to", "none", "-np", "6", "python3", "train.py"}},
        {kMpi, {"mpirun", "-np", "2", "./a.out"}, {"mpirun", "-np", "2", "./a.out"}},
        {kPaddle,
         {"train.py"},
         {"python3", "-m", "paddle.distributed.launch", "--nproc_per_node=3", "train.py"}},
        {kPaddle, {"own.sh"}, {"bash", "own.sh"}},
    };
    for (const Case& one : cases) {
        JobRequest request = request_of(one.framework, one.typed);
        request.workers = 2;
        request.processes = "3";
        EXPECT_EQ(start_command(request), one.expected) << testing::PrintToString(one.typed);
    }
}

TEST(StartCommand, RestartsAndSparesAreTheAgents) {
    JobRequest request = request_of(Framework::kPyTorch, {"train.py"});
    request.max_restarts = 3;
    request.warm = true;
    EXPECT_THAT(start_command(request),
                ElementsAre("muster-run", "--max-restarts=3", "--warm", "train.py"));
}

TEST(StartCommand, TheScriptOfACommand) {
    EXPECT_EQ(script_of_command({"a/train.py", "b.py"}), "a/train.py");
    EXPECT_EQ(script_of_command({"python", "-u", "train.py"}), "train.py");
    EXPECT_EQ(script_of_command({"torchrun", "--nnodes", "1", "train.py"}), "train.py");
    EXPECT_EQ(script_of_command({"mpirun", "-np", "2", "python3", "train.py"}), "train.py");
    EXPECT_EQ(script_of_command({"-m", "pkg.train"}), "pkg.train");
    EXPECT_EQ(script_of_command({"python"}), "");
    EXPECT_EQ(script_of_command({"./a.out", "x.py"}), "");
}

TEST(JobManifest, EachKindPassesTheCheck) {
    using enum Framework;
    for (const Framework framework :
         {kPyTorch, kDeepSpeed, kTensorFlow, kJax, kMpi, kHorovod, kXgboost, kPaddle, kMxnet})
        for (const int workers : {1, 3}) {
            JobRequest request = request_of(framework, {"train.py", "--epochs", "3"});
            request.workers = workers;
            request.cpus = "2";
            request.memory = "1Gi";
            request.image = "team/train:3";
            request.labels = {{"team", "a"}};
            request.env = {{"A", "b"}};
            request.deadline = 60;
            request.max_restarts = 2;
            request.priority = "high";
            ASSERT_EQ(impossible(request), std::nullopt) << name_of(framework);
            EXPECT_THAT(problems_of(job_manifest(request)), ElementsAre()) << name_of(framework);
        }
}

TEST(JobManifest, WhatWasAskedForIsInIt) {
    JobRequest request = request_of(Framework::kPyTorch, {"train.py"});
    request.workers = 8;
    request.least = 2;
    request.processes = "auto";
    request.gpus = 4;
    request.max_restarts = 3;
    const json::object job = job_manifest(request);
    const json::value& spec = job.at("spec");
    EXPECT_EQ(spec.at("nprocPerNode"), "auto");
    EXPECT_EQ(
        spec.at("elasticPolicy"),
        (json::object{
            {"minReplicas", 2}, {"maxReplicas", 8}, {"rdzvBackend", "c10d"}, {"maxRestarts", 3}}));
    const json::value& worker = spec.at("pytorchReplicaSpecs").at("Worker");
    EXPECT_EQ(worker.at("replicas"), 8);
    EXPECT_EQ(worker.at("restartPolicy"), "ExitCode");
    const json::value& container = worker.at("template").at("spec").at("containers").at(0);
    EXPECT_EQ(container.at("command"), (json::array{"muster-run", "train.py"}));
    EXPECT_EQ(container.at("resources").at("limits"), (json::object{{"nvidia.com/gpu", 4}}));
    EXPECT_THAT(problems_of(job), ElementsAre());
}

TEST(JobManifest, WordsStayAsTheyWereTyped) {
    const JobRequest request =
        request_of(Framework::kJax, {"a.out", "$(HOME)", "$$(X)", "a$b", "$$", "'\"\n"});
    const json::object job = job_manifest(request);
    const json::value& container = job.at("spec")
                                       .at("jaxReplicaSpecs")
                                       .at("Worker")
                                       .at("template")
                                       .at("spec")
                                       .at("containers")
                                       .at(0);
    EXPECT_EQ(container.at("command"),
              (json::array{"a.out", "$$(HOME)", "$$$$(X)", "a$b", "$$$", "'\"\n"}));
}

TEST(JobManifest, WhatAFrameworkCantDoIsSaid) {
    JobRequest elastic = request_of(Framework::kJax, {"train.py"});
    elastic.least = 1;
    EXPECT_THAT(impossible(elastic).value_or(""), HasSubstr("only PyTorch's jobs are elastic"));
    JobRequest many = request_of(Framework::kTensorFlow, {"train.py"});
    many.processes = "4";
    EXPECT_THAT(impossible(many).value_or(""), HasSubstr("--workers says how many"));
    JobRequest automatic = request_of(Framework::kMpi, {"train.py"});
    automatic.processes = "auto";
    EXPECT_THAT(impossible(automatic).value_or(""), HasSubstr("a number of processes"));
    JobRequest servers = request_of(Framework::kPyTorch, {"train.py"});
    servers.servers = 1;
    EXPECT_THAT(impossible(servers).value_or(""), HasSubstr("--servers"));
    JobRequest twice = request_of(Framework::kPyTorch, {"torchrun", "train.py"});
    twice.processes = "2";
    EXPECT_THAT(impossible(twice).value_or(""), HasSubstr("torchrun has flags of its own"));
}

TEST(JobManifest, CommentsStandAtWhatPeopleChange) {
    JobRequest request = request_of(Framework::kPyTorch, {"train.py"});
    request.workers = 3;
    const json::object job = job_manifest(request);
    const std::string text = commented_manifest(job);
    EXPECT_THAT(text, HasSubstr("nprocPerNode: \"1\"  # processes of each pod"));
    EXPECT_THAT(text, HasSubstr("image: this-machine  # on a cluster"));
    const manifest::Manifest read = manifest::read_manifest(text, "train.yaml");
    ASSERT_EQ(read.documents.size(), 1);
    EXPECT_EQ(read.documents.front().object, json::value(job));
}

TEST(JobManifest, NamesThatEveryKindTakes) {
    EXPECT_EQ(job_name_from("src/Train_v2.py"), "train-v2");
    EXPECT_EQ(job_name_from("./run.sh"), "run");
    EXPECT_EQ(job_name_from("2nd-try.py"), "nd-try");
    EXPECT_EQ(job_name_from("__main__.py"), "main");
    EXPECT_EQ(job_name_from("\xC3\xA9.py"), "job");
    EXPECT_EQ(job_name_from(std::string(300, 'a') + ".py"), std::string(40, 'a'));
}

}  // namespace
}  // namespace muster::cli::job_manifest_test
