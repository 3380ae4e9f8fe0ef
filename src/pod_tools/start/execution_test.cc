#include "pod_tools/start/execution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "pod_tools/start/program_files.h"

namespace muster::pod_tools::execution_test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr std::int64_t kPid = 77;

class Start : public testing::Test {
  protected:
    Start() {
        program("m/bin/muster-start",
                "\x7f"
                "ELF");
        link("m/bin/python", "muster-start");
        link("m/bin/python3", "muster-start");
    }
    ~Start() override { fs::remove_all(folder_); }

    static fs::path made() {
        std::string path = (fs::temp_directory_path() / "start.XXXXXX").string();
        return fs::canonical(::mkdtemp(path.data()));
    }
    void program(const std::string& name, const std::string& text) const {
        fs::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name) << text;
        fs::permissions(folder_ / name, fs::perms(0755));
    }
    /// An interpreter as distributions have it: python is a link to python3, and that to python3.11.
    void python(const std::string& folder) const {
        program(folder + "/python3.11",
                "\x7f"
                "ELF");
        link(folder + "/python3", "python3.11");
        link(folder + "/python", "python3");
    }
    void link(const std::string& name, const std::string& to) const {
        fs::create_directories((folder_ / name).parent_path());
        fs::create_symlink(to, folder_ / name);
    }
    std::string at(const std::string& name) const { return (folder_ / name).string(); }
    std::string path(const std::vector<std::string>& folders) const {
        std::string text = "PATH=";
        for (const std::string& one : folders)
            text += (text.ends_with('=') ? "" : ":") + (one.starts_with('/') ? one : at(one));
        return text;
    }
    Execution command(std::vector<std::string> words, Environment environment = {}) const {
        return command_execution(at("m/bin"), std::move(words), std::move(environment));
    }
    Execution by_name(const std::string& name, const std::vector<std::string>& words,
                      Environment environment) const {
        return python_execution(at("m/bin"), name, words, std::move(environment), kPid);
    }

    fs::path folder_ = made();
};

TEST_F(Start, PutsItsFoldersFirst) {
    const Execution with = command({"train", "-x"}, {"PATH=/usr/bin:/bin", "PYTHONPATH=/code"});
    EXPECT_THAT(with.environment, ElementsAre("PATH=" + at("m/bin") + ":/usr/bin:/bin",
                                              "PYTHONPATH=" + at("m/python") + ":/code"));
    EXPECT_THAT(with.places, ElementsAre(at("m/bin/train"), "/usr/bin/train", "/bin/train"));
    EXPECT_THAT(with.words, ElementsAre("train", "-x"));
    EXPECT_FALSE(with.called_by_place);
    const Execution without = command({"train"});
    EXPECT_THAT(without.environment,
                ElementsAre("PATH=" + at("m/bin") +
                                ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                            "PYTHONPATH=" + at("m/python")));
}

TEST_F(Start, TakesThePlaceOfALauncherThatACommandNamesByItsPath) {
    python("venv/bin");
    program("venv/bin/torchrun", "#!" + at("venv/bin/python"));
    const Execution torchrun = command({at("venv/bin/torchrun"), "x.py"});
    EXPECT_THAT(torchrun.places, ElementsAre(at("m/bin/muster-run")));
    EXPECT_THAT(torchrun.words,
                ElementsAre("muster", "muster-run-for", at("venv/bin/torchrun"), "x.py"));
    EXPECT_THAT(torchrun.environment, Contains(StartsWith("PATH=" + at("m/bin"))));
    const Execution module = command(
        {at("venv/bin/python3"), "-u", "-m", "torch.distributed.run", "--nnodes=2", "x.py"});
    EXPECT_THAT(module.words, ElementsAre("muster", "muster-run-for", at("venv/bin/python3"), "-m",
                                          "torch.distributed.run", "--nnodes=2", "x.py"));
    EXPECT_THAT(command({at("venv/bin/python3"), "x.py"}).places,
                ElementsAre(at("venv/bin/python3")));
    EXPECT_THAT(command({at("m/bin/torchrun"), "x.py"}).places, ElementsAre(at("m/bin/torchrun")));
    EXPECT_THAT(command({at("gone/torchrun"), "x.py"}).places, ElementsAre(at("gone/torchrun")))
        << "what is said then is that it is missing";
}

TEST_F(Start, APythonIsTheNextOneOfPath) {
    python("venv/bin");
    python("usr/bin");
    const Execution next = by_name("python", {"x.py"}, {path({"m/bin", "venv/bin", "usr/bin"})});
    EXPECT_EQ(next.places.front(), at("venv/bin/python"));
    EXPECT_TRUE(next.called_by_place);
    EXPECT_THAT(next.words, ElementsAre("python", "x.py"));
    EXPECT_THAT(next.environment, ElementsAre(path({"m/bin", "venv/bin", "usr/bin"})));
    EXPECT_EQ(by_name("python3", {}, {path({"usr/bin", "m/bin", "venv/bin"})}).places,
              std::vector{at("venv/bin/python3")})
        << "whoever put a folder before ours has been asked already";
    EXPECT_EQ(by_name("python3", {}, {path({"usr/bin", "venv/bin"})}).places.front(),
              at("usr/bin/python3"))
        << "called by its path";
}

TEST_F(Start, APythonIsNeverItself) {
    python("usr/bin");
    link("also", "m/bin");
    link("linked/python", at("m/bin/python"));
    program("copy/bin/muster-start", "");
    link("copy/bin/python", "muster-start");
    const Execution next = by_name("python", {},
                                   {path({"m/bin", "m/bin", "m/../m/bin/", "also", "linked",
                                          "copy/bin", "usr/bin", "m/bin"})});
    EXPECT_EQ(next.places.front(), at("usr/bin/python"));
    for (const std::string& place : next.places) EXPECT_FALSE(is_start_program(place)) << place;
    const Execution none = by_name("python3", {}, {path({"m/bin", "also"})});
    EXPECT_THAT(none.places, IsEmpty());
}

TEST_F(Start, APythonThatPathLacksIsAPython3) {
    program("usr/bin/python3",
            "\x7f"
            "ELF");
    const Execution next = by_name("python", {"x.py"}, {path({"m/bin", "usr/bin"})});
    EXPECT_THAT(next.places, ElementsAre(at("usr/bin/python"), at("usr/bin/python3")));
}

// pyenv's shim looks for the system's Python in PATH without its own folder, and finds ours.
TEST_F(Start, AScriptThatComesBackIsNotAskedAgain) {
    program("shims/python", "#!/bin/sh\n");
    program("shims/python3", "#!/bin/sh\n");
    program("usr/bin/python3.11",
            "\x7f"
            "ELF");
    link("usr/bin/python3", "python3.11");
    const std::string with = path({"m/bin", "shims", "usr/bin"});
    const Execution first = by_name("python", {}, {with});
    EXPECT_EQ(first.places.front(), at("shims/python"));
    EXPECT_THAT(first.environment, Contains("MUSTER_PYTHON=77 " + at("shims/python")));

    const std::string without = path({"m/bin", "usr/bin"});
    const Execution second =
        by_name("python", {}, {without, "MUSTER_PYTHON=77 " + at("shims/python")});
    EXPECT_THAT(second.places, ElementsAre(at("usr/bin/python"), at("usr/bin/python3")));
    EXPECT_THAT(second.environment, ElementsAre(without)) << "its children begin at the front";

    const Execution back = by_name("python", {}, {with, "MUSTER_PYTHON=77 " + at("shims/python")});
    EXPECT_THAT(back.places,
                ElementsAre(at("usr/bin/python"), at("shims/python3"), at("usr/bin/python3")));
    EXPECT_THAT(back.environment, Contains("MUSTER_PYTHON=77 " + at("shims/python3")));
    const Execution last =
        by_name("python3", {}, {with, "MUSTER_PYTHON=77 " + at("shims/python3")});
    EXPECT_THAT(last.places, ElementsAre(at("usr/bin/python3")));

    for (const char* other : {"MUSTER_PYTHON=78 ", "MUSTER_PYTHON=77", "MUSTER_PYTHON=x "})
        EXPECT_EQ(by_name("python", {}, {with, other + at("shims/python")}).places.front(),
                  at("shims/python"))
            << other;
}

TEST_F(Start, ALaunchersModuleIsTheAgentWithThePythonThatWouldHaveRun) {
    python("venv/bin");
    const Execution agent = by_name("python", {"-u", "-mdlrover.trainer.torch.main", "x.py"},
                                    {path({"m/bin", "venv/bin"})});
    EXPECT_THAT(agent.places, ElementsAre(at("m/bin/muster-run")));
    EXPECT_THAT(agent.words, ElementsAre("muster", "muster-run-for", at("venv/bin/python"), "-m",
                                         "dlrover.trainer.torch.main", "x.py"));
    EXPECT_FALSE(agent.called_by_place);
    const Execution none =
        by_name("python", {"-m", "torch.distributed.run", "x.py"}, {path({"m/bin"})});
    EXPECT_THAT(none.places, Not(Contains(at("m/bin/muster-run"))));
}

TEST_F(Start, FindsItsOwnFolder) {
    link("usr/bin/python", at("m/bin/python"));
    const auto found = [&](std::vector<std::string> called) { return own_folder(called); };
    EXPECT_EQ(found({at("m/bin/python3")}), at("m/bin"));
    EXPECT_EQ(found({at("usr/bin/python")}), at("m/bin"));
    EXPECT_EQ(found({at("script.sh"), at("m/bin/../bin/python")}), at("m/bin"));
    EXPECT_EQ(found({at("script.sh")}), "");
}

TEST_F(Start, SaysWhatWasLookedForAndWhere) {
    const auto said = [&](const std::vector<std::string>& places, const std::string& name) {
        const Execution execution{.places = places, .words = {name}, .environment = {}};
        const StartFailure failure = start_failure(name, execution, execute(execution));
        return std::to_string(failure.exit_status) + " " + failure.text;
    };
    const std::string none = at("none/train");
    EXPECT_EQ(
        said({none, at("m/bin/train")}, "train"),
        "127 muster-start: train: not found; looked for " + none + ", " + at("m/bin/train") + "\n");
    EXPECT_EQ(said({none}, none), "127 muster-start: " + none + ": not found\n");
    EXPECT_EQ(said({}, ""), "127 muster-start: : not found\n");
    EXPECT_EQ(said({at("m")}, at("m")), "126 muster-start: " + at("m") + " can't be executed: " +
                                            at("m") + ": Is a directory\n");
    program("bad", "#!/no/such/shell\n");
    EXPECT_EQ(said({none, at("bad")}, "bad"),
              "127 muster-start: bad can't be executed: /no/such/shell, which is to run it, is "
              "missing\n");
    program("text", "echo\n");
    EXPECT_EQ(said({none, at("text")}, "text"),
              "126 muster-start: text can't be executed: " + at("text") +
                  " is no program of this machine, and has no first line that says what runs it "
                  "(#!)\n");
    fs::permissions(folder_ / "text", fs::perms(0644));
    EXPECT_EQ(said({at("text"), none}, "text"),
              "126 muster-start: text can't be executed: " + at("text") + ": Permission denied\n");
}

}  // namespace
}  // namespace muster::pod_tools::execution_test
