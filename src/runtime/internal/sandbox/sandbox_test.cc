#include "runtime/internal/sandbox/sandbox.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/nobody_fixture.h"
#include "runtime/internal/sandbox/sandbox_fixture.h"

namespace muster::runtime::sandbox_test {
namespace {

using ::testing::HasSubstr;

TEST_P(SandboxTest, OutputAndExitCodeOfAProgram) {
    start_pod();
    Ended ended = run_container(shell("echo out; echo err >&2; exit 7"));
    EXPECT_EQ(ended.kind, pod_init::Report::Kind::kExited);
    EXPECT_TRUE(WIFEXITED(ended.status));
    EXPECT_EQ(WEXITSTATUS(ended.status), 7);
    EXPECT_EQ(ended.output, "out\nerr\n");
}

// Field 41 of a process's stat is its policy; 0 is SCHED_OTHER, 3 SCHED_BATCH, 5 SCHED_IDLE.
TEST_P(SandboxTest, ProgramsAreScheduledAsBatchWork) {
    start_pod();
    EXPECT_EQ(run_container(shell("cut -d' ' -f41 /proc/self/stat")).output, "3\n");
    EXPECT_EQ(run_container(shell("chrt -i 0 cut -d' ' -f41 /proc/self/stat")).output, "5\n")
        << "a program chooses another for itself";
}

TEST_P(SandboxTest, SignalsReachTheMainProcessThroughItsPidfd) {
    start_pod();
    Lifeline lifeline(dir / "alive");
    pod_init::ContainerStart start =
        shell(lifeline.held_by("trap 'echo term; exit 3' TERM; echo up >&9; sleep 1000 & wait"));
    ASSERT_TRUE(launch(start));
    pod_init::Report started = next();
    ASSERT_EQ(started.kind, pod_init::Report::Kind::kStarted);
    ASSERT_EQ(lifeline.read_line(), "up");
    ASSERT_EQ(::syscall(SYS_pidfd_send_signal, started.pidfd.get(), SIGTERM, nullptr, 0), 0);
    pod_init::Report ended = next();
    EXPECT_EQ(WEXITSTATUS(ended.value), 3);
    EXPECT_EQ(log_of(start), "term\n");
}

TEST_P(SandboxTest, SigkillIsReportedAsASignal) {
    start_pod();
    Ended ended = run_container(shell("kill -9 $$"));
    EXPECT_TRUE(WIFSIGNALED(ended.status));
    EXPECT_EQ(WTERMSIG(ended.status), SIGKILL);
}

TEST_P(SandboxTest, ADaemonThatDoubleForksDoesNotOutliveItsContainer) {
    start_pod();
    // The daemon keeps the output open; the container's end closes it all the same.
    Lifeline lifeline(dir / "alive");
    Ended ended = run_container(
        shell(lifeline.held_by("(setsid sh -c 'sleep 1000 & sleep 1000' &) ; echo main")));
    EXPECT_EQ(ended.kind, pod_init::Report::Kind::kExited);
    EXPECT_EQ(WEXITSTATUS(ended.status), 0);
    EXPECT_EQ(ended.output, "main\n");
    EXPECT_EQ(lifeline.read_to_end(), "");
}

TEST_P(SandboxTest, AContainerOfThePodSurvivesTheEndOfAnother) {
    start_pod();
    pod_init::ContainerStart lasting = shell("(sleep 1000 &); exec sleep 1000");
    ASSERT_TRUE(launch(lasting));
    pod_init::Report started = next();
    Ended ended = run_container(shell("(sleep 1000 &); exit 0"));
    EXPECT_EQ(WEXITSTATUS(ended.status), 0);
    EXPECT_EQ(::syscall(SYS_pidfd_send_signal, started.pidfd.get(), 0, nullptr, 0), 0);
    ASSERT_EQ(::syscall(SYS_pidfd_send_signal, started.pidfd.get(), SIGKILL, nullptr, 0), 0);
    EXPECT_EQ(next().id, lasting.id);
}

TEST_P(SandboxTest, StartFailuresSayWhatIsMissing) {
    start_pod();
    const fs::path script = dir / "script";
    std::ofstream(script) << "#!/no/such/interpreter -x\n";
    fs::permissions(script, fs::perms::owner_all | fs::perms::others_exec | fs::perms::others_read);
    const fs::path plain = dir / "plain";
    std::ofstream(plain) << "text\n";
    fs::permissions(plain, fs::perms::owner_read);
    const fs::path unformatted = dir / "unformatted";
    std::ofstream(unformatted) << "echo hello\n";
    fs::permissions(unformatted, fs::perms::owner_all);
    struct Case {
        std::string program;
        std::string working_dir;
        pod_init::StartStage stage;
        std::string detail;
    };
    const Case cases[] = {
        {"no-such-program", "/", pod_init::StartStage::kProgramMissing, "no-such-program"},
        {"/no/such/file", "/", pod_init::StartStage::kProgramMissing, "/no/such/file"},
        {script, "/", pod_init::StartStage::kInterpreterMissing, "/no/such/interpreter"},
        {plain, "/", pod_init::StartStage::kNotExecutable, plain},
        {unformatted, "/", pod_init::StartStage::kFormat, unformatted},
        {dir, "/", pod_init::StartStage::kNotExecutable, dir},
        {"true", "/no/such/dir", pod_init::StartStage::kWorkingDir, "/no/such/dir"},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.program);
        pod_init::ContainerStart start = shell("");
        start.argv = {c.program};
        start.working_dir = c.working_dir;
        Ended ended = run_container(start);
        EXPECT_EQ(ended.kind, pod_init::Report::Kind::kStartFailed);
        EXPECT_EQ(ended.stage, c.stage);
        EXPECT_EQ(ended.detail, c.detail);
    }
}

TEST_P(SandboxTest, AnEnvironmentOfMegabytesArrives) {
    start_pod();
    pod_init::ContainerStart start = shell("echo ${#A}${#B}");
    start.environment.push_back("A=" + std::string(100'000, 'a'));
    start.environment.push_back("B=" + std::string(100'000, 'b'));
    EXPECT_EQ(run_container(start).output, "100000100000\n");
}

TEST_P(SandboxTest, KillEndsEverythingAtOnce) {
    start_pod();
    Lifeline lifeline(dir / "alive");
    ASSERT_TRUE(launch(shell(lifeline.held_by(
        "trap '' TERM; (setsid sleep 1000 &); sleep 1000 & echo up >&9; exec sleep 1000"))));
    ASSERT_EQ(next().kind, pod_init::Report::Kind::kStarted);
    ASSERT_EQ(lifeline.read_line(), "up");
    sandbox->kill();
    expect_gone();
    EXPECT_EQ(lifeline.read_to_end(), "");
}

TEST_P(SandboxTest, NothingOutlivesAKilledInit) {
    start_pod();
    Lifeline lifeline(dir / "alive");
    ASSERT_TRUE(
        launch(shell(lifeline.held_by("(setsid sleep 1000 &); echo up >&9; exec sleep 1000"))));
    ASSERT_EQ(next().kind, pod_init::Report::Kind::kStarted);
    ASSERT_EQ(lifeline.read_line(), "up");
    ASSERT_EQ(::syscall(SYS_pidfd_send_signal, init.get(), SIGKILL, nullptr, 0), 0);
    EXPECT_EQ(lifeline.read_to_end(), "");
    for (;;) {  // without a PID namespace the container's end may still be reported
        const Result<std::optional<pod_init::Report>> report = await(sandbox->next_report());
        if (!report || !*report) break;
    }
}

/// The claim that everything rests on: whatever way muster goes, nothing is left.
TEST_P(SandboxTest, NothingOutlivesAKilledMuster) {
    Lifeline lifeline(dir / "alive");
    const pid_t muster = ::fork();
    if (muster == 0) {
        host->self.reset(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
        start_pod();
        launch(shell(lifeline.held_by(
            "(setsid sh -c 'sleep 1000 & sleep 1000' &); echo up >&9; sleep 1000")));
        for (;;) ::pause();
    }
    ASSERT_EQ(lifeline.read_line(), "up");
    ASSERT_EQ(::kill(muster, SIGKILL), 0);
    ::waitpid(muster, nullptr, 0);
    EXPECT_EQ(lifeline.read_to_end(), "");
}

INSTANTIATE_TEST_SUITE_P(Modes, SandboxTest, ::testing::Bool(), [](const auto& suite_param) {
    return suite_param.param ? "Namespaces" : "Shared";
});

class NamespaceTest : public SandboxTest {};

TEST_P(NamespaceTest, ThePodHasItsOwnHostNameLinkAndProcesses) {
    spec.hostname = "digits-master-0";
    start_pod();
    Ended ended = run_container(shell(
        "hostname; cat /proc/1/comm; ls /sys/class/net | grep -vx bonding_masters; "
        "cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' ' | sort; stat -f -c %T /dev/shm"));
    EXPECT_EQ(ended.output, "digits-master-0\nmuster-pod\neth0\nlo\neth0\nlo\ntmpfs\n")
        << ended.detail;
}

TEST_P(NamespaceTest, APodConnectsToAnotherAtOnceOnAWildcardPort) {
    start_pod();
    Lifeline lifeline(dir / "alive");
    pod_init::ContainerStart server = shell("");
    server.argv = {"python3", "-c",
                   "import socket\ns=socket.socket();s.bind(('0.0.0.0',23456));s.listen()\n"
                   "f=open('" +
                       (dir / "alive").string() +
                       "','w');print('listening',file=f,flush=True)\n"
                       "c,a=s.accept();print(a[0],flush=True);c.send(b'hi')"};
    ASSERT_TRUE(launch(server));
    ASSERT_EQ(next().kind, pod_init::Report::Kind::kStarted);
    ASSERT_EQ(lifeline.read_line(), "listening");

    auto first = std::move(sandbox);
    spec.address = PodFabric::kRange + 3;
    start_pod();
    pod_init::ContainerStart client = shell("");
    client.argv = {"python3", "-c",
                   "import socket;s=socket.create_connection(('10.244.0.2',23456),5)\n"
                   "print(s.recv(9).decode())\n"
                   "l=socket.socket();l.bind(('',23456));l.listen();print('own port')"};
    Ended ended = run_container(client);
    EXPECT_EQ(ended.output, "hi\nown port\n");
    std::swap(first, sandbox);
    EXPECT_EQ(WEXITSTATUS(next().value), 0);
    EXPECT_EQ(log_of(server), "10.244.0.3\n");
}

// A replica that is made again keeps its address, and the kernel takes its time to clear the old
// one's network away.
TEST_P(NamespaceTest, ASuccessorGetsTheAddressAtOnce) {
    for (int life = 0; life < 20 && !HasFatalFailure(); ++life) {
        start_pod();
        sandbox->kill();
        expect_gone();
    }
    start_pod();
    sandbox.reset();
    start_pod();
}

TEST_P(NamespaceTest, TheOutsideRefusesAtOnceAndTheOwnAddressIsKnown) {
    start_pod();
    pod_init::ContainerStart start = shell("");
    start.argv = {"python3", "-c",
                  "import socket,errno\n"
                  "s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);s.connect(('192.0.2.1',53))\n"
                  "print(s.getsockname()[0])\n"
                  "for i in range(20):\n"
                  " s.send(b'x')\n"
                  " try: s.settimeout(9); s.recv(1)\n"
                  " except OSError as e: print(errno.errorcode.get(e.errno))\n"
                  "try: socket.create_connection(('192.0.2.1',80),9)\n"
                  "except OSError as e: print(errno.errorcode.get(e.errno))"};
    std::string expected = "10.244.0.2\n";
    for (int i = 0; i < 21; ++i) expected += "ECONNREFUSED\n";
    EXPECT_EQ(run_container(start).output, expected);
}

TEST_P(NamespaceTest, MountPointsThatDoNotExistAppearWithoutTouchingTheMachine) {
    start_pod();
    fs::create_directories(dir / "data");
    fs::create_directories(dir / "tmp");
    fs::create_directories(dir / "home/kept");
    std::ofstream(dir / "data/file") << "content\n";
    std::ofstream(dir / "home/old") << "old\n";
    pod_init::ContainerStart start = shell(
        "cat /no/such/path/file; cat " + (dir / "home/new/deep/file").string() + " " +
        (dir / "home/old").string() + "; echo written > " + (dir / "home/kept/result").string() +
        "; ls / | grep -c -E '^(usr|etc|proc|no)$'; cat /etc/probe; echo x > /tmp/x; ls /tmp; "
        "cat /proc/1/comm; echo no >/no/such/path/file");
    std::ofstream(dir / "probe") << "probe\n";
    const std::string data = dir / "data";
    start.mounts = {
        {.source = dir / "probe", .target = "/etc/probe", .options = {}},
        {.source = data, .target = "/no/such/path", .options = {}, .read_only = true},
        {.source = dir / "tmp", .target = "/tmp", .options = {}, .owned = true},
        {.source = data, .target = dir / "home/new/deep", .options = {}},
    };
    Ended ended = run_container(start);
    EXPECT_EQ(ended.kind, pod_init::Report::Kind::kExited) << ended.detail;
    EXPECT_THAT(ended.output, HasSubstr("content\ncontent\nold\n4\nprobe\nx\nmuster-pod\n"));
    EXPECT_THAT(ended.output, HasSubstr("Read-only file system"));
    EXPECT_FALSE(fs::exists("/no"));
    EXPECT_FALSE(fs::exists("/etc/probe"));
    EXPECT_FALSE(fs::exists(dir / "home/new"));
    EXPECT_TRUE(fs::exists(dir / "home/kept/result"));
    EXPECT_TRUE(fs::exists(dir / "tmp/x"));
}

TEST_P(NamespaceTest, ASubPathIsMadeWhereItIsMissingAndNeverLeavesItsVolume) {
    const std::string memory = dir / "memory";
    fs::create_directory(memory);
    fs::create_directory(dir / "volume");
    fs::permissions(dir / "volume", fs::perms(01777));
    fs::create_directory_symlink("/etc", dir / "volume/out");
    fs::create_directory_symlink("a/b", dir / "volume/within");
    pod_init::MountSpec tmpfs;
    tmpfs.kind = pod_init::MountSpec::Kind::kTmpfs;
    tmpfs.target = memory;
    tmpfs.options = "mode=0777";
    spec.mounts = {tmpfs};
    start_pod();
    auto mount = [](std::string source, std::string sub_path) {
        pod_init::MountSpec made;
        made.source = std::move(source);
        made.sub_path = std::move(sub_path);
        made.target = "/mnt";
        return made;
    };
    const std::string volume = dir / "volume";
    pod_init::ContainerStart start = shell("echo 1 >/mnt/one; stat -c %a /mnt");
    start.mounts = {mount(volume, "a/b")};
    EXPECT_EQ(run_container(start).output, "1777\n");
    EXPECT_TRUE(fs::exists(dir / "volume/a/b/one"));
    start = shell("cat /mnt/one");
    start.mounts = {mount(volume, "within")};
    EXPECT_EQ(run_container(start).output, "1\n");
    start = shell("stat -f -c %T /mnt");
    start.mounts = {mount(memory, "x/y")};
    EXPECT_EQ(run_container(start).output, "tmpfs\n");
    for (const char* outside : {"out", "out/new", "../scratch"}) {
        start = shell("ls /mnt");
        start.mounts = {mount(volume, outside)};
        Ended ended = run_container(start);
        EXPECT_EQ(ended.kind, pod_init::Report::Kind::kStartFailed) << outside;
        EXPECT_THAT(ended.detail, HasSubstr("subPath")) << outside;
    }
    EXPECT_FALSE(fs::exists("/etc/new"));
}

pod_init::MountSpec volume_at(const fs::path& source, std::string target, bool owned = true) {
    pod_init::MountSpec mount;
    mount.source = source;
    mount.target = std::move(target);
    mount.owned = owned;
    return mount;
}

TEST_P(NamespaceTest, NothingIsMountedAtTheRootWhateverItIsCalled) {
    start_pod();
    fs::create_directory(dir / "volume");
    fs::create_directory(dir / "account");
    fs::create_directory_symlink("/", dir / "to-the-root");
    fs::create_directory_symlink("../../../../../../../..", dir / "out");
    const std::string targets[] = {"/",
                                   "//",
                                   "/proc/self/root",
                                   "/proc/1/root/",
                                   "/usr/..",
                                   "/none/../",
                                   "/dev/../../..",
                                   "/./",
                                   dir / "to-the-root",
                                   dir / "out",
                                   dir / "out/usr/.."};
    for (const std::string& target : targets) {
        SCOPED_TRACE(target);
        pod_init::ContainerStart start = shell("ls /");
        // The account's comes second, as its path is longer.
        start.mounts = {volume_at(dir / "volume", target),
                        volume_at(dir / "account", "/muster-none/account", false)};
        const Ended ended = run_container(start);
        EXPECT_EQ(ended.kind, pod_init::Report::Kind::kStartFailed) << ended.output;
        EXPECT_EQ(ended.stage, pod_init::StartStage::kMount);
        EXPECT_THAT(ended.detail, HasSubstr("nothing can be mounted at " + target +
                                            ", which is the root of the container's files"));
        EXPECT_FALSE(fs::exists("/muster-none"));
    }
}

TEST_P(NamespaceTest, WhatIsInProcIsTheKernelsButForWhatStandsForIt) {
    start_pod();
    fs::create_directory(dir / "volume");
    std::ofstream(dir / "file") << "7 7\n";
    for (const char* target : {"/proc", "/proc/sys/kernel", "/proc/self/attr", "/proc/none",
                               "/usr/../proc/bus", "/proc/self/root/proc/sys"}) {
        pod_init::ContainerStart start = shell("true");
        start.mounts = {volume_at(dir / "volume", target)};
        const Ended ended = run_container(start);
        EXPECT_EQ(ended.kind, pod_init::Report::Kind::kStartFailed) << target;
        EXPECT_THAT(ended.detail, HasSubstr(fmt::format("nothing can be mounted at {}", target)));
    }
    pod_init::ContainerStart start = shell("cat /proc/uptime");
    start.mounts = {volume_at(dir / "file", "/proc/uptime", false)};
    EXPECT_EQ(run_container(start).output, "7 7\n");
    start = shell("test -e /proc/self/status && echo there");
    start.mounts = {volume_at("/proc", "/proc", false)};
    EXPECT_EQ(run_container(start).output, "there\n");
}

TEST_P(NamespaceTest, LinksThatAVolumeBringsLeadNowhereElseOnTheMachine) {
    start_pod();
    fs::create_directory(dir / "volume");
    fs::create_directories(dir / "machine/kept");
    fs::create_directory_symlink(dir / "machine", dir / "volume/absolute");
    fs::create_directory_symlink("../../../../../../.." + (dir / "machine").string(),
                                 dir / "volume/relative");
    fs::create_directory_symlink("loop", dir / "volume/loop");
    pod_init::ContainerStart start = shell("ls /muster-v/absolute /muster-v/relative/deep");
    start.mounts = {volume_at(dir / "volume", "/muster-v"),
                    volume_at(dir / "volume", "/muster-v/absolute/new"),
                    volume_at(dir / "volume", "/muster-v/relative/deep/new")};
    const Ended ended = run_container(start);
    EXPECT_EQ(ended.kind, pod_init::Report::Kind::kExited) << ended.detail;
    EXPECT_THAT(ended.output, HasSubstr("deep\nkept\nnew\n"));
    EXPECT_FALSE(fs::exists(dir / "machine/new"));
    EXPECT_FALSE(fs::exists(dir / "machine/deep"));
    std::vector<pod_init::MountSpec> mounts = start.mounts;
    mounts[1].target = "/muster-v/loop/new";
    start = shell("true");
    start.mounts = mounts;
    EXPECT_THAT(run_container(start).detail, HasSubstr("Too many levels of symbolic links"));
}

TEST_P(NamespaceTest, AVolumeKeepsItsMountPointsWhenAboveItsOwnNewOnesAreMade) {
    start_pod();
    fs::create_directory(dir / "volume");
    fs::create_directory(dir / "data");
    std::ofstream(dir / "data/file") << "content\n";
    pod_init::ContainerStart start =
        shell("cat /mnt/made/file /muster-none/file; echo x >/mnt/written");
    start.mounts = {volume_at(dir / "volume", "/mnt"), volume_at(dir / "data", "/muster-none"),
                    volume_at(dir / "data", "/mnt/made")};
    EXPECT_EQ(run_container(start).output, "content\ncontent\n");
    EXPECT_TRUE(fs::exists(dir / "volume/made"));
    EXPECT_TRUE(fs::exists(dir / "volume/written"));
    EXPECT_FALSE(fs::exists("/muster-none"));
}

TEST_P(NamespaceTest, AMountMayHideWhereMissingMountPointsAreMade) {
    start_pod();
    fs::create_directory(dir / "data");
    std::ofstream(dir / "data/file") << "content\n";
    pod_init::MountSpec hiding;
    hiding.kind = pod_init::MountSpec::Kind::kTmpfs;
    hiding.target = dir.parent_path();
    pod_init::MountSpec below;
    below.source = dir / "data";
    below.target = dir.parent_path() / "below";
    pod_init::MountSpec missing;
    missing.source = dir / "data";
    missing.target = "/no/such/place";
    pod_init::ContainerStart start =
        shell("cat /no/such/place/file " + below.target + "/file; ls " + hiding.target);
    start.mounts = {hiding, below, missing};
    EXPECT_EQ(run_container(start).output, "content\ncontent\nbelow\n");
}

TEST_P(NamespaceTest, AnOrdinaryUserGetsTheSameInAUserNamespace) {
    if (!process::nobody_may_make_user_namespaces())
        GTEST_SKIP() << "ordinary users may not make user namespaces here";
    Lifeline words(dir / "alive");
    fs::permissions(dir, fs::perms::all);
    fs::permissions(dir / "logs", fs::perms::all);
    fs::permissions(dir / "alive", fs::perms::all);
    fs::create_directory(dir / "data");
    std::ofstream(dir / "data/file") << "content\n";
    const pid_t child = ::fork();
    if (child == 0) {
        const std::string why = [&]() -> std::string {
            if (!process::become_nobody()) return "could not become nobody";
            auto made = SandboxHost::create(true);
            if (!made) return "host: " + made.error().message() + "\n";
            host = std::make_unique<SandboxHost>(*std::move(made));
            fs::create_directory(dir / "own-scratch");
            auto started = PodSandbox::start(context.get_executor(), *host, spec);
            if (!started) return "sandbox: " + started.error().message() + "\n";
            sandbox = *std::move(started);
            pod_init::Report report = next();
            if (report.kind != pod_init::Report::Kind::kReady)
                return "setup: " + report.text + "\n";
            pod_init::ContainerStart start = shell(
                "id -u; hostname; cat /no/such/file; grep CapEff /proc/self/status; "
                "hostname x || echo dropped");
            start.scratch_dir = dir / "own-scratch";
            start.mounts = {{.source = dir / "data", .target = "/no/such", .options = {}}};
            Ended ended = run_container(start);
            return ended.output + ended.detail;
        }();
        std::ofstream(dir / "alive") << "said\n" << why;
        sandbox.reset();
        ::_exit(0);
    }
    EXPECT_EQ(words.read_line(), "said");
    const std::string text = words.read_to_end();
    ::waitpid(child, nullptr, 0);
    EXPECT_THAT(text, HasSubstr("65534\npod\ncontent\nCapEff:\t0000000000000000\n"));
    EXPECT_THAT(text, HasSubstr("dropped\n"));
}

INSTANTIATE_TEST_SUITE_P(Root, NamespaceTest, ::testing::Values(true));

}  // namespace
}  // namespace muster::runtime::sandbox_test
