#include "jobs/internal/agents/launcher_call.h"

#include <gmock/gmock.h>

namespace muster::jobs::launcher_call_test {
namespace {

using testing::HasSubstr;

/// What becomes of the text; "-": it calls no launcher; "!": refused.
std::string edited(const std::string& text) {
    const auto made = with_agents(text, "/m agent-for", "");
    if (!made) return "!" + made.error().message();
    return *made ? **made : "-";
}

struct Row {
    std::string text;
    std::string made;
};

TEST(LauncherCall, IsFoundWhereAShellCallsIt) {
    const Row rows[] = {
        {"torchrun x.py", "/m agent-for torchrun x.py"},
        {"cd /work; torchrun x.py", "cd /work; /m agent-for torchrun x.py"},
        {"cd /work && exec torchrun \\\n  --nnodes 2 x.py",
         "cd /work && exec /m agent-for torchrun \\\n  --nnodes 2 x.py"},
        {"source venv/bin/activate\ntorchrun x.py 2>&1 | tee log",
         "source venv/bin/activate\n/m agent-for torchrun x.py 2>&1 | tee log"},
        {"A=1 NCCL_DEBUG=INFO torchrun x.py", "A=1 NCCL_DEBUG=INFO /m agent-for torchrun x.py"},
        {"if [ -f x ]; then torchrun x; else dlrover-run x; fi",
         "if [ -f x ]; then /m agent-for torchrun x; else /m agent-for dlrover-run x; fi"},
        {"{ torchrun x; }", "{ /m agent-for torchrun x; }"},
        {"(torchrun x)", "(/m agent-for torchrun x)"},
        {"timeout -k 5 1h numactl --all torchrun x",
         "timeout -k 5 1h numactl --all /m agent-for torchrun x"},
        {"time -p torchrun x", "time -p /m agent-for torchrun x"},
        {"conda run -n train torchrun x", "conda run -n train /m agent-for torchrun x"},
        {"env -u A torchrun x", "env -u A /m agent-for torchrun x"},
        {"/opt/venv/bin/torchrun x", "/m agent-for /opt/venv/bin/torchrun x"},
        {"\"$VENV\"/bin/torchrun x", "/m agent-for \"$VENV\"/bin/torchrun x"},
        {"\"${VENV}/bin/torchrun\" x", "/m agent-for \"${VENV}/bin/torchrun\" x"},
        {"'torchrun' x", "/m agent-for 'torchrun' x"},
        {"python -u -m torch.distributed.run --nnodes 2 x", "/m agent-for python --nnodes 2 x"},
        {"\"$V/bin/python3.11\" -m torch.distributed.run x",
         "/m agent-for \"$V/bin/python3.11\" x"},
        {"cd x; python -u -m torch.distributed.launch --use-env x",
         "cd x; /m agent-for python -m torch.distributed.launch --use-env x"},
        {"python3 -m dlrover.trainer.torch.main --nnodes=2 x",
         "/m agent-for python3 -m dlrover.trainer.torch.main --nnodes=2 x"},
        {"bash -c 'cd x; torchrun x'", "bash -c 'cd x; /m agent-for torchrun x'"},
        {"bash -euo pipefail -c \"torchrun $X\"",
         "bash -euo pipefail -c \"/m agent-for torchrun $X\""},
        {"eval \"torchrun $X\"", "eval \"/m agent-for torchrun $X\""},
        {"RUN=(torchrun x); \"${RUN[@]}\"", "RUN=(/m agent-for torchrun x); \"${RUN[@]}\""},
        {"# don't\ntorchrun x", "# don't\n/m agent-for torchrun x"},
        {"command -v torchrun && torchrun x", "command -v torchrun && /m agent-for torchrun x"},
        {"torchrun a; torchrun b", "/m agent-for torchrun a; /m agent-for torchrun b"},
    };
    for (const Row& row : rows) EXPECT_EQ(edited(row.text), row.made) << row.text;
    const auto warm = with_agents("cd x; torchrun x", "/m agent-for", " --warm");
    ASSERT_TRUE(warm && *warm);
    EXPECT_EQ(**warm, "cd x; /m agent-for torchrun --warm x");
    EXPECT_EQ(**with_agents("python -m torch.distributed.launch x", "/m agent-for", " --warm"),
              "/m agent-for python -m torch.distributed.launch --warm x");
}

TEST(LauncherCall, IsNotWhereItsNameIsOnlyMentioned) {
    for (const char* text :
         {"python train.py", "echo torchrun", "echo \"starting torchrun\"; python x.py",
          "cd logs/torchrun && python x.py", "python x.py --group torchrun", "./run.sh torchrun",
          "mkdir -p torchrun-logs", "bash torchrun.sh", "type torchrun", "cat <<X\n# torchrun\nX",
          "python -m torch.distributed.runner", "pip install torch", "",
          "PATH=/opt/torchrun/bin:$PATH python x"})
        EXPECT_EQ(edited(text), "-") << text;
}

TEST(LauncherCall, IsRefusedWhereAnAgentCannotTakeItsPlace) {
    for (const char* text :
         {"RUN=torchrun; $RUN x", "export RUN='torchrun --nnodes 2'; $RUN x",
          "\"$(which torchrun)\" x", "$(which torchrun) x", "`command -v torchrun` x",
          "${RUN:-torchrun} x", "eval torchrun x", "bash -c \"bash -c \\\"torchrun x\\\"\""})
        EXPECT_THAT(edited(text), HasSubstr("!torchrun is called by way of ")) << text;
    for (const char* text :
         {"python -O -m torch.distributed.launch x", "python3 -O -m torch.distributed.run x"})
        EXPECT_THAT(edited(text), HasSubstr("starts torch's own agent here")) << text;
    for (const char* text : {"cat <<X\ndon't\nX\ntorchrun x", "torchrun \"x", "torchrun ${x"})
        EXPECT_THAT(edited(text), HasSubstr("a quote is not closed")) << text;
}

TEST(LauncherCall, MayBeBehindOtherWordsOfACommand) {
    using Kind = LauncherCall::Kind;
    struct Call {
        std::vector<std::string> words;
        std::optional<LauncherCall> call;
    };
    const Call calls[] = {
        {{"torchrun", "x"}, LauncherCall{.index = 0}},
        {{"/usr/bin/env", "A=1", "torchrun", "x"}, LauncherCall{.index = 2}},
        {{"tini", "--", "python", "-m", "torch.distributed.run", "x"},
         LauncherCall{.index = 2, .count = 3}},
        {{"python", "-u", "-m", "torch.distributed.launch", "x"},
         LauncherCall{.index = 0, .count = 4, .module = " -m torch.distributed.launch"}},
        {{"bash", "-lc", "x"}, LauncherCall{.kind = Kind::kText, .index = 2}},
        {{"env", "bash", "-o", "pipefail", "-c", "x", "0"},
         LauncherCall{.kind = Kind::kText, .index = 5}},
        {{"bash", "--norc", "-ceuo", "pipefail", "x"},
         LauncherCall{.kind = Kind::kText, .index = 4}},
        {{"bash", "run.sh", "-c", "x"}, std::nullopt},
        {{"bash"}, std::nullopt},
        {{"python", "x.py", "torchrun"}, std::nullopt},
        {{"python", "-c", "torchrun"}, std::nullopt},
        {{"train", "torchrun"}, std::nullopt},
        {{}, std::nullopt},
    };
    for (const Call& one : calls) {
        const auto found = find_launcher_call(one.words);
        ASSERT_TRUE(found) << testing::PrintToString(one.words);
        EXPECT_TRUE(*found == one.call) << testing::PrintToString(one.words);
    }
}

}  // namespace
}  // namespace muster::jobs::launcher_call_test
