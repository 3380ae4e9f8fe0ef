#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/async/first_of.h"
#include "base/unique_fd.h"
#include "runtime/internal/node_fixture.h"

// What real processes and terminals do beyond the contract of NodeApi.

namespace muster::runtime::node_exec_test {
namespace {

class NodeExecTest : public NodeTest {
  protected:
    void SetUp() override {
        NodeTest::SetUp();
        if (IsSkipped()) return;
        start_node();
        create(pod_json("p", shell("exec sleep 1000")));
        wait_phase("p", "Running");
    }
    std::unique_ptr<kube::CommandSession> exec(const std::string& script, bool input = false,
                                               bool terminal = false) {
        kube::CommandOptions with;
        with.container = "main";
        with.command = {"sh", "-c", script};
        with.input = input;
        with.output = true;
        with.error = !terminal;
        with.terminal = terminal;
        auto session = await(node->exec("default", "p", with));
        EXPECT_TRUE(session) << session.error().message();
        return session ? *std::move(session) : nullptr;
    }
    /// All output, to the end.
    static Task<std::string> read_all(kube::CommandSession& session) {
        std::string text;
        for (;;) {
            auto piece = co_await session.read();
            if (!piece || !*piece) co_return text;
            text += (*piece)->bytes;
        }
    }
    std::string rest(kube::CommandSession& session) { return await(read_all(session)); }
    std::string until(kube::CommandSession& session, std::string_view wanted) {
        std::string text;
        while (text.find(wanted) == text.npos) {
            auto piece = await(session.read());
            if (!piece || !*piece) break;
            text += (*piece)->bytes;
        }
        return text;
    }
};

TEST_P(NodeExecTest, MegabytesPassBothWaysAndNeitherSideRunsAhead) {
    auto session = exec("cat", true);
    // More than pipes hold: the writer has to wait for the reader.
    std::string text;
    for (int i = 0; text.size() < std::size_t{8} << 20; ++i) text += fmt::format("line {}\n", i);
    std::string received;
    const auto write = [](kube::CommandSession& to, std::string bytes) -> Task<void> {
        for (std::size_t at = 0; at < bytes.size(); at += 100'000)
            co_await to.write(bytes.substr(at, 100'000));
        co_await to.close_input();
        // Whoever reads ends this.
        co_await asio::post(asio::use_awaitable);
        for (;;) co_await asio::post(asio::use_awaitable);
    };
    const auto read = [](kube::CommandSession& from, std::string& into) -> Task<void> {
        into = co_await read_all(from);
    };
    await(first_of(write(*session, text), read(*session, received)));
    EXPECT_TRUE(received == text) << received.size() << " of " << text.size();
    EXPECT_EQ(session->end().value_or(-1), 0);
}

TEST_P(NodeExecTest, InputThatIsNotReadIsDroppedAndTheCommandGoesOn) {
    auto session = exec("exec <&-; echo closed; sleep 0.1; exit 4", true);
    EXPECT_EQ(until(*session, "closed"), "closed\n");
    await(session->write(std::string(std::size_t{1} << 20, 'x')));
    EXPECT_EQ(rest(*session), "");
    EXPECT_EQ(session->end().value_or(-1), 4);
}

TEST_P(NodeExecTest, ATerminalIsOneAndHasTheSizeThatIsAskedFor) {
    auto session =
        exec("tty; stty size; read line; echo \"got $line\"; stty size; echo $TERM", true, true);
    session->resize({.columns = 91, .rows = 33});
    const std::string first = until(*session, "\n");
    EXPECT_THAT(first, testing::StartsWith("/dev/pts/"));
    session->resize({.columns = 120, .rows = 50});
    await(session->write("hello\n"));
    const std::string last = rest(*session);
    EXPECT_THAT(last, testing::HasSubstr("got hello\r\n50 120\r\nxterm\r\n"));
    EXPECT_EQ(session->end().value_or(-1), 0);
}

// Field 41 of a process's stat is its policy; 0 is SCHED_OTHER.
TEST_P(NodeExecTest, WhoSitsAtATerminalIsNotBatchWork) {
    auto session = exec("cut -d' ' -f41 /proc/self/stat", true, true);
    EXPECT_EQ(rest(*session), "0\r\n");
    EXPECT_EQ(session->end().value_or(-1), 0);
}

TEST_P(NodeExecTest, KeysOfATerminalAreSignalsAndItsEndOfInputIsRead) {
    auto session =
        exec("stty -echo; trap 'echo interrupted' INT; echo up; cat; cat; exit 5", true, true);
    until(*session, "up");
    // What comes back says that the program runs to which the keys are meant.
    await(session->write("one\n"));
    until(*session, "one");
    await(session->write("\x03"));
    until(*session, "interrupted");
    await(session->write("two\n"));
    until(*session, "two");
    await(session->close_input());
    (void)rest(*session);
    EXPECT_EQ(session->end().value_or(-1), 5);
}

TEST_P(NodeExecTest, WhoeverLetsGoEndsTheCommandAndWhatItStarted) {
    for (const bool terminal : {false, true}) {
        const std::string fifo = (dir / "work" / (terminal ? "t" : "p")).string();
        ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
        auto session =
            exec(fmt::format("exec 9>'{}'; echo up; sleep 1000; true", fifo), true, terminal);
        UniqueFd alive(::open(fifo.c_str(), O_RDONLY | O_CLOEXEC));
        until(*session, "up");
        session.reset();
        char byte = 0;
        EXPECT_EQ(::read(alive.get(), &byte, 1), 0) << "no process has it open any more";
    }
}

TEST_P(NodeExecTest, WhatACommandLeavesRunningDoesNotHoldItUp) {
    auto session = exec("sleep 1000 & echo gone");
    EXPECT_EQ(rest(*session), "gone\n");
    EXPECT_EQ(session->end().value_or(-1), 0);
}

TEST_P(NodeExecTest, ACommandEndsWithItsContainer) {
    auto session = exec("echo up; exec sleep 1000");
    until(*session, "up");
    remove("p", 0);
    EXPECT_EQ(rest(*session), "");
    EXPECT_EQ(session->end().value_or(-1), 128 + SIGKILL);
}

TEST_P(NodeExecTest, ASessionOutlivesItsPodsWorker) {
    auto session = exec("echo up; exec sleep 1000", true);
    until(*session, "up");
    await(node->stop());
    node.reset();
    EXPECT_EQ(rest(*session), "");
    EXPECT_EQ(session->end().value_or(-1), 128 + SIGKILL);
    await(session->write("nobody reads it"));
}

/// Attached to a container that reads its input.
class NodeAttachTest : public NodeExecTest {
  protected:
    void run(const std::string& pod, const std::string& script, json::object more) {
        create(pod_json(pod, shell(script, std::move(more))));
        wait_phase(pod, "Running");
    }
    std::unique_ptr<kube::CommandSession> attach(const std::string& pod, bool input,
                                                 bool terminal = false) {
        kube::CommandOptions with;
        with.container = "main";
        with.input = input;
        with.output = true;
        with.error = !terminal;
        with.terminal = terminal;
        auto session = await(node->exec("default", pod, with));
        EXPECT_TRUE(session) << session.error().message();
        return session ? *std::move(session) : nullptr;
    }
};

TEST_P(NodeAttachTest, OutputFromNowOnAndInputUntilTheContainerEnds) {
    run("a", "echo before; while read line; do echo got $line; done; echo end", {{"stdin", true}});
    auto session = attach("a", true);
    await(session->write("one\n"));
    const std::string first = until(*session, "got one\n");
    EXPECT_THAT(first, testing::EndsWith("got one\n"));
    auto second = attach("a", true);
    await(session->close_input());
    session.reset();
    await(second->write("two\n"));
    EXPECT_EQ(until(*second, "two\n"), "got two\n") << "it runs on, and can be attached to again";
    EXPECT_THAT(logs("a", {}), testing::HasSubstr("before\ngot one\ngot two\n"));
    remove("a", 0);
    EXPECT_EQ(rest(*second), "");
    EXPECT_EQ(second->end().value_or(-1), 0) << "its status tells how it ended";
}

TEST_P(NodeAttachTest, AnInputForOnceEndsWithTheFirstWhoHadIt) {
    run("a", "cat; echo end", {{"stdin", true}, {"stdinOnce", true}});
    auto session = attach("a", true);
    await(session->write("hello\n"));
    EXPECT_EQ(until(*session, "hello\n"), "hello\n");
    await(session->close_input());
    EXPECT_EQ(rest(*session), "end\n");
    wait_phase("a", "Succeeded");
}

TEST_P(NodeAttachTest, ATerminalOfAContainer) {
    run("a", "tty; read line; stty size; echo \"got $line\" >&2; sleep 1000",
        {{"stdin", true}, {"tty", true}});
    auto session = attach("a", true, true);
    session->resize({.columns = 70, .rows = 20});
    await(session->write("hello\n"));
    EXPECT_THAT(until(*session, "got hello"), testing::HasSubstr("20 70\r\ngot hello"));
    EXPECT_THAT(logs("a", {}), testing::HasSubstr("/dev/pts/"));
}

TEST_P(NodeAttachTest, TheEndOfATerminalsInputIsTypedIfItIsForOnce) {
    run("once", "cat; echo end", {{"stdin", true}, {"stdinOnce", true}, {"tty", true}});
    auto session = attach("once", true, true);
    await(session->close_input());
    EXPECT_THAT(rest(*session), testing::EndsWith("end\r\n"));
    wait_phase("once", "Succeeded");
    run("again", "cat; echo end", {{"stdin", true}, {"tty", true}});
    session = attach("again", true, true);
    await(session->close_input());
    auto second = attach("again", true, true);
    await(second->write("two\n"));
    EXPECT_EQ(until(*second, "two\r\ntwo\r\n"), "two\r\ntwo\r\n");
}

TEST_P(NodeAttachTest, WhatIsWrittenToAContainerWithoutInputGoesNowhere) {
    run("a", "cat; while :; do sleep 0.01; echo on; done", {});
    auto session = attach("a", true);
    await(session->write(std::string(1'000'000, 'x')));
    await(session->close_input());
    EXPECT_THAT(until(*session, "on\n"), testing::EndsWith("on\n"));
}

TEST_P(NodeAttachTest, WhoReadsSlowlyHoldsTheContainerUpAndNothingIsLost) {
    run("a", "read line; i=0; while [ $i -lt 60000 ]; do echo line $i; i=$((i+1)); done",
        {{"stdin", true}});
    auto session = attach("a", true);
    await(session->write("go\n"));
    std::string text = until(*session, "line 9\n");
    wait_phase("a", "Running");
    text += rest(*session);
    std::string expected;
    for (int i = 0; i < 60000; ++i) expected += fmt::format("line {}\n", i);
    EXPECT_TRUE(text == expected) << text.size() << " of " << expected.size();
}

INSTANTIATE_TEST_SUITE_P(Modes, NodeExecTest,
                         testing::Values(SandboxMode::kNamespaces, SandboxMode::kNone), mode_name);

INSTANTIATE_TEST_SUITE_P(Modes, NodeAttachTest,
                         testing::Values(SandboxMode::kNamespaces, SandboxMode::kNone), mode_name);

}  // namespace
}  // namespace muster::runtime::node_exec_test
