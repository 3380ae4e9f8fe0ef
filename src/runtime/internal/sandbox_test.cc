#include "runtime/internal/sandbox.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "base/test_loop.h"

namespace muster::runtime {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// A pipe whose whole content is wanted once its writers are gone.
struct Output {
    Output() {
        std::array<int, 2> ends{};
        EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
        reader.reset(ends[0]);
        writer.reset(ends[1]);
    }
    std::string read_all() {
        writer.reset();
        std::string text;
        std::array<char, 4096> buffer;
        ssize_t size = 0;
        while ((size = ::read(reader.get(), buffer.data(), buffer.size())) > 0)
            text.append(buffer.data(), static_cast<std::size_t>(size));
        return text;
    }
    UniqueFd reader;
    UniqueFd writer;
};

struct Ended {
    Report::Kind kind = Report::Kind::kReady;
    int status = 0;
    StartStage stage = StartStage::kOther;
    std::string detail;
    std::string output;
};

class SandboxTest : public ::testing::TestWithParam<bool>, protected RealLoop {
  protected:
    void SetUp() override {
        if (GetParam() && ::geteuid() != 0) GTEST_SKIP() << "namespaces are tested as root here";
        auto made = SandboxHost::create(GetParam());
        ASSERT_TRUE(made) << made.error().message();
        host = std::make_unique<SandboxHost>(*std::move(made));
        std::string pattern = "/var/tmp/muster-sandbox-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        dir = pattern;
        fs::create_directory(dir / "scratch");
        spec = {
            .title = "ns/pod", .hostname = "pod", .address = PodFabric::kRange + 2, .mounts = {}};
    }
    void TearDown() override {
        sandbox.reset();
        if (!dir.empty()) fs::remove_all(dir);
    }

    Report next() {
        Result<std::optional<Report>> report = await(sandbox->next_report());
        EXPECT_TRUE(report) << report.error().message();
        if (!report) return {};
        EXPECT_TRUE(*report) << "the init ended";
        return (*std::move(report)).value_or(Report{});
    }
    void expect_gone() {
        const Result<std::optional<Report>> report = await(sandbox->next_report());
        EXPECT_TRUE(report && !*report);
    }
    void start_pod() {
        auto started = PodSandbox::start(context.get_executor(), *host, spec);
        ASSERT_TRUE(started) << started.error().message();
        sandbox = *std::move(started);
        Report report = next();
        ASSERT_EQ(report.kind, Report::Kind::kReady) << report.text;
    }
    ContainerStart shell(std::string script) {
        ContainerStart start;
        start.id = ++last_id;
        start.argv = {"sh", "-c", std::move(script)};
        start.environment = {"PATH=/usr/bin:/bin"};
        start.working_dir = "/";
        start.scratch_dir = (dir / "scratch").string();
        return start;
    }
    /// Runs to the end.
    Ended run_container(const ContainerStart& start) {
        Output output;
        EXPECT_TRUE(sandbox->start_container(start, output.writer.get(), output.writer.get()));
        Report report = next();
        if (report.kind == Report::Kind::kStarted) report = next();
        EXPECT_EQ(report.id, start.id);
        return {report.kind, report.value, report.stage, report.text, output.read_all()};
    }

    std::unique_ptr<SandboxHost> host;
    std::unique_ptr<PodSandbox> sandbox;
    SandboxSpec spec;
    fs::path dir;
    std::uint32_t last_id = 0;
};

TEST_P(SandboxTest, OutputAndExitCodeOfAProgram) {
    start_pod();
    Ended ended = run_container(shell("echo out; echo err >&2; exit 7"));
    EXPECT_EQ(ended.kind, Report::Kind::kExited);
    EXPECT_TRUE(WIFEXITED(ended.status));
    EXPECT_EQ(WEXITSTATUS(ended.status), 7);
    EXPECT_EQ(ended.output, "out\nerr\n");
}

TEST_P(SandboxTest, SignalsReachTheMainProcessThroughItsPidfd) {
    start_pod();
    Output output;
    ContainerStart start = shell("trap 'echo term; exit 3' TERM; echo up; sleep 1000 & wait");
    ASSERT_TRUE(sandbox->start_container(start, output.writer.get(), output.writer.get()));
    output.writer.reset();
    Report started = next();
    ASSERT_EQ(started.kind, Report::Kind::kStarted);
    std::array<char, 3> up{};
    ASSERT_EQ(::read(output.reader.get(), up.data(), up.size()), 3);
    ASSERT_EQ(::syscall(SYS_pidfd_send_signal, started.pidfd.get(), SIGTERM, nullptr, 0), 0);
    Report ended = next();
    EXPECT_EQ(WEXITSTATUS(ended.value), 3);
    EXPECT_EQ(output.read_all(), "term\n");
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
    Ended ended = run_container(shell("(setsid sh -c 'sleep 1000 & sleep 1000' &) ; echo main"));
    EXPECT_EQ(ended.kind, Report::Kind::kExited);
    EXPECT_EQ(WEXITSTATUS(ended.status), 0);
    EXPECT_EQ(ended.output, "main\n");  // read_all() returns only when no writer is left
}

TEST_P(SandboxTest, AContainerOfThePodSurvivesTheEndOfAnother) {
    start_pod();
    Output output;
    ContainerStart lasting =
        shell("(sleep 1000 &); read -r line </proc/self/stat; echo lasting; exec sleep 1000");
    ASSERT_TRUE(sandbox->start_container(lasting, output.writer.get(), output.writer.get()));
    Report started = next();
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
        StartStage stage;
        std::string detail;
    };
    const Case cases[] = {
        {"no-such-program", "/", StartStage::kProgramMissing, "no-such-program"},
        {"/no/such/file", "/", StartStage::kProgramMissing, "/no/such/file"},
        {script, "/", StartStage::kInterpreterMissing, "/no/such/interpreter"},
        {plain, "/", StartStage::kNotExecutable, plain},
        {unformatted, "/", StartStage::kFormat, unformatted},
        {dir, "/", StartStage::kNotExecutable, dir},
        {"true", "/no/such/dir", StartStage::kWorkingDir, "/no/such/dir"},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.program);
        ContainerStart start = shell("");
        start.argv = {c.program};
        start.working_dir = c.working_dir;
        Ended ended = run_container(start);
        EXPECT_EQ(ended.kind, Report::Kind::kStartFailed);
        EXPECT_EQ(ended.stage, c.stage);
        EXPECT_EQ(ended.detail, c.detail);
    }
}

TEST_P(SandboxTest, AnEnvironmentOfMegabytesArrives) {
    start_pod();
    ContainerStart start = shell("echo ${#A}${#B}");
    start.environment.push_back("A=" + std::string(100'000, 'a'));
    start.environment.push_back("B=" + std::string(100'000, 'b'));
    EXPECT_EQ(run_container(start).output, "100000100000\n");
}

TEST_P(SandboxTest, KillEndsEverythingAtOnce) {
    start_pod();
    Output output;
    ContainerStart start =
        shell("trap '' TERM; (setsid sleep 1000 &); sleep 1000 & echo up; exec sleep 1000");
    ASSERT_TRUE(sandbox->start_container(start, output.writer.get(), output.writer.get()));
    ASSERT_EQ(next().kind, Report::Kind::kStarted);
    output.writer.reset();
    std::array<char, 3> up{};
    ASSERT_EQ(::read(output.reader.get(), up.data(), up.size()), 3);
    sandbox->kill();
    expect_gone();
    EXPECT_EQ(output.read_all(), "");  // returns only when no process is left
}

TEST_P(SandboxTest, NothingOutlivesAKilledInit) {
    start_pod();
    Output output;
    ContainerStart start = shell("(setsid sleep 1000 &); echo up; exec sleep 1000");
    ASSERT_TRUE(sandbox->start_container(start, output.writer.get(), output.writer.get()));
    ASSERT_EQ(next().kind, Report::Kind::kStarted);
    output.writer.reset();
    std::array<char, 3> up{};
    ASSERT_EQ(::read(output.reader.get(), up.data(), up.size()), 3);
    ASSERT_EQ(::kill(sandbox->init_pid(), SIGKILL), 0);
    EXPECT_EQ(output.read_all(), "");  // returns only when no process is left
    for (;;) {  // without a PID namespace the container's end may still be reported
        const Result<std::optional<Report>> report = await(sandbox->next_report());
        if (!report || !*report) break;
    }
}

/// The claim that everything rests on: whatever way muster goes, nothing is left.
TEST_P(SandboxTest, NothingOutlivesAKilledMuster) {
    Output output;
    std::array<int, 2> ready{};
    ASSERT_EQ(::pipe2(ready.data(), O_CLOEXEC), 0);
    const pid_t muster = ::fork();
    if (muster == 0) {
        start_pod();
        ContainerStart start = shell("(setsid sh -c 'sleep 1000 & sleep 1000' &); sleep 1000");
        (void)sandbox->start_container(start, output.writer.get(), output.writer.get());
        output.writer.reset();
        Report report = next();
        char byte = report.kind == Report::Kind::kStarted ? 'y' : 'n';
        (void)!::write(ready[1], &byte, 1);
        for (;;) ::pause();
    }
    ::close(ready[1]);
    output.writer.reset();
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    ASSERT_EQ(byte, 'y');
    ::close(ready[0]);
    ASSERT_EQ(::kill(muster, SIGKILL), 0);
    ::waitpid(muster, nullptr, 0);
    EXPECT_EQ(output.read_all(), "");  // returns only when the last process of the tree is gone
}

INSTANTIATE_TEST_SUITE_P(Modes, SandboxTest, ::testing::Bool(), [](const auto& suite_param) {
    return suite_param.param ? "Namespaces" : "Shared";
});

class NamespaceTest : public SandboxTest {};

TEST_P(NamespaceTest, ThePodHasItsOwnHostNameLinkAndProcesses) {
    spec.hostname = "digits-master-0";
    start_pod();
    Ended ended = run_container(shell(
        "hostname; cat /proc/1/comm; ls /sys/class/net >/dev/null; "
        "cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' ' | sort; stat -f -c %T /dev/shm"));
    EXPECT_EQ(ended.output, "digits-master-0\nruntime_test\neth0\nlo\ntmpfs\n") << ended.detail;
}

TEST_P(NamespaceTest, APodConnectsToAnotherAtOnceOnAWildcardPort) {
    start_pod();
    Output server_output;
    ContainerStart server = shell("");
    server.argv = {
        "python3", "-c",
        "import socket\ns=socket.socket();s.bind(('0.0.0.0',23456));s.listen()\n"
        "print('listening',flush=True);c,a=s.accept();print(a[0],flush=True);c.send(b'hi')"};
    ASSERT_TRUE(
        sandbox->start_container(server, server_output.writer.get(), server_output.writer.get()));
    ASSERT_EQ(next().kind, Report::Kind::kStarted);
    std::array<char, 10> listening{};
    ASSERT_EQ(::read(server_output.reader.get(), listening.data(), listening.size()), 10);

    auto first = std::move(sandbox);
    spec.address = PodFabric::kRange + 3;
    start_pod();
    ContainerStart client = shell("");
    client.argv = {"python3", "-c",
                   "import socket;s=socket.create_connection(('10.244.0.2',23456),5)\n"
                   "print(s.recv(9).decode())\n"
                   "l=socket.socket();l.bind(('',23456));l.listen();print('own port')"};
    Ended ended = run_container(client);
    EXPECT_EQ(ended.output, "hi\nown port\n");
    std::swap(first, sandbox);
    EXPECT_EQ(WEXITSTATUS(next().value), 0);
    EXPECT_EQ(server_output.read_all(), "10.244.0.3\n");
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
    ContainerStart start = shell("");
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
    ContainerStart start = shell(
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
    EXPECT_EQ(ended.kind, Report::Kind::kExited) << ended.detail;
    EXPECT_THAT(ended.output, HasSubstr("content\ncontent\nold\n4\nprobe\nx\nruntime_test\n"));
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
    MountSpec tmpfs;
    tmpfs.kind = MountSpec::Kind::kTmpfs;
    tmpfs.target = memory;
    tmpfs.options = "mode=0777";
    spec.mounts = {tmpfs};
    start_pod();
    auto mount = [](std::string source, std::string sub_path) {
        MountSpec made;
        made.source = std::move(source);
        made.sub_path = std::move(sub_path);
        made.target = "/mnt";
        return made;
    };
    const std::string volume = dir / "volume";
    ContainerStart start = shell("echo 1 >/mnt/one; stat -c %a /mnt");
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
        EXPECT_EQ(ended.kind, Report::Kind::kStartFailed) << outside;
        EXPECT_THAT(ended.detail, HasSubstr("subPath")) << outside;
    }
    EXPECT_FALSE(fs::exists("/etc/new"));
}

/// Tried, not guessed: some kernels forbid it to ordinary users, and all to whoever is in a chroot.
bool nobody_may_make_user_namespaces(uid_t nobody) {
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(::setresuid(nobody, nobody, nobody) == 0 && ::unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
    int status = 0;
    return ::waitpid(child, &status, 0) == child && status == 0;
}

TEST_P(NamespaceTest, AnOrdinaryUserGetsTheSameInAUserNamespace) {
    constexpr uid_t kNobody = 65534;
    if (!nobody_may_make_user_namespaces(kNobody))
        GTEST_SKIP() << "ordinary users may not make user namespaces here";
    Output output;
    fs::permissions(dir, fs::perms::all);
    fs::create_directory(dir / "data");
    std::ofstream(dir / "data/file") << "content\n";
    const pid_t child = ::fork();
    if (child == 0) {
        const std::string why = [&]() -> std::string {
            if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
                ::setresuid(kNobody, kNobody, kNobody) != 0 || ::prctl(PR_SET_DUMPABLE, 1) != 0)
                return "could not become nobody";
            auto made = SandboxHost::create(true);
            if (!made) return "host: " + made.error().message() + "\n";
            host = std::make_unique<SandboxHost>(*std::move(made));
            fs::create_directory(dir / "own-scratch");
            auto started = PodSandbox::start(context.get_executor(), *host, spec);
            if (!started) return "sandbox: " + started.error().message() + "\n";
            sandbox = *std::move(started);
            Report report = next();
            if (report.kind != Report::Kind::kReady) return "setup: " + report.text + "\n";
            ContainerStart start = shell(
                "id -u; hostname; cat /no/such/file; grep CapEff /proc/self/status; "
                "hostname x || echo dropped");
            start.scratch_dir = dir / "own-scratch";
            start.mounts = {{.source = dir / "data", .target = "/no/such", .options = {}}};
            Ended ended = run_container(start);
            return ended.output + ended.detail;
        }();
        (void)!::write(output.writer.get(), why.data(), why.size());
        sandbox.reset();
        ::_exit(0);
    }
    const std::string text = output.read_all();
    ::waitpid(child, nullptr, 0);
    EXPECT_THAT(text, HasSubstr("65534\npod\ncontent\nCapEff:\t0000000000000000\n"));
    EXPECT_THAT(text, HasSubstr("dropped\n"));
}

INSTANTIATE_TEST_SUITE_P(Root, NamespaceTest, ::testing::Values(true));

}  // namespace
}  // namespace muster::runtime
