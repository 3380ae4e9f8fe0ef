#include "launch/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/plan.h"

namespace muster::launch::rendezvous_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::string>;
using Where = Rendezvous::Where;
using Host = Rendezvous::Host;

constexpr LaunchCommand kMuster = LaunchCommand::kMusterRun;
constexpr LaunchCommand kTorch = LaunchCommand::kTorchrun;
constexpr LaunchCommand kDlrover = LaunchCommand::kDlroverRun;

Result<LaunchPlan> plan(LaunchCommand command, Words words, const Variables& variables) {
    words.emplace_back("a.py");
    TRY(auto parsed, parse_launch_flags(command, words, variables));
    return make_launch_plan(std::get<LaunchFlags>(parsed), variables,
                            {.devices = {}, .python = "python", .fresh_id = "fresh"});
}

std::string endpoints_of(const Rendezvous& rendezvous) {
    std::string text;
    for (const Endpoint& endpoint : rendezvous.endpoints)
        text += (text.empty() ? "" : ",") + endpoint.text();
    return text;
}

// What training-operator 1.9 injects into a worker, and 1.6 did; what DLRover's operator does.
const Variables kPyTorchJob = {{"MASTER_PORT", "23456"},
                               {"PET_MASTER_PORT", "23456"},
                               {"MASTER_ADDR", "j-master-0"},
                               {"PET_MASTER_ADDR", "j-master-0"},
                               {"WORLD_SIZE", "12"},
                               {"RANK", "2"},
                               {"PET_NODE_RANK", "2"},
                               {"PET_NPROC_PER_NODE", "4"},
                               {"PET_NNODES", "3"}};
const Variables kElastic = {{"PET_RDZV_ENDPOINT", "j-worker-0:23456"},
                            {"PET_RDZV_BACKEND", "c10d"},
                            {"PET_NNODES", "2:4"},
                            {"PET_MAX_RESTARTS", "10"},
                            {"PET_RDZV_CONF", "last_call_timeout=5"}};
const Variables kOldPyTorchJob = {
    {"MASTER_ADDR", "j-master-0"}, {"MASTER_PORT", "23456"}, {"RANK", "0"}, {"WORLD_SIZE", "3"}};
const Variables kElasticJob = {{"DLROVER_MASTER_ADDR", "elasticjob-j-dlrover-master:50001"},
                               {"NODE_RANK", "1"},
                               {"NODE_ID", "7"},
                               {"NODE_NUM", "4"},
                               {"RANK", "1"},
                               {"WORLD_SIZE", "4"},
                               {"ELASTIC_JOB_NAME", "j"}};

const Variables kOwnMaster = {{"MUSTER_MASTER_ADDR", "j-elasticmaster-0.ns.svc:50001"},
                              {"MUSTER_MASTER_JOB", "j"}};

Variables with(Variables variables, const Variables& more) {
    variables.insert(variables.begin(), more.begin(), more.end());
    return variables;
}

TEST(Rendezvous, Table) {
    struct Row {
        const char* name;
        LaunchCommand command;
        Words words;
        Variables variables;
        Where where;
        std::string endpoints;
        Host host;
        std::optional<int> slot;
        NodeRange nodes;
        int store_port = 0;
    };
    const Row kRows[] = {
        {"alone", kMuster, {}, {}, Where::kHere, "", Host::kByAddress, {}, {1, 1}},
        {"standalone",
         kTorch,
         {"--standalone", "--rdzv-endpoint=x:1"},
         {},
         Where::kHere,
         "",
         Host::kByAddress,
         {},
         {1, 1}},
        {"standalone of up to 4",
         kTorch,
         {"--standalone", "--nnodes=1:4"},
         {},
         Where::kHere,
         "",
         Host::kByAddress,
         {},
         {1, 1}},
        {"a port of one's own",
         kTorch,
         {"--master-port=29511"},
         {},
         Where::kHere,
         "",
         Host::kByAddress,
         {},
         {1, 1},
         29511},
        {"one node with c10d",
         kTorch,
         {"--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0"},
         {},
         Where::kHere,
         "",
         Host::kByAddress,
         {},
         {1, 1}},
        {"one node with c10d and no endpoint",
         kTorch,
         {"--rdzv-backend=c10d"},
         {},
         Where::kHere,
         "",
         Host::kByAddress,
         {},
         {1, 1}},
        {"static, first",
         kTorch,
         {"--nnodes=2", "--node-rank=0", "--master-addr=n0"},
         {},
         Where::kEndpoints,
         "n0:29500",
         Host::kThisNode,
         0,
         {2, 2}},
        {"static, second",
         kTorch,
         {"--nnodes=2", "--node-rank=1", "--master-addr=[fd00::1]", "--master-port=1"},
         {},
         Where::kEndpoints,
         "[fd00::1]:1",
         Host::kOtherNode,
         1,
         {2, 2}},
        {"static without a rank",
         kTorch,
         {"--nnodes=2", "--master-addr=n0"},
         {},
         Where::kEndpoints,
         "n0:29500",
         Host::kByAddress,
         {},
         {2, 2}},
        {"static with an endpoint",
         kTorch,
         {"--nnodes=2", "--node-rank=1", "--rdzv-endpoint=n0:7"},
         {},
         Where::kEndpoints,
         "n0:7",
         Host::kOtherNode,
         1,
         {2, 2}},
        {"c10d",
         kTorch,
         {"--nnodes=1:4", "--rdzv-backend=c10d", "--rdzv-endpoint=n0"},
         {},
         Where::kEndpoints,
         "n0:29400",
         Host::kByAddress,
         {},
         {1, 4}},
        {"c10d with a rank",
         kTorch,
         {"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=n0:1", "--node-rank=5"},
         {},
         Where::kEndpoints,
         "n0:1",
         Host::kByAddress,
         {},
         {2, 2}},
        {"is_host",
         kTorch,
         {"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=n0:1", "--rdzv-conf=is_host=1"},
         {},
         Where::kEndpoints,
         "n0:1",
         Host::kThisNode,
         {},
         {2, 2}},
        {"is_host=0",
         kTorch,
         {"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=n0:1", "--rdzv-conf=is_host=0"},
         {},
         Where::kEndpoints,
         "n0:1",
         Host::kOtherNode,
         {},
         {2, 2}},
        {"several endpoints",
         kMuster,
         {"--nnodes=2:4", "--rdzv-endpoint=n0:1,n1,[::2]:3"},
         {},
         Where::kEndpoints,
         "n0:1,n1:29400,[::2]:3",
         Host::kByAddress,
         {},
         {2, 4}},
        {"PyTorchJob",
         kTorch,
         {},
         kPyTorchJob,
         Where::kEndpoints,
         "j-master-0:23456",
         Host::kOtherNode,
         2,
         {3, 3}},
        {"PyTorchJob, its master",
         kMuster,
         {},
         with(kPyTorchJob, {{"PET_NODE_RANK", "0"}}),
         Where::kEndpoints,
         "j-master-0:23456",
         Host::kThisNode,
         0,
         {3, 3}},
        {"PyTorchJob of one",
         kMuster,
         {},
         with(kPyTorchJob, {{"PET_NNODES", "1"}, {"PET_NODE_RANK", "0"}}),
         Where::kHere,
         "",
         Host::kByAddress,
         {},
         {1, 1},
         23456},
        {"elastic PyTorchJob",
         kTorch,
         {},
         kElastic,
         Where::kEndpoints,
         "j-worker-0:23456",
         Host::kByAddress,
         {},
         {2, 4}},
        {"elastic PyTorchJob with a master",
         kTorch,
         {},
         with(kPyTorchJob, kElastic),
         Where::kEndpoints,
         "j-worker-0:23456",
         Host::kByAddress,
         {},
         {2, 4}},
        {"elastic PyTorchJob, standalone",
         kTorch,
         {"--nnodes=1"},
         with(kElastic, {{"PET_STANDALONE", ""}}),
         Where::kHere,
         "",
         Host::kByAddress,
         {},
         {1, 1}},
        {"old PyTorchJob",
         kMuster,
         {},
         kOldPyTorchJob,
         Where::kEndpoints,
         "j-master-0:23456",
         Host::kThisNode,
         0,
         {3, 3}},
        {"old PyTorchJob, torchrun",
         kTorch,
         {},
         kOldPyTorchJob,
         Where::kHere,
         "",
         Host::kByAddress,
         {},
         {1, 1}},
        {"old PyTorchJob, some nodes",
         kMuster,
         {"--nnodes=2:3"},
         kOldPyTorchJob,
         Where::kEndpoints,
         "j-master-0:23456",
         Host::kThisNode,
         0,
         {2, 3}},
        {"inside of a worker",
         kMuster,
         {},
         with(kOldPyTorchJob, {{"LOCAL_RANK", "0"}}),
         Where::kHere,
         "",
         Host::kByAddress,
         {},
         {1, 1}},
        {"a flag before what is injected",
         kMuster,
         {"--nnodes=2", "--rdzv-endpoint=n0:1"},
         kOldPyTorchJob,
         Where::kEndpoints,
         "n0:1",
         Host::kByAddress,
         {},
         {2, 2}},
        {"ElasticJob",
         kDlrover,
         {},
         kElasticJob,
         Where::kElsewhere,
         "elasticjob-j-dlrover-master:50001",
         Host::kByAddress,
         1,
         {4, 4}},
        {"ElasticJob, muster-run",
         kMuster,
         {"--nnodes=2:4"},
         kElasticJob,
         Where::kElsewhere,
         "elasticjob-j-dlrover-master:50001",
         Host::kByAddress,
         1,
         {2, 4}},
        {"ElasticJob, auto",
         kDlrover,
         {"--auto-config", "--nnodes=1"},
         kElasticJob,
         Where::kElsewhere,
         "elasticjob-j-dlrover-master:50001",
         Host::kByAddress,
         1,
         {4, 4}},
        {"DLRover in a PyTorchJob",
         kDlrover,
         {"--nnodes=3"},
         with(kOldPyTorchJob, {{"NODE_RANK", "0"}, {"DLROVER_MASTER_ADDR", "j-master-0:23456"}}),
         Where::kEndpoints,
         "j-master-0:23456",
         Host::kThisNode,
         0,
         {3, 3}},
        {"DLRover in a PyTorchJob, a worker",
         kDlrover,
         {"--nnodes=3"},
         with(kOldPyTorchJob, {{"NODE_RANK", "2"}, {"DLROVER_MASTER_ADDR", "j-master-0:23456"}}),
         Where::kEndpoints,
         "j-master-0:23456",
         Host::kOtherNode,
         2,
         {3, 3}},
        {"DLRover's old names",
         kDlrover,
         {},
         {{"DLROVER_MASTER_ADDR", "m:1"}, {"WORKER_RANK", "3"}, {"WORKER_NUM", "5"}},
         Where::kElsewhere,
         "m:1",
         Host::kByAddress,
         3,
         {5, 5}},
        {"DLRover ignores where torch meets",
         kDlrover,
         {"--nnodes=2", "--rdzv-endpoint=x:1"},
         {{"DLROVER_MASTER_ADDR", "m:1"}},
         Where::kElsewhere,
         "m:1",
         Host::kByAddress,
         {},
         {2, 2}},
        {"a job with a master of its own",
         kTorch,
         {"--rdzv-endpoint=j-master-0:23456", "--master-addr=j-master-0"},
         with(kPyTorchJob, kOwnMaster),
         Where::kElsewhere,
         "j-elasticmaster-0.ns.svc:50001",
         Host::kByAddress,
         2,
         {3, 3}},
        {"an elastic job with a master of its own",
         kMuster,
         {},
         with(kElastic, kOwnMaster),
         Where::kElsewhere,
         "j-elasticmaster-0.ns.svc:50001",
         Host::kByAddress,
         {},
         {2, 4}},
        {"DLRover in a job with a master of its own",
         kDlrover,
         {},
         with(with(kPyTorchJob, {{"NODE_RANK", "0"}, {"DLROVER_MASTER_ADDR", "j-master-0:23456"}}),
              kOwnMaster),
         Where::kElsewhere,
         "j-elasticmaster-0.ns.svc:50001",
         Host::kByAddress,
         2,
         {3, 3}},
        {"the only pod of a job with a master of its own",
         kTorch,
         {},
         with({{"PET_NNODES", "1"}}, kOwnMaster),
         Where::kElsewhere,
         "j-elasticmaster-0.ns.svc:50001",
         Host::kByAddress,
         {},
         {1, 1}},
        {"a pod that trains for itself",
         kTorch,
         {"--nnodes=1"},
         with({{"PET_NNODES", "3"}}, kOwnMaster),
         Where::kHere,
         "",
         Host::kByAddress,
         {},
         {1, 1}},
        {"nodes with a token in a file",
         kTorch,
         {"--nnodes=2", "--rdzv-endpoint=n0:1", "--rdzv-backend=c10d", "--token-file=t"},
         kOwnMaster,
         Where::kEndpoints,
         "n0:1",
         Host::kByAddress,
         {},
         {2, 2}},
        {"nodes with certificates",
         kTorch,
         {"--nnodes=2", "--rdzv-endpoint=n0:1", "--rdzv-backend=c10d", "--tls-cert=c",
          "--tls-key=k", "--tls-ca=a"},
         kOwnMaster,
         Where::kEndpoints,
         "n0:1",
         Host::kByAddress,
         {},
         {2, 2}},
        {"standalone beside a master of the job",
         kTorch,
         {"--standalone"},
         with({{"PET_NNODES", "1:3"}}, kOwnMaster),
         Where::kHere,
         "",
         Host::kByAddress,
         {},
         {1, 1}},
        {"a worker that names another place",
         kTorch,
         {"--nnodes=2", "--rdzv-endpoint=n0:1", "--rdzv-backend=c10d"},
         with({{"MUSTER_GENERATION", "1.1"}}, kOwnMaster),
         Where::kEndpoints,
         "n0:1",
         Host::kByAddress,
         {},
         {2, 2}},
        {"a worker that names none",
         kTorch,
         {"--nnodes=2"},
         with({{"MUSTER_GENERATION", "1.1"}}, kOwnMaster),
         Where::kElsewhere,
         "j-elasticmaster-0.ns.svc:50001",
         Host::kByAddress,
         {},
         {2, 2}},
    };
    for (const Row& row : kRows) {
        const auto made = plan(row.command, row.words, row.variables);
        ASSERT_TRUE(made) << row.name << ": " << made.error().message();
        EXPECT_EQ(made->rendezvous.where, row.where) << row.name;
        EXPECT_EQ(endpoints_of(made->rendezvous), row.endpoints) << row.name;
        EXPECT_EQ(made->rendezvous.host, row.host) << row.name;
        EXPECT_EQ(made->rendezvous.slot, row.slot) << row.name;
        EXPECT_EQ(made->nodes, row.nodes) << row.name;
        EXPECT_EQ(made->rendezvous.store_port.value_or(0), row.store_port) << row.name;
    }
}

TEST(Rendezvous, IsRefused) {
    struct Row {
        Words words;
        Variables variables;
        std::string says;
        LaunchCommand command = kMuster;
    };
    const Row kRows[] = {
        {{"--nnodes=2"}, {}, "--nnodes 2: nothing says where the nodes meet"},
        {{"--nnodes=2", "--rdzv-backend=c10d"}, {}, "give each node the same --rdzv-endpoint"},
        {{"--nnodes=2", "--standalone"}, {}, "--standalone: this means one node, but --nnodes 2"},
        {{"--nnodes=2", "--rdzv-endpoint=n0:x"},
         {},
         "--rdzv-endpoint n0:x: \"n0:x\" is not HOST:PORT"},
        {{"--nnodes=2", "--rdzv-endpoint=n0,,n1"}, {}, "\"\" is not HOST:PORT"},
        {{"--nnodes=2", "--rdzv-endpoint=n0,n0:29400"}, {}, "n0:29400 is listed twice"},
        {{"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=n0:0"},
         {},
         "0 is for a single node"},
        {{"--nnodes=2", "--rdzv-backend=etcd-v2"},
         {},
         "--rdzv-backend etcd-v2: etcd is neither used"},
        {{"--rdzv-backend=c10"}, {}, "did you mean c10d?"},
        {{"--nnodes=2", "--node-rank=2"},
         {},
         "--node-rank 2: with --nnodes 2 it must be from 0 to 1"},
        {{"--nnodes=2", "--master-addr=n0:1"}, {}, "the port is --master-port"},
        {{"--nnodes=2", "--master-port=70000"}, {}, "--master-port 70000: expects a port"},
        {{"--nnodes=2", "--rdzv-endpoint=a,b", "--rdzv-conf=is_host=1", "--rdzv-backend=c10d"},
         {},
         "is_host: if there are several endpoints"},
        {{}, {{"DLROVER_MASTER_ADDR", "m"}}, "DLROVER_MASTER_ADDR=m: expects HOST:PORT"},
        {{}, {{"MUSTER_MASTER_ADDR", "a:1,b:1"}}, "MUSTER_MASTER_ADDR=a:1,b:1: expects HOST:PORT"},
        {{},
         {{"DLROVER_MASTER_ADDR", "m:1"}, {"NODE_RANK", "x"}},
         "NODE_RANK=x: expects a whole number, 0"},
        {{}, with(kOldPyTorchJob, {{"RANK", "3"}}), "RANK=3: of 3 nodes"},
        {{}, with(kOldPyTorchJob, {{"MASTER_PORT", "0"}}), "MASTER_PORT=0: expects a port"},
        {{}, with(kOldPyTorchJob, {{"WORLD_SIZE", "x"}}), "WORLD_SIZE=x: expects"},
    };
    for (const Row& row : kRows) {
        const auto made = plan(row.command, row.words, row.variables);
        EXPECT_THAT(made ? "accepted" : made.error().message(), HasSubstr(row.says));
    }
}

TEST(Rendezvous, TellsWhatItLeavesOut) {
    const auto ignored =
        plan(kDlrover, {"--nnodes=2", "--rdzv-endpoint=x:1"}, {{"DLROVER_MASTER_ADDR", "m:1"}});
    ASSERT_EQ(ignored->notices.size(), 1u);
    EXPECT_THAT(ignored->notices[0].text, HasSubstr("--rdzv-endpoint x:1 has no effect"));
    const auto places = plan(kTorch, {}, with(kElastic, kOwnMaster));
    ASSERT_EQ(places->notices.size(), 1u);
    EXPECT_THAT(places->notices[0].text, HasSubstr("PET_RDZV_ENDPOINT=j-worker-0:23456 has no"));
    EXPECT_EQ(places->notices[0].level, log::Level::kDebug) << "that is right for torchrun";
    EXPECT_EQ(places->rendezvous.job, "j");
    const auto unread = plan(kTorch, {}, kOldPyTorchJob);
    ASSERT_EQ(unread->notices.size(), 1u);
    EXPECT_THAT(unread->notices[0].text, HasSubstr("torchrun ignores them"));
}

TEST(Rendezvous, ARankThatIsNotObeyedIsWarnedOf) {
    const Words dynamic = {"--nnodes=2", "--rdzv-endpoint=n0:1", "--node-rank=1",
                           "--rdzv-backend=c10d"};
    const auto warned = plan(kTorch, dynamic, {});
    ASSERT_EQ(warned->notices.size(), 1u);
    EXPECT_EQ(warned->notices[0].level, log::Level::kWarning);
    EXPECT_THAT(warned->notices[0].text,
                HasSubstr("--node-rank 1 has no effect with --rdzv-backend c10d"));
    EXPECT_THAT(plan(kTorch, {dynamic.begin(), dynamic.begin() + 3}, {})->notices, IsEmpty())
        << "the static backend obeys it";
}

TEST(Rendezvous, IsHostedByWhoseAddressItIs) {
    const NodeNames node{{"n1"}, {"10.0.0.1"}};
    const Rendezvous rendezvous{.where = Where::kEndpoints,
                                .endpoints = {{"n0", 1}, {"n1", 1}, {"a", 2}}};
    EXPECT_THAT(hosted_here(rendezvous, node, {}), ElementsAre(1));
    EXPECT_THAT(hosted_here(rendezvous, node, {{"a", {"10.0.0.1"}}, {"n0", {"10.0.0.2"}}}),
                ElementsAre(1, 2));
    Rendezvous other = rendezvous;
    other.host = Host::kOtherNode;
    EXPECT_THAT(hosted_here(other, node, {}), IsEmpty());
    other.host = Host::kThisNode;
    EXPECT_THAT(hosted_here(other, node, {}), ElementsAre(0));
    other.where = Where::kElsewhere;
    EXPECT_THAT(hosted_here(other, node, {}), IsEmpty());
}

}  // namespace
}  // namespace muster::launch::rendezvous_test
