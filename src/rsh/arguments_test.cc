#include "rsh/arguments.h"

#include <gtest/gtest.h>

#include <optional>

namespace muster::rsh::arguments_test {
namespace {

using Words = std::vector<std::string>;

struct LineCase {
    std::string name;
    Words words;
    std::string host;
    std::string command;
    std::uint16_t port = Arguments().port;
    bool input = true;
};

TEST(RshArguments, HasOptionsOfSshThenAHostThenACommandForAShell) {
    for (const LineCase& row : std::vector<LineCase>{
             {"Open MPI",
              {"w-0.job.ns.svc", "PATH=/x:$PATH", ";", "orted -mca a \"b\""},
              "w-0.job.ns.svc",
              "PATH=/x:$PATH ; orted -mca a \"b\""},
             {"Hydra for rsh",
              {"w-0", "\"/usr/bin/hydra_pmi_proxy\"", "--control-port", "l:1"},
              "w-0",
              "\"/usr/bin/hydra_pmi_proxy\" --control-port l:1"},
             {"Hydra for ssh",
              {"-x", "-q", "w-0", "hydra_pmi_proxy", "--rmk"},
              "w-0",
              "hydra_pmi_proxy --rmk"},
             {"options with values",
              {"-o", "ConnectionAttempts=10", "-oA=b", "-p", "22", "w", "ls"},
              "w",
              "ls",
              22},
             {"letters together", {"-xnp7", "w", "ls"}, "w", "ls", 7, false},
             {"the end of options", {"--", "w", "-x"}, "w", "-x"},
             {"options of the command", {"w", "ls", "-l", "--port"}, "w", "ls -l --port"},
             {"options of ours", {"--port=99", "--port", "98", "w", "ls"}, "w", "ls", 98},
         }) {
        SCOPED_TRACE(row.name);
        Arguments options;
        const auto wrong = parse_arguments(row.words, options);
        EXPECT_EQ(wrong, std::nullopt);
        EXPECT_EQ(options.host, row.host);
        EXPECT_EQ(options.command, row.command);
        EXPECT_EQ(options.port, row.port);
        EXPECT_EQ(options.input, row.input);
        EXPECT_FALSE(options.serve);
    }
}

TEST(RshArguments, OrServes) {
    Arguments options;
    EXPECT_EQ(parse_arguments({"--serve", "--listen", "10.0.0.1", "--port=5", "--token-file", "t"},
                              options),
              std::nullopt);
    EXPECT_TRUE(options.serve);
    EXPECT_EQ(options.listen, "10.0.0.1");
    EXPECT_EQ(options.port, 5);
    EXPECT_EQ(options.token_file, "t");
}

TEST(RshArguments, SaysWhatIsWrong) {
    const std::pair<Words, const char*> rows[] = {
        {{}, "name the host"},
        {{"w"}, "the command to run on w"},
        {{"-l", "me", "w", "ls"}, "as the worker's user"},
        {{"me@w", "ls"}, "as the worker's user"},
        {{"-Z", "w", "ls"}, "-Z"},
        {{"--ports", "1", "w", "ls"}, "--ports"},
        {{"--port", "0", "w", "ls"}, "1 to 65535"},
        {{"-p", "65536", "w", "ls"}, "1 to 65535"},
        {{"--port"}, "needs a value"},
        {{"--patience", "soon", "w", "ls"}, "60s"},
        {{"--serve", "w"}, "no host"},
    };
    for (const auto& [words, part] : rows) {
        Arguments options;
        const auto wrong = parse_arguments(words, options);
        ASSERT_TRUE(wrong) << part;
        EXPECT_NE(wrong->find(part), std::string::npos) << *wrong;
    }
}

}  // namespace
}  // namespace muster::rsh::arguments_test
