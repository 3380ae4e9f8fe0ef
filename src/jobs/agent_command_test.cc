#include "jobs/agent_command.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace muster::jobs::agent_command_test {
namespace {

struct Row {
    std::string container;
    std::string command;  ///< empty: none
};

/// "!": refused.
std::string command_of(const std::string& container, bool warm = false) {
    const auto made =
        agent_command(json::parse(container).get_object(),
                      {.words = {"agent"}, .warm = warm, .in_place_of = {"agent", "for"}});
    if (!made) return "!" + made.error().message();
    return *made ? json::serialize(**made) : "";
}

TEST(AgentCommand, TakesThePlaceOfTorchrunAndStartsAnythingElse) {
    const Row rows[] = {
        {R"({"command":["python","train.py","--epochs","3"]})",
         R"(["agent","--nproc-per-node=1","--no-python","python","train.py","--epochs","3"])"},
        {R"({"command":["sh","-c"],"args":["exec train"]})",
         R"(["agent","--nproc-per-node=1","--no-python","sh","-c","exec train"])"},
        // Only torchrun replaces $$.
        {R"({"command":["sh","-c","echo $$ $local_rank"]})",
         R"(["agent","--nproc-per-node=1","--literal-args","--no-python","sh","-c","echo $$ $local_rank"])"},
        {R"({"command":["torchrun","train.py","$$ $local_rank"]})",
         R"(["agent","for","torchrun","train.py","$$ $local_rank"])"},
        {R"({"command":["torchrun","--nproc-per-node=2","train.py"]})",
         R"(["agent","for","torchrun","--nproc-per-node=2","train.py"])"},
        {R"({"command":["/opt/conda/bin/torchrun"],"args":["train.py"]})",
         R"(["agent","for","/opt/conda/bin/torchrun","train.py"])"},
        {R"({"args":["python3","-u","-m","torch.distributed.run","train.py"]})",
         R"(["agent","for","python3","train.py"])"},
        {R"({"command":["/v/bin/python","-m","torch.distributed.run","--nnodes","2","t.py"]})",
         R"(["agent","for","/v/bin/python","--nnodes","2","t.py"])"},
        {R"({"command":["env","A=1","torchrun","t.py"]})",
         R"(["env","A=1","agent","for","torchrun","t.py"])"},
        {R"({"command":["bash","-c"],"args":["cd /work; torchrun t.py"]})",
         R"(["bash","-c","cd /work; agent for torchrun t.py"])"},
        {R"({"command":["bash","-c","echo torchrun; python t.py"]})",
         R"(["agent","--nproc-per-node=1","--no-python","bash","-c","echo torchrun; python t.py"])"},
        {R"({"command":["python3","-m","mine"]})",
         R"(["agent","--nproc-per-node=1","--no-python","python3","-m","mine"])"},
        {R"({"command":null,"args":[]})", ""},
        {R"({"command":"python"})", ""},
        {R"({"command":[1]})", ""},
    };
    for (const Row& row : rows) EXPECT_EQ(command_of(row.container), row.command) << row.container;
}

TEST(AgentCommand, StartsScriptsOfPythonItselfWhereTheyShallBeWarm) {
    const Row rows[] = {
        {R"({"command":["torchrun","--nproc-per-node=2","train.py"]})",
         R"(["agent","for","torchrun","--warm","--nproc-per-node=2","train.py"])"},
        {R"({"command":["bash","-c","torchrun t.py"]})",
         R"(["bash","-c","agent for torchrun --warm t.py"])"},
        {R"({"command":["/opt/bin/python3","train.py","-m","3"]})",
         R"(["env","PYTHON_EXEC=/opt/bin/python3","agent","--warm","--nproc-per-node=1","train.py","-m","3"])"},
        {R"({"command":["python","-u","-m","mine","x"]})",
         R"(["env","PYTHON_EXEC=python","agent","--warm","--nproc-per-node=1","-m","mine","x"])"},
        {R"({"command":["python","train.py","$$"]})",
         R"(["env","PYTHON_EXEC=python","agent","--warm","--nproc-per-node=1","--literal-args","train.py","$$"])"},
        {R"({"command":["python","-u","-m","dlrover.trainer.torch.main","t.py"]})",
         R"(["agent","for","python","-m","dlrover.trainer.torch.main","--warm","t.py"])"},
        // What is not a script starts as it is.
        {R"({"command":["python","-c","pass"]})",
         R"(["agent","--nproc-per-node=1","--no-python","python","-c","pass"])"},
        {R"({"command":["python","-O","train.py"]})",
         R"(["agent","--nproc-per-node=1","--no-python","python","-O","train.py"])"},
        {R"({"command":["python","-m"]})",
         R"(["agent","--nproc-per-node=1","--no-python","python","-m"])"},
        {R"({"command":["python"]})", R"(["agent","--nproc-per-node=1","--no-python","python"])"},
        {R"({"command":["sh","-c"],"args":["exec train"]})",
         R"(["agent","--nproc-per-node=1","--no-python","sh","-c","exec train"])"},
    };
    for (const Row& row : rows)
        EXPECT_EQ(command_of(row.container, true), row.command) << row.container;
}

TEST(AgentCommand, LeavesOtherProgramsAsTheyAreIfOnlyLaunchersAreMeant) {
    const AgentWords agent{.words = {"agent"}, .in_place_of = {"agent", "for"}};
    const auto made = [&](const char* container) {
        return agent_in_place(json::parse(container).get_object(), agent);
    };
    EXPECT_EQ(json::serialize(**made(R"({"command":["dlrover-run","t.py"]})")),
              R"(["agent","for","dlrover-run","t.py"])");
    for (const char* container :
         {R"({"command":["python","t.py"]})", R"({"command":["sh","-c","train"]})", "{}"}) {
        const auto left = made(container);
        EXPECT_TRUE(left && !*left) << container;
    }
    EXPECT_FALSE(made(R"({"command":["sh","-c","R=torchrun; $R t.py"]})"));
    EXPECT_TRUE(starts_python({"/opt/bin/python3", "-u", "t.py"}));
    EXPECT_FALSE(starts_python({"python", "-c", "pass"}));
    EXPECT_FALSE(starts_python({"train"}));
    EXPECT_FALSE(starts_python({}));
}

TEST(AgentCommand, RefusesWhatWouldStartTorchsAgent) {
    for (const char* container :
         {R"({"command":["bash","-c","RUN=torchrun; $RUN t.py"]})",
          R"({"command":["python","-O","-m","torch.distributed.run","t.py"]})"})
        EXPECT_THAT(command_of(container), testing::StartsWith("!")) << container;
    // A script starts it in the pod, where it is torch's own.
    AgentWords reading{.words = {"agent"}, .in_place_of = {"agent", "for"}};
    reading.text_of = [](const std::string& path) -> std::string {
        if (path == "/w/run.sh") return "#!/bin/sh\ncd x\ntorchrun t.py\n";
        if (path == "other.sh") return "#!/bin/sh\necho torchrun\npython t.py\n";
        if (path == "/opt/tool") return "#!/usr/bin/python3\ntorchrun\n";
        return "";
    };
    for (const auto& [container, refused] :
         {std::pair<std::string, bool>(R"({"command":["bash","-e","run.sh"],"workingDir":"/w"})",
                                       true),
          {R"({"command":["/w/run.sh","2"]})", true},
          {R"({"command":["bash","other.sh"]})", false},
          {R"({"command":["/opt/tool"]})", false},
          {R"({"command":["bash","gone.sh"]})", false},
          {R"({"command":["bash","-c","echo x","run.sh"],"workingDir":"/w"})", false}})
        EXPECT_EQ(!agent_command(json::parse(container).get_object(), reading), refused)
            << container;
    // What stands between quotes can't be quoted once more.
    const auto made =
        agent_command(json::parse(R"({"command":["sh","-c","torchrun t.py"]})").get_object(),
                      {.words = {"a'b"}, .in_place_of = {"a'b", "for"}});
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message(), testing::HasSubstr("a'b"));
}

}  // namespace
}  // namespace muster::jobs::agent_command_test
