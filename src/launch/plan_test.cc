#include "launch/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <csignal>

namespace muster::launch::plan_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::string>;

Result<LaunchPlan> plan(Words words, const Variables& variables = {},
                        LaunchCommand command = LaunchCommand::kMusterRun) {
    words.emplace_back("a.py");
    TRY(auto parsed, parse_launch_flags(command, words, variables));
    return make_launch_plan(
        std::get<LaunchFlags>(parsed), variables,
        {.devices = {.cpus = 8, .gpus = 2}, .python = "/usr/bin/python3", .fresh_id = "fresh"});
}

const Words kTwo = {"--nnodes=2:4", "--rdzv-endpoint=n0"};

TEST(LaunchPlan, OfNothingIsTorchruns) {
    const auto made = plan({});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->nodes, (NodeRange{1, 1}));
    EXPECT_EQ(made->local_size, 1);
    EXPECT_EQ(made->max_restarts, 0);
    EXPECT_EQ(made->run_id, "none");
    EXPECT_EQ(made->role, "default");
    EXPECT_EQ(made->times.join, 600s);
    EXPECT_EQ(made->times.last_call, 30s);
    EXPECT_EQ(made->times.silence, 5s);
    EXPECT_EQ(made->times.stop_grace, 30s);
    EXPECT_EQ(made->times.broken_grace, 5s);
    EXPECT_EQ(made->times.adopt_grace, 1s);
    EXPECT_THAT(made->signals, ElementsAre(SIGTERM, SIGINT, SIGHUP, SIGQUIT));
    EXPECT_EQ(made->command.words, (Words{"/usr/bin/python3", "-u", "a.py"}));
    EXPECT_TRUE(made->hook);
    EXPECT_FALSE(made->warm);
    EXPECT_THAT(made->notices, IsEmpty());
}

TEST(LaunchPlan, OfAWorkerThatIsALauncherWarns) {
    const Variables around = {{"MUSTER_GENERATION", "1.2"}, {"PET_RDZV_ENDPOINT", "n0"}};
    const auto made = plan({"--nnodes=2"}, around, LaunchCommand::kTorchrun);
    ASSERT_EQ(made->notices.size(), 1u);
    EXPECT_EQ(made->notices[0].level, log::Level::kWarning);
    EXPECT_THAT(made->notices[0].text, HasSubstr("torchrun was started by a worker of another"));
    EXPECT_THAT(made->notices[0].text, HasSubstr("PET_RDZV_ENDPOINT=n0"));
    EXPECT_THAT(plan({"--nnodes=2"}, {around[1]})->notices, IsEmpty());
    EXPECT_THAT(plan({"--nnodes=2", "--rdzv-endpoint=n1"}, around)->notices, IsEmpty());
    EXPECT_THAT(plan({"--standalone"}, around)->notices, IsEmpty());
    EXPECT_THAT(plan({}, {around[0]})->notices, IsEmpty()) << "one node meets no other";
}

TEST(LaunchPlan, ChargesRestartsToWorkersAndNotToNodes) {
    const auto made = plan({"--max-restarts=3"});
    const auto& budgets = made->budgets;
    EXPECT_EQ(made->max_restarts, 3);
    EXPECT_EQ(budgets[static_cast<std::size_t>(job_protocol::Charge::kWorker)].incidents, 3);
    EXPECT_EQ(budgets[static_cast<std::size_t>(job_protocol::Charge::kMemory)].incidents, 3);
    EXPECT_FALSE(budgets[static_cast<std::size_t>(job_protocol::Charge::kNode)].incidents);
    EXPECT_FALSE(budgets[static_cast<std::size_t>(job_protocol::Charge::kNothing)].incidents);
}

TEST(LaunchPlan, HasTimes) {
    EXPECT_EQ(plan({}, {}, LaunchCommand::kDlroverRun)->times.last_call, 60s);
    EXPECT_EQ(
        plan({"--rdzv-conf=lastcall_timeout=7"}, {}, LaunchCommand::kDlroverRun)->times.last_call,
        7s);
    EXPECT_EQ(plan({"--heartbeat=0.5"})->times.silence, 500ms);
    EXPECT_EQ(plan({"--rdzv-conf=keep_alive_interval=5"})->times.silence, 15s);
    EXPECT_EQ(plan({"--rdzv-conf=keep_alive_interval=5", "--heartbeat=2"})->times.silence, 2s);
    EXPECT_EQ(plan({"--shutdown-timeout=60"})->times.stop_grace, 60s);
    EXPECT_EQ(plan({"--shutdown-timeout=60"})->times.broken_grace, 5s);
    EXPECT_EQ(plan({}, {{"TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "2"}})->times.broken_grace, 2s);
    const auto both = plan({"--stop-grace=9", "--shutdown-timeout=60"});
    EXPECT_EQ(both->times.stop_grace, 9s);
    EXPECT_EQ(both->times.broken_grace, 9s);
}

TEST(LaunchPlan, HasUnits) {
    EXPECT_EQ(plan({"--nnodes=2:4", "--rdzv-endpoint=n0", "--node-unit=2"})->node_unit, 2);
    EXPECT_EQ(plan({"--nnodes=2:4", "--rdzv-endpoint=n0", "--rdzv-conf=node_unit=2"})->node_unit,
              2);
    EXPECT_EQ(
        plan({"--nnodes=2:4", "--rdzv-endpoint=n0", "--rdzv-conf=node_unit=2", "--node-unit=4"})
            ->node_unit,
        4);
}

TEST(LaunchPlan, KnowsItsRack) {
    EXPECT_EQ(plan({})->rack, "");
    EXPECT_EQ(plan({"--rack=a"}, {{"MUSTER_RACK", "b"}})->rack, "a");
    EXPECT_EQ(plan({}, {{"MUSTER_RACK", "b"}})->rack, "b");
    EXPECT_EQ(plan({}, {{"scheduling/rack-id", "c"}}, LaunchCommand::kDlroverRun)->rack, "c");
}

TEST(LaunchPlan, SharesOutDevices) {
    EXPECT_EQ(plan({"--nproc-per-node=auto"})->local_size, 2);
    EXPECT_EQ(plan({"--nproc-per-node=cpu"})->local_size, 8);
    EXPECT_EQ(plan({"--auto-config", "--nproc-per-node=7"})->local_size, 2);
    EXPECT_TRUE(plan({"--virtual-local-rank"})->virtual_local_rank);
}

TEST(LaunchPlan, PlacesWorkers) {
    using Binding = NumaBinding;
    using Memory = MemoryPolicy;
    struct Row {
        Words words;
        PlacementWish wish;
        std::string says = {};  ///< a notice
    };
    const Row kRows[] = {
        {{}, {Binding::kNone, Memory::kNone}},
        {{"--numa-binding=exclusive"}, {Binding::kExclusive, Memory::kNone}},
        {{"--numa-binding=node", "--membind-policy=bind"}, {Binding::kNode, Memory::kBind}},
        {{"--numa-affinity"}, {Binding::kNode, Memory::kPreferred}},
        {{"--numa-affinity", "--membind-policy=none"}, {Binding::kNode, Memory::kNone}},
        {{"--numa-affinity", "--numa-binding=socket"}, {Binding::kSocket, Memory::kPreferred}},
        {{"--membind-policy=none"}, {Binding::kNone, Memory::kNone}},
        {{"--membind-policy=bind"},
         {Binding::kNone, Memory::kNone},
         "--membind-policy bind has no effect: it applies to workers that"},
    };
    for (const Row& row : kRows) {
        const auto made = plan(row.words);
        ASSERT_TRUE(made) << made.error().message();
        EXPECT_EQ(made->placement, row.wish) << testing::PrintToString(row.words);
        ASSERT_EQ(made->notices.size(), row.says.empty() ? 0u : 1u);
        if (!row.says.empty()) EXPECT_THAT(made->notices[0].text, HasSubstr(row.says));
    }
    EXPECT_EQ(plan({}, {{"PET_NUMA_AFFINITY", "1"}, {"PET_MEMBIND_POLICY", "bind"}})->placement,
              (PlacementWish{Binding::kNode, Memory::kBind}));
}

TEST(LaunchPlan, SortsExitCodesAndErrors) {
    const auto made = plan({"--final-exit-codes=3", "--bad-node-exit-codes=4,5"},
                           {{"FAILURE_NODE_ERRORS", "#ECC error#NVLink#"}});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_THAT(made->policy.final_codes, ElementsAre(3));
    EXPECT_THAT(made->policy.bad_node_codes, ElementsAre(4, 5));
    EXPECT_THAT(made->policy.bad_node_errors, ElementsAre("ECC error", "NVLink"));

    const auto bare = plan({}, {{"FAILURE_NODE_ERRORS", "ECC error"}});
    EXPECT_THAT(bare->policy.bad_node_errors, IsEmpty());
    ASSERT_EQ(bare->notices.size(), 1u);
    EXPECT_THAT(bare->notices[0].text, HasSubstr("FAILURE_NODE_ERRORS=ECC error has no effect"));
    EXPECT_THAT(plan({"--bad-node-errors=ECC error"})->policy.bad_node_errors,
                ElementsAre("ECC error"));
}

TEST(LaunchPlan, HowOftenItMayFailAlikeIsSaidByAFlagOrAVariable) {
    EXPECT_EQ(plan({})->policy.give_up_after, 0);
    EXPECT_EQ(plan({}, {{"MUSTER_GIVE_UP_AFTER", "3"}})->policy.give_up_after, 3);
    EXPECT_EQ(plan({"--give-up-after=2"}, {{"MUSTER_GIVE_UP_AFTER", "3"}})->policy.give_up_after,
              2);
}

TEST(LaunchPlan, HasLogs) {
    const auto made = plan({"-r", "1", "--tee=0:3", "--local-ranks-filter=0,2", "--log-dir=/l"},
                           {{"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE", "[${rank}]: "},
                            {"DLROVER_LOG_ROTATE_MAX_BYTES", "2000000"},
                            {"DLROVER_LOG_ROTATE_BACKUP_COUNT", "2"}});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->logs.dir, "/l");
    EXPECT_EQ(made->logs.redirects, "1");
    EXPECT_EQ(made->logs.tee, "0:3");
    EXPECT_EQ(made->logs.out_filters, "");
    EXPECT_EQ(plan({"--duplicate_stdout_filters=a,b"})->logs.out_filters, "a,b");
    EXPECT_EQ(plan({}, {{"PET_DUPLICATE_STDERR_FILTERS", "c"}})->logs.error_filters, "c");
    EXPECT_THAT(made->logs.shown_ranks, ElementsAre(0, 2));
    EXPECT_EQ(made->logs.prefix, "[${rank}]: ");
    EXPECT_EQ(made->logs.rotate_bytes, 2'000'000u);
    EXPECT_EQ(made->logs.rotated_files, 2);

    const auto small = plan({}, {{"DLROVER_LOG_ROTATE_MAX_BYTES", "1000"}});
    EXPECT_FALSE(small->logs.rotate_bytes);
    EXPECT_THAT(small->notices.at(0).text, HasSubstr("below 1048576"));

    // DLRover's agent writes both streams wherever it is given a directory.
    const Variables dir = {{"DLROVER_LOG_AGENT_DIR", "/l"}};
    EXPECT_EQ(plan({}, dir, LaunchCommand::kDlroverRun)->logs.tee, "3");
    EXPECT_EQ(plan({"-r", "1"}, dir, LaunchCommand::kDlroverRun)->logs.tee, "0");
    EXPECT_EQ(plan({}, dir)->logs.tee, "0");
}

TEST(LaunchPlan, HasNames) {
    EXPECT_EQ(plan({"--standalone"})->run_id, "fresh");
    EXPECT_EQ(plan({"--rdzv-id=x"})->run_id, "x");
    EXPECT_EQ(plan({"--rdzv-id=x"}, {{"ELASTIC_JOB_NAME", "j"}})->run_id, "x");
    EXPECT_EQ(plan({}, {{"ELASTIC_JOB_NAME", "j"}})->run_id, "j");
    EXPECT_EQ(
        plan({"--rdzv-id=x"}, {{"ELASTIC_JOB_NAME", "j"}}, LaunchCommand::kDlroverRun)->run_id,
        "j");
    EXPECT_EQ(plan({"--role=trainer"})->role, "trainer");
    EXPECT_EQ(plan({}, {}, LaunchCommand::kDlroverRun)->role, "default");
    EXPECT_EQ(plan({}, {{"PYTHON_EXEC", "/p"}})->command.words[0], "/p");
}

TEST(LaunchPlan, HasChecksAndSpares) {
    EXPECT_EQ(plan({"--precheck=1"})->node_check, NodeCheckMode::kNodes);
    EXPECT_EQ(plan({"--network-check"})->node_check, NodeCheckMode::kNodes);
    EXPECT_EQ(plan({"--network-check", "--comm-perf-test"})->node_check, NodeCheckMode::kLinks);
    EXPECT_EQ(plan({"--precheck=2", "--exclude-straggler"})->exclude_straggler, true);
    EXPECT_EQ(
        plan({"--auto-config"}, {{"DLROVER_MASTER_ADDR", "m:1"}, {"NODE_NUM", "4"}})->node_check,
        NodeCheckMode::kNodes);
    EXPECT_THAT(plan({"--precheck=2", "--exclude-straggler"})->notices, IsEmpty());
    EXPECT_THAT(plan({"--exclude-straggler"})->notices.at(0).text,
                HasSubstr("no effect without a check"));
    EXPECT_THAT(*plan({"--warm"})->warm, IsEmpty());
    EXPECT_FALSE(plan({"--warm", "--no-hook"})->warm) << "nothing sees what is imported";
    EXPECT_THAT(plan({"--warm", "--no-hook"})->notices.at(0).text, HasSubstr("has no effect"));
    EXPECT_THAT(*plan({"--warm=torch", "--no-hook"})->warm, ElementsAre("torch"));
    EXPECT_THAT(*plan({"--warm=torch,numpy.linalg"})->warm, ElementsAre("torch", "numpy.linalg"));
    EXPECT_FALSE(plan({"--no-hook"})->hook);
    EXPECT_TRUE(plan({"--grow=at-failure"})->grow_at_failure);
}

TEST(LaunchPlan, IsRefused) {
    struct Row {
        Words words;
        std::string says;
        Variables variables = {};
    };
    const Row kRows[] = {
        {{"--nnodes=3:2"}, "--nnodes 3:2: at least 3 nodes but at most 2"},
        {{}, "PET_NNODES=3:2: at least 3", {{"PET_NNODES", "3:2"}}},
        {{"--nnodes=1:2", "--rdzv-endpoint=n0", "--node-unit=3"},
         "--node-unit 3: no number of nodes from 1 to 2 (--nnodes 1:2) is a multiple of 3"},
        {{"--nnodes=5:7", "--rdzv-endpoint=n0", "--node-unit=4"}, "is a multiple of 4"},
        {{"--nnodes=1:2", "--rdzv-endpoint=n0", "--rdzv-conf=node_unit=3"},
         "--rdzv-conf node_unit=3"},
        {{"--nproc-per-node=xpu"}, "--nproc-per-node xpu: this node has no xpu"},
        {{"--heartbeat=0"}, "--heartbeat 0: expects a number of seconds above 0"},
        {{"--final-exit-codes=3", "--bad-node-exit-codes=3"},
         "3 is also one of --final-exit-codes 3"},
        {{"--tls-cert=c"}, "--tls-cert c: TLS also needs --tls-key"},
        {{"--warm=torch,,x"}, "\"\" is not the name of a module"},
        {{"--warm=a b"}, "\"a b\" is not the name of a module"},
        {{"--warm", "--no-python"}, "only Python scripts start in a warm process"},
        {{"--warm", "--run-path"}, "run by runpy does not start in a warm process"},
        {{"--local-ranks-filter=a"}, "--local-ranks-filter a: \"a\" is not a valid local rank"},
        {{"--signals-to-handle=SIGKILL"}, "can't be forwarded"},
        {{}, "DLROVER_LOG_ROTATE_MAX_BYTES=x: expects", {{"DLROVER_LOG_ROTATE_MAX_BYTES", "x"}}},
    };
    for (const Row& row : kRows) {
        const auto made = plan(row.words, row.variables);
        EXPECT_THAT(made ? "accepted" : made.error().message(), HasSubstr(row.says));
    }
}

TEST(LaunchPlan, IsJson) {
    Words words = kTwo;
    words.insert(words.end(), {"--warm=torch", "--max-restarts=2", "--logs-specs=x"});
    const boost::json::value json = boost::json::parse(to_json(*plan(words)));
    EXPECT_EQ(json.at("called"), "muster-run");
    EXPECT_EQ(json.at("meeting").at("endpoints").at(0), "n0:29400");
    EXPECT_EQ(json.at("meeting").at("where"), "endpoints");
    EXPECT_EQ(json.at("nodes").at("most").to_number<int>(), 4);
    EXPECT_EQ(json.at("budgets").as_object().size(), job_protocol::kCharges);
    EXPECT_EQ(json.at("times").at("silence").to_number<double>(), 5);
    EXPECT_EQ(json.at("warm").at(0), "torch");
    EXPECT_EQ(json.at("notices").at(0).at("level"), "warning");
    EXPECT_EQ(json.at("placement").at("binding"), "none");
    EXPECT_TRUE(json.at("times").at("pend").is_null());

    const boost::json::value torn =
        boost::json::parse(to_json(*plan({"--role=\xff\xfe", "--rdzv-id=\xc3\xa9"})));
    EXPECT_EQ(torn.at("role"), "??");
    EXPECT_EQ(torn.at("run_id"), "\xc3\xa9");
}

}  // namespace
}  // namespace muster::launch::plan_test
