#include <gmock/gmock.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "runtime/internal/sandbox/sandbox_fixture.h"

// What a pod's init and its supervisors do beside starting and ending: exec, logs, outliving.

namespace muster::runtime::sandbox_exec_test {
namespace {

class SandboxServiceTest : public SandboxTest {};

TEST_P(SandboxServiceTest, AnExecRunsInTheContainerAndItsOutputIsCut) {
    start_pod();
    pod_init::ContainerStart start = shell("exec sleep 1000");
    start.environment.push_back("WORD=hello");
    start.working_dir = "/usr";
    ASSERT_TRUE(launch(start));
    ASSERT_EQ(next().kind, pod_init::Report::Kind::kStarted);
    struct Case {
        std::vector<std::string> argv;
        int exit_code;
        std::string output;
    };
    const Case cases[] = {
        {{"sh", "-c", "echo $WORD; pwd >&2; exit 3"}, 3, "hello\n/usr\n"},
        {{"sh", "-c", "head -c 100000 /dev/zero | tr '\\0' x"},
         0,
         std::string(pod_init::kExecOutputLimit, 'x')},
        {{"no-such-program"}, 127, "no-such-program: No such file or directory"},
        {{"/usr"}, 126, "/usr: Is a directory"},
        {{"sh", "-c", "sleep 1000 & echo gone"}, 0, "gone\n"},
    };
    std::uint32_t id = 100;
    for (const Case& c : cases) {
        SCOPED_TRACE(c.argv.back());
        ASSERT_TRUE(sandbox->exec({.id = ++id, .container = start.id, .argv = c.argv}));
        const pod_init::Report report = next();
        EXPECT_EQ(report.kind, pod_init::Report::Kind::kExecEnded);
        EXPECT_EQ(report.id, id);
        EXPECT_EQ(WEXITSTATUS(report.value), c.exit_code);
        EXPECT_EQ(report.text, c.output);
    }
}

TEST_P(SandboxServiceTest, AnExecEndsWhenItIsCancelledOrItsContainerEnds) {
    start_pod();
    const pod_init::ExecStart nowhere{.id = 1, .container = 77, .argv = {"true"}};
    ASSERT_TRUE(sandbox->exec(nowhere));
    EXPECT_EQ(next().text, "the container does not run");

    ASSERT_TRUE(launch(shell("exec sleep 1000")));
    pod_init::Report started = next();
    ASSERT_EQ(started.kind, pod_init::Report::Kind::kStarted);
    Lifeline lifeline(dir / "alive");
    const pod_init::ExecStart cancelled{
        .id = 2,
        .container = last_id,
        .argv = {"sh", "-c", lifeline.held_by("echo up >&9; sleep 1000; echo no")}};
    ASSERT_TRUE(sandbox->exec(cancelled));
    ASSERT_EQ(lifeline.read_line(), "up");
    ASSERT_TRUE(sandbox->cancel(cancelled));
    pod_init::Report ended = next();
    EXPECT_EQ(ended.id, 2u);
    EXPECT_EQ(WTERMSIG(ended.value), SIGKILL);
    EXPECT_EQ(lifeline.read_to_end(), "");

    Lifeline second(dir / "second");
    ASSERT_TRUE(
        sandbox->exec({.id = 3,
                       .container = last_id,
                       .argv = {"sh", "-c", second.held_by("echo up >&9; wait; sleep 1000")}}));
    ASSERT_EQ(second.read_line(), "up");
    ASSERT_EQ(::syscall(SYS_pidfd_send_signal, started.pidfd.get(), SIGKILL, nullptr, 0), 0);
    EXPECT_EQ(next().kind, pod_init::Report::Kind::kExited)
        << "the cause before what follows from it";
    ended = next();
    EXPECT_EQ(ended.kind, pod_init::Report::Kind::kExecEnded);
    EXPECT_EQ(ended.id, 3u);
    EXPECT_EQ(second.read_to_end(), "");
}

TEST_P(SandboxServiceTest, AFullLogBeginsAnewAndTheOldestGoes) {
    start_pod();
    pod_init::ContainerStart start =
        shell("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done");
    start.log_limits = {.bytes = 10'000, .files = 3};
    EXPECT_EQ(run_container(start).kind, pod_init::Report::Kind::kExited);
    std::vector<std::string> files;
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(dir / "logs")) {
        files.push_back(entry.path().filename());
        bytes += entry.file_size();
    }
    EXPECT_THAT(files, testing::UnorderedElementsAre("1.log", "1.log.1", "1.log.2"));
    EXPECT_LE(bytes, 30'000u);
    EXPECT_THAT(log_of(start), testing::EndsWith("line 1999\n"));
}

TEST_P(SandboxServiceTest, ALogThatCanNotBeWrittenIsReportedAndTheContainerGoesOn) {
    start_pod();
    pod_init::ContainerStart start = shell("echo lost; echo lost too >&2; exit 4");
    start.log_name = "full.log";
    fs::create_symlink("/dev/full", dir / "logs/full.log");
    ASSERT_TRUE(launch(start));
    ASSERT_EQ(next().kind, pod_init::Report::Kind::kStarted);
    const pod_init::Report ended = next();
    EXPECT_EQ(WEXITSTATUS(ended.value), 4);
    EXPECT_THAT(ended.text, testing::ContainsRegex(
                                "[0-9]+ bytes of its log are lost: .*No space left on device"));
}

/// What `muster up` needs: the pod continues without us, and the next process learns everything.
TEST_P(SandboxServiceTest, AnInitThatOutlivesUsTellsWhoConnectsWhatBecameOfItsContainers) {
    spec.socket = dir / "shim.sock";
    const pid_t daemon = ::fork();
    if (daemon == 0) {
        start_pod();
        launch(shell("exit 5"));
        (void)next();
        (void)next();
        launch(shell("exec sleep 1000"));
        (void)next();
        ::raise(SIGKILL);
    }
    ::waitpid(daemon, nullptr, 0);
    find();
    pod_init::Report first = next();
    EXPECT_EQ(first.kind, pod_init::Report::Kind::kExited);
    EXPECT_EQ(first.id, 1u);
    EXPECT_EQ(WEXITSTATUS(first.value), 5);
    pod_init::Report second = next();
    EXPECT_EQ(second.kind, pod_init::Report::Kind::kStarted);
    EXPECT_EQ(second.id, 2u);
    EXPECT_EQ(next().kind, pod_init::Report::Kind::kTold);
    ASSERT_EQ(::syscall(SYS_pidfd_send_signal, second.pidfd.get(), SIGTERM, nullptr, 0), 0);
    EXPECT_EQ(WTERMSIG(next().value), SIGTERM);

    // It serves on: another container, and its end only by our word.
    last_id = 2;
    EXPECT_EQ(run_container(shell("echo again")).output, "again\n");
    sandbox.reset();
    find();
    sandbox->kill();
    for (;;) {
        const Result<std::optional<pod_init::Report>> report = await(sandbox->next_report());
        if (!report || !*report) break;
    }
    const auto gone = recover_pod(spec.socket);
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code(), Code::kUnavailable);
}

TEST_P(SandboxServiceTest, WhoFindsAPodIsToldWhatItWasGiven) {
    spec.socket = dir / "shim.sock";
    spec.note = "a note";
    start_pod();
    sandbox.reset();
    RecoveredPod found = recover_pod(spec.socket).value();
    EXPECT_EQ(found.note, "a note");
    EXPECT_EQ(found.address, spec.address);
    EXPECT_EQ(found.connections, 1u);
    EXPECT_EQ(static_cast<bool>(found.network), GetParam());
    if (GetParam())
        EXPECT_TRUE(is_same_namespace(found.network.get(), host->fabric->network().descriptor()));
    found = {};
    EXPECT_EQ(recover_pod(spec.socket).value().connections, 2u);
}

/// Otherwise a client whose daemon was killed would wait without end.
TEST_P(SandboxServiceTest, ACommandEndsWithTheOneWhoAskedForIt) {
    spec.socket = dir / "shim.sock";
    start_pod();
    pod_init::ContainerStart start = shell("exec sleep 1000");
    ASSERT_TRUE(launch(start));
    ASSERT_EQ(next().kind, pod_init::Report::Kind::kStarted);
    Lifeline lifeline(dir / "alive");
    pod_init::ExecStart exec;
    exec.id = 7;
    exec.container = start.id;
    exec.argv = {"sh", "-c", lifeline.held_by("echo up >&9; exec sleep 1000")};
    ASSERT_TRUE(sandbox->exec(exec));
    ASSERT_EQ(lifeline.read_line(), "up");
    sandbox.reset();
    EXPECT_EQ(lifeline.read_to_end(), "");
    find();
    EXPECT_EQ(next().kind, pod_init::Report::Kind::kStarted);
    EXPECT_EQ(next().kind, pod_init::Report::Kind::kTold);
}

TEST_P(SandboxServiceTest, APodThatIsFoundCanBeEnded) {
    spec.socket = dir / "shim.sock";
    start_pod();
    Lifeline lifeline(dir / "alive");
    ASSERT_TRUE(launch(shell(lifeline.held_by("echo up >&9; exec sleep 1000"))));
    ASSERT_EQ(next().kind, pod_init::Report::Kind::kStarted);
    ASSERT_EQ(lifeline.read_line(), "up");
    sandbox.reset();
    ASSERT_TRUE(end_pod(recover_pod(spec.socket).value()));
    EXPECT_EQ(lifeline.read_to_end(), "");
    EXPECT_EQ(recover_pod(spec.socket).error().code(), Code::kUnavailable);
}

TEST_P(SandboxServiceTest, ASignalToTheInitReachesThePrograms) {
    start_pod();
    Lifeline lifeline(dir / "alive");
    ASSERT_TRUE(launch(
        shell(lifeline.held_by("trap 'exit 9' TERM; echo up >&9; while :; do sleep 0.01; done"))));
    ASSERT_EQ(next().kind, pod_init::Report::Kind::kStarted);
    ASSERT_EQ(lifeline.read_line(), "up");
    ASSERT_EQ(::syscall(SYS_pidfd_send_signal, init.get(), SIGTERM, nullptr, 0), 0);
    EXPECT_EQ(WEXITSTATUS(next().value), 9);
}

INSTANTIATE_TEST_SUITE_P(Modes, SandboxServiceTest, ::testing::Bool(), [](const auto& suite_param) {
    return suite_param.param ? "Namespaces" : "Shared";
});

}  // namespace
}  // namespace muster::runtime::sandbox_exec_test
