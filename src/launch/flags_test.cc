#include "launch/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <ranges>
#include <set>
#include <sstream>

#include "base/fields.h"
#include "base/test_inputs.h"

namespace muster::launch::flags_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::string>;

Result<LaunchFlags> read(const Words& words, const Variables& variables = {},
                         LaunchCommand command = LaunchCommand::kMusterRun) {
    TRY(auto parsed, parse_launch_flags(command, words, variables));
    return std::get<LaunchFlags>(std::move(parsed));
}

std::string refusal(const Words& words, const Variables& variables = {},
                    LaunchCommand command = LaunchCommand::kMusterRun) {
    const auto parsed = parse_launch_flags(command, words, variables);
    return parsed ? "accepted" : parsed.error().message();
}

TEST(LaunchCommandName, IsTheLastPartOfThePath) {
    EXPECT_EQ(launch_command("torchrun"), LaunchCommand::kTorchrun);
    EXPECT_EQ(launch_command("/opt/bin/dlrover-run"), LaunchCommand::kDlroverRun);
    EXPECT_EQ(launch_command("./muster-run"), LaunchCommand::kMusterRun);
    EXPECT_EQ(launch_command("anything"), LaunchCommand::kMusterRun);
    EXPECT_EQ(launch_command(""), LaunchCommand::kMusterRun);
    EXPECT_EQ(launch_command("torch.distributed.launch"), LaunchCommand::kMusterRun);
}

TEST(FlagTable, HasNoNameLetterOrVariableTwice) {
    std::set<std::string> names;
    for (const FlagRow& row : flag_table()) {
        EXPECT_TRUE(names.insert(std::string(row.name)).second) << row.name;
        if (row.letter != '\0') EXPECT_TRUE(names.insert(std::string(1, row.letter)).second);
        std::string_view variables = row.variables;
        while (!variables.empty()) {
            const std::string variable(take_field(variables, ' '));
            EXPECT_TRUE(names.insert(variable).second) << variable;
        }
        EXPECT_FALSE(row.help.empty()) << row.name;
        EXPECT_EQ(row.note.empty(), row.status == FlagStatus::kEffective) << row.name;
        EXPECT_EQ(row.value.empty(), row.kind == FlagKind::kSwitch) << row.name;
        EXPECT_FALSE(row.torchs && row.dlrovers) << row.name;
    }
    for (const VariableRow& row : variable_table()) {
        EXPECT_TRUE(names.insert(std::string(row.name)).second) << row.name;
        EXPECT_EQ(row.note.empty(), row.status == FlagStatus::kEffective) << row.name;
    }
}

TEST(LaunchFlags, AreReadAsArgparseReadsThem) {
    struct Row {
        Words words;
        Flag flag;
        std::string text;
        std::string source;
        Words arguments = {};
    };
    const Row kRows[] = {
        {{"--nnodes=2", "a.py"}, Flag::kNnodes, "2", "--nnodes"},
        {{"--nnodes", "2", "a.py"}, Flag::kNnodes, "2", "--nnodes"},
        {{"--nproc_per_node", "2", "a.py"}, Flag::kNprocPerNode, "2", "--nproc_per_node"},
        {{"--nproc-per-node=2", "a.py"}, Flag::kNprocPerNode, "2", "--nproc-per-node"},
        {{"--ucp_device_type=gpu", "a.py"}, Flag::kUcpDeviceType, "gpu", "--ucp_device_type"},
        {{"-r", "3", "a.py"}, Flag::kRedirects, "3", "-r"},
        {{"-r3", "a.py"}, Flag::kRedirects, "3", "-r"},
        {{"-r=3", "a.py"}, Flag::kRedirects, "3", "-r"},
        {{"-mr3", "a"}, Flag::kRedirects, "3", "-r"},
        {{"-mr", "3", "a"}, Flag::kRedirects, "3", "-r"},
        {{"-mr3", "a"}, Flag::kModule, "", "-m"},
        {{"-m", "a"}, Flag::kModule, "", "-m"},
        {{"--tee", "0:1,1:3", "a.py"}, Flag::kTee, "0:1,1:3", "--tee"},
        {{"--rdzv-conf=join_timeout=1,is_host=0", "a.py"},
         Flag::kRdzvConf,
         "join_timeout=1,is_host=0",
         "--rdzv-conf"},
        {{"--nnodes=1", "--nnodes=2", "a.py"}, Flag::kNnodes, "2", "--nnodes"},
        {{"--nnodes=1", "a.py", "--nnodes", "2", "-x"},
         Flag::kNnodes,
         "1",
         "--nnodes",
         {"--nnodes", "2", "-x"}},
        {{"--nnodes=1", "a.py", "--", "-x"}, Flag::kNnodes, "1", "--nnodes", {"-x"}},
        {{"--nnodes=1", "a.py", "-x", "--"}, Flag::kNnodes, "1", "--nnodes", {"-x", "--"}},
        {{"--nnodes=1", "--", "a.py", "--", "-x"}, Flag::kNnodes, "1", "--nnodes", {"--", "-x"}},
        {{"--warm", "a.py"}, Flag::kWarm, "", "--warm"},
        {{"--warm=torch,numpy", "a.py"}, Flag::kWarm, "torch,numpy", "--warm"},
        {{"--log-dir", "", "a.py"}, Flag::kLogDir, "", "--log-dir"},
        {{"--rdzv-id=-x", "a.py"}, Flag::kRdzvId, "-x", "--rdzv-id"},
    };
    for (const Row& row : kRows) {
        const auto flags = read(row.words);
        ASSERT_TRUE(flags) << testing::PrintToString(row.words) << flags.error().message();
        EXPECT_EQ(flags->get(row.flag).text, row.text) << testing::PrintToString(row.words);
        EXPECT_EQ(flags->get(row.flag).source, row.source);
        EXPECT_EQ(flags->script.substr(0, 1), "a");
        EXPECT_EQ(flags->arguments, row.arguments);
    }
}

TEST(LaunchFlags, TakeAnyScriptBehindTwoDashes) {
    const auto flags = read({"--", "-odd.py", "-v"});
    ASSERT_TRUE(flags);
    EXPECT_EQ(flags->script, "-odd.py");
    EXPECT_THAT(flags->arguments, ElementsAre("-v"));
}

TEST(LaunchFlags, HaveDefaults) {
    const auto flags = read({"a.py"});
    ASSERT_TRUE(flags);
    EXPECT_EQ(flags->get(Flag::kNnodes).written(), "--nnodes 1:1 (the default)");
    EXPECT_FALSE(flags->said(Flag::kNnodes));
    EXPECT_FALSE(flags->on(Flag::kStandalone));
    EXPECT_THAT(flags->notices, IsEmpty());
}

TEST(LaunchFlags, GoBeforeVariables) {
    const Variables variables = {{"PET_NNODES", "4"},
                                 {"PET_MODULE", "0"},
                                 {"PET_NO_PYTHON", "1"},
                                 {"PET_LOG_DIR", ""},
                                 {"DLROVER_LOG_AGENT_DIR", "/logs"},
                                 {"FAILURE_NODE_ERRORS", "#x#"},
                                 {"PET_STANDALONE", ""},
                                 {"MUSTER_WARM", "1"},
                                 {"PET_NNODES", "8"}};
    const auto flags = read({"a.py"}, variables);
    ASSERT_TRUE(flags) << flags.error().message();
    EXPECT_EQ(flags->get(Flag::kNnodes).written(), "PET_NNODES=4");
    EXPECT_FALSE(flags->on(Flag::kModule));
    EXPECT_TRUE(flags->on(Flag::kNoPython));
    EXPECT_FALSE(flags->said(Flag::kLogDir)) << "an empty one is a word as well";
    EXPECT_EQ(flags->get(Flag::kBadNodeErrors).source, "FAILURE_NODE_ERRORS");
    EXPECT_TRUE(flags->on(Flag::kStandalone)) << "as training-operator injects it";
    EXPECT_EQ(flags->get(Flag::kWarm).text, "");
    EXPECT_TRUE(flags->said(Flag::kWarm));

    const auto over = read({"--nnodes=2", "a.py"}, variables);
    ASSERT_TRUE(over);
    EXPECT_EQ(over->get(Flag::kNnodes).written(), "--nnodes 2");
}

TEST(LaunchFlags, AreRefusedWithWhatIsMeant) {
    struct Row {
        Words words;
        std::string says;
        LaunchCommand command = LaunchCommand::kMusterRun;
        Variables variables = {};
    };
    const Row kRows[] = {
        {{}, "no script was given: muster-run [flags] SCRIPT"},
        {{"--nnodes", "2"}, "no script was given"},
        {{"--nnodez=2", "a.py"}, "muster-run has no flag --nnodez; did you mean --nnodes?"},
        {{"--nproc-per-nod=2", "a.py"}, "can't be abbreviated; write --nproc-per-node"},
        {{"--nproc", "2", "a.py"}, "has no flag --nproc: names can't be abbreviated"},
        {{"-nnodes", "2", "a.py"}, "has no flag -nnodes; did you mean --nnodes?"},
        {{"--learning-rate=1", "a.py"}, "flags for the script go after it"},
        {{"-x", "a.py"}, "has no flag -x"},
        {{"--standalone=1", "a.py"}, "--standalone=1: this flag takes no value"},
        {{"--rdzv-id", "-m", "a.py"},
         "--rdzv-id needs a value, ID; if -m is meant, write --rdzv-id=-m"},
        {{"--rdzv-id"}, "--rdzv-id needs a value, ID"},
        {{"--rdzv-id=", "a.py"}, "--rdzv-id \"\": is empty; expects ID"},
        {{"--max-restarts=-1", "a.py"}, "--max-restarts -1: expects a whole number, 0 or above"},
        {{"--max_restarts", "1.5", "a.py"}, "--max_restarts 1.5: expects"},
        {{"--node-unit=0", "a.py"}, "--node-unit 0: expects a whole number above 0"},
        {{"--heartbeat=soon", "a.py"}, "--heartbeat soon: expects a number of seconds"},
        {{"--heartbeat=nan", "a.py"}, "--heartbeat nan: expects a number of seconds"},
        {{"--grow=later", "a.py"}, "--grow later: expects one of now, at-failure"},
        {{"--start-method=thread", "a.py"}, "expects one of spawn, fork, forkserver"},
        {{"--precheck=3", "a.py"}, "--precheck 3: expects one of 0, 1, 2"},
        {{"--precheck=1", "a.py"},
         "torchrun has no flag --precheck; muster-run and dlrover-run have it",
         LaunchCommand::kTorchrun},
        {{"--precheck-x", "a.py"}, "torchrun has no flag --precheck-x", LaunchCommand::kTorchrun},
        {{"--precheck=1", "a.py"},
         "torch.distributed.launch has no flag --precheck; muster-run",
         LaunchCommand::kTorchLaunch},
        {{"--use-env", "a.py"}, "torchrun has no flag --use-env; what", LaunchCommand::kTorchrun},
        {{"--use-env", "a.py"}, "muster-run has no flag --use-env; what"},
        {{"a.py"}, "PET_NNODES=: is empty; expects N|MIN:MAX", {}, {{"PET_NNODES", ""}}},
        {{"a.py"}, "PET_MODULE=: expects 1 or 0", {}, {{"PET_MODULE", ""}}},
        {{"a.py"}, "PET_MODULE=yes: expects 1 or 0", {}, {{"PET_MODULE", "yes"}}},
        {{"a.py"},
         "PET_MAX_RESTARTS=x: expects a whole number, 0 or",
         {},
         {{"PET_MAX_RESTARTS", "x"}}},
        {{"a.py"}, "PET_PRECHECK=7: expects one of", {}, {{"PET_PRECHECK", "7"}}},
    };
    for (const Row& row : kRows)
        EXPECT_THAT(refusal(row.words, row.variables, row.command), HasSubstr(row.says))
            << testing::PrintToString(row.words);
}

TEST(LaunchModule, IsALauncherOfPythons) {
    EXPECT_EQ(launch_module("torch.distributed.run"), LaunchCommand::kTorchrun);
    EXPECT_EQ(launch_module("torch.distributed.launch"), LaunchCommand::kTorchLaunch);
    EXPECT_EQ(launch_module("dlrover.trainer.torch.main"), LaunchCommand::kDlroverRun);
    EXPECT_EQ(launch_module("torch.distributed"), std::nullopt);
}

TEST(LaunchFlags, OfDlroverAreNotTorchruns) {
    EXPECT_EQ(refusal({"--grow=now", "a.py"}, {}, LaunchCommand::kTorchrun), "accepted");
    EXPECT_EQ(refusal({"--precheck=1", "a.py"}, {}, LaunchCommand::kDlroverRun), "accepted");
    EXPECT_EQ(refusal({"a.py"}, {{"PET_PRECHECK", "7"}}, LaunchCommand::kTorchrun), "accepted");
}

TEST(LaunchFlags, WithoutEffectAreSaid) {
    struct Row {
        Words words;
        Variables variables;
        log::Level level;
        std::string says;
    };
    const log::Level kWarning = log::Level::kWarning;
    const Row kRows[] = {
        {{"--logs-specs=mine", "a.py"}, {}, kWarning, "--logs-specs mine has no effect: it names"},
        {{"--auto-tunning", "a.py"},
         {},
         kWarning,
         "--auto-tunning has no effect: nothing is tuned"},
        {{"--monitor-interval=5", "a.py"},
         {},
         log::Level::kDebug,
         "the death of a worker is an event"},
        {{"a.py"}, {{"PET_EVENT_LOG_HANDLER", "x"}}, kWarning, "PET_EVENT_LOG_HANDLER=x has no"},
        {{"a.py"},
         {{"TORCHELASTIC_ENABLE_FILE_TIMER", "1"}},
         kWarning,
         "there is no such timer here"},
        {{"a.py"}, {{"DLROVER_MASTER_SERVICE_TYPE", "ray"}}, kWarning, "it is not Ray"},
        {{"a.py"}, {{"MONITOR_ENABLED", "true"}}, log::Level::kDebug, "steps are always watched"},
        {{"a.py"}, {{"PET_NPROC_PER_NODES", "2"}}, kWarning, "did you mean PET_NPROC_PER_NODE?"},
    };
    for (const Row& row : kRows) {
        const auto flags = read(row.words, row.variables);
        ASSERT_TRUE(flags) << row.says;
        ASSERT_EQ(flags->notices.size(), 1u) << row.says;
        EXPECT_THAT(flags->notices[0].text, HasSubstr(row.says));
        EXPECT_EQ(flags->notices[0].level, row.level) << row.says;
    }
    for (const Variables& variables :
         {Variables{{"DLROVER_MASTER_SERVICE_TYPE", "grpc"}}, Variables{{"XPU_TIMER_PORT", ""}},
          Variables{{"PET_MONITOR_INTERVAL", "0.1"}}, Variables{{"PET_AUTO_TUNNING", "0"}}})
        EXPECT_THAT(read({"a.py"}, variables)->notices, IsEmpty());
}

TEST(LaunchFlags, PrintInsteadOfRunning) {
    for (const Words& words : {Words{"--help"}, Words{"-h"}, Words{"--nnodes=2", "-h", "a.py"}}) {
        const auto parsed = parse_launch_flags(LaunchCommand::kTorchrun, words, {});
        ASSERT_TRUE(parsed);
        EXPECT_EQ(std::get<LaunchPrint>(*parsed), LaunchPrint::kHelp);
    }
    EXPECT_EQ(std::get<LaunchPrint>(*parse_launch_flags({}, {"--version"}, {})),
              LaunchPrint::kVersion);
    EXPECT_EQ(refusal({"a.py", "--help"}), "accepted") << "that is the script's";
}

TEST(FlagReference, IsInDocs) {
    std::ifstream file(source_path("docs/flags.md"));
    ASSERT_TRUE(file) << "docs/flags.md is missing: ./dev docs writes it";
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), flag_reference()) << "./dev docs rewrites it";
}

TEST(LaunchHelp, HasWhatTheCommandKnows) {
    for (const LaunchCommand command : {LaunchCommand::kMusterRun, LaunchCommand::kTorchrun,
                                        LaunchCommand::kDlroverRun, LaunchCommand::kTorchLaunch}) {
        const std::string help = launch_help(command);
        EXPECT_THAT(help, HasSubstr(fmt::format("Usage: {} [flags]", to_string(command))));
        for (const FlagRow& row : flag_table())
            EXPECT_EQ(help.find(fmt::format("--{}", row.name)) != std::string::npos,
                      knows(command, row) && !row.hidden)
                << row.name;
        for (const auto line : help | std::views::split('\n'))
            EXPECT_LE(std::string_view(line.begin(), line.end()).size(), 100u);
    }
}

}  // namespace
}  // namespace muster::launch::flags_test
