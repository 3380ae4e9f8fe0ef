#include "manifest/internal/agent_command.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace muster::manifest {
namespace {

struct Row {
    std::string container;
    std::string command;  ///< empty: none
};

TEST(AgentCommand, TakesThePlaceOfTorchrunAndStartsAnythingElse) {
    const Row rows[] = {
        {R"({"command":["python","train.py","--epochs","3"]})",
         R"(["agent","--nproc-per-node=1","--no-python","python","train.py","--epochs","3"])"},
        {R"({"command":["sh","-c"],"args":["exec train"]})",
         R"(["agent","--nproc-per-node=1","--no-python","sh","-c","exec train"])"},
        {R"({"command":["torchrun","--nproc-per-node=2","train.py"]})",
         R"(["agent","--nproc-per-node=2","train.py"])"},
        {R"({"command":["/opt/conda/bin/torchrun"],"args":["train.py"]})",
         R"(["agent","train.py"])"},
        {R"({"args":["python3","-u","-m","torch.distributed.run","train.py"]})",
         R"(["agent","train.py"])"},
        {R"({"command":["python3","-m","torch.distributed.run","--nnodes","2","t.py"]})",
         R"(["agent","--nnodes","2","t.py"])"},
        {R"({"command":["python3","-m","mine"]})",
         R"(["agent","--nproc-per-node=1","--no-python","python3","-m","mine"])"},
        {R"({"command":null,"args":[]})", ""},
        {R"({"command":"python"})", ""},
        {R"({"command":[1]})", ""},
    };
    for (const Row& row : rows) {
        const auto made = agent_command(json::parse(row.container).get_object(), {{"agent"}});
        EXPECT_EQ(made ? json::serialize(*made) : "", row.command) << row.container;
    }
}

TEST(AgentCommand, StartsScriptsOfPythonItselfWhereTheyShallBeWarm) {
    const Row rows[] = {
        {R"({"command":["torchrun","--nproc-per-node=2","train.py"]})",
         R"(["agent","--warm","--nproc-per-node=2","train.py"])"},
        {R"({"command":["/opt/bin/python3","train.py","-m","3"]})",
         R"(["env","PYTHON_EXEC=/opt/bin/python3","agent","--warm","--nproc-per-node=1","train.py","-m","3"])"},
        {R"({"command":["python","-u","-m","mine","x"]})",
         R"(["env","PYTHON_EXEC=python","agent","--warm","--nproc-per-node=1","-m","mine","x"])"},
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
    for (const Row& row : rows) {
        const auto made = agent_command(json::parse(row.container).get_object(), {{"agent"}, true});
        EXPECT_EQ(made ? json::serialize(*made) : "", row.command) << row.container;
    }
}

}  // namespace
}  // namespace muster::manifest
