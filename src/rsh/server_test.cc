#include "rsh/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <csignal>
#include <filesystem>

#include "base/async/descriptor.h"
#include "base/async/task_fault.h"
#include "base/log.h"
#include "base/test_loop.h"
#include "net/tcp.h"
#include "rsh/client.h"
#include "rsh/internal/frame_stream.h"
#include "rsh/internal/protocol.h"

// Both ends with real sockets and processes.

namespace muster::rsh::server_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kToken(64, 't');

/// A file in memory: what is written to it, and what is read from it.
class MemoryFile {
  public:
    explicit MemoryFile(std::string_view content = {}) : fd_(::memfd_create("test", MFD_CLOEXEC)) {
        EXPECT_EQ(::write(fd_, content.data(), content.size()),
                  static_cast<ssize_t>(content.size()));
        ::lseek(fd_, 0, SEEK_SET);
    }
    ~MemoryFile() { ::close(fd_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    int fd() const { return fd_; }
    std::string text() const {
        std::string all(static_cast<std::size_t>(::lseek(fd_, 0, SEEK_END)), '\0');
        EXPECT_EQ(::pread(fd_, all.data(), all.size(), 0), static_cast<ssize_t>(all.size()));
        return all;
    }

  private:
    int fd_;
};

/// A command's side of the world as its client sees it.
struct RemoteRun {
    explicit RemoteRun(std::string_view input = {}) : in(input) {}
    MemoryFile in, out, err;
    std::optional<Result<int>> status;
};

class RshServer : public ::testing::Test, public RealLoop {
  protected:
    RshServer() {
        std::signal(SIGPIPE, SIG_IGN);
        directory_ = fs::path(::testing::TempDir()) / fmt::format("rsh-{}", ::getpid());
        fs::create_directories(directory_);
        begin({});
    }
    ~RshServer() override {
        if (server_) await(server_->stop());
        fs::remove_all(directory_);
        log::set_sink({});
    }

    void begin(ServerOptions options) {
        log::set_sink(
            [this](log::Level, std::string_view line) { said_ += fmt::format("{}\n", line); });
        options.environment = {"PATH=/usr/bin:/bin", "COLOUR=blue"};
        auto listener = net::listen_tcp(context.get_executor(), "127.0.0.1", 0);
        const std::string address = (*listener)->address();
        port_ = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
        server_ =
            std::make_unique<Server>(context.get_executor(), clock, *keys_, std::move(options));
        server_->start(*std::move(listener));
    }

    ClientOptions to_host(const RemoteRun& run, std::string command) const {
        ClientOptions options;
        options.host = "127.0.0.1";
        options.port = port_;
        options.command = std::move(command);
        options.input = run.in.fd();
        options.output = run.out.fd();
        options.errors = run.err.fd();
        options.resolve = resolve_by_system;
        return options;
    }
    void spawn(RemoteRun& run, ClientOptions options, net::SharedKeyTls* keys = nullptr) {
        asio::co_spawn(context,
                       run_at_host(clock, keys == nullptr ? *keys_ : *keys, std::move(options)),
                       [&run](std::exception_ptr, Result<int> status) {
                           run.status.emplace(std::move(status));
                       });
    }
    int run(RemoteRun& run, std::string command) {
        spawn(run, to_host(run, std::move(command)));
        run_until([&] { return run.status.has_value(); });
        EXPECT_TRUE(*run.status) << run.status->error().message();
        return *run.status ? **run.status : -1;
    }
    /// What one command wrote to standard output.
    std::string output_of(std::string command, std::string_view input = {}) {
        RemoteRun one(input);
        EXPECT_EQ(run(one, std::move(command)), 0) << one.err.text();
        return one.out.text();
    }
    bool has(const std::string& file) const { return fs::exists(directory_ / file); }
    std::string path(const std::string& file) const { return (directory_ / file).string(); }
    /// A client of the protocol itself.
    std::unique_ptr<FrameStream> open_stream() {
        auto below = await(net::connect_tcp(context.get_executor(), "127.0.0.1", port_));
        auto secured = await(keys_->connect(*std::move(below)));
        EXPECT_TRUE(secured) << secured.error().message();
        return std::make_unique<FrameStream>(context.get_executor(), *std::move(secured));
    }

    /// Asks for a command, which says "runs" when it does.
    void begin_command(FrameStream& frames, const std::string& command) {
        ASSERT_TRUE(await(frames.write(request_frame(command))));
        const auto first = await(frames.read());
        ASSERT_TRUE(first && *first);
        EXPECT_EQ(**first, (Frame{FrameType::kOutput, "runs\n"}));
    }

    std::unique_ptr<net::SharedKeyTls> keys_ = *net::SharedKeyTls::create(kToken, kPurpose);
    std::unique_ptr<net::SharedKeyTls> strangers_ =
        *net::SharedKeyTls::create(std::string(64, 'x'), kPurpose);
    std::unique_ptr<Server> server_;
    std::uint16_t port_ = 0;
    fs::path directory_;
    std::string said_;
};

// The client that waits for the command is told, and the next one is served.
TEST_F(RshServer, ASessionOfWhichAPartFailsEndsAlone) {
    for (const char* task :
         {"a client that comes", "a command", "input of a command", "output of a command",
          "errors of a command", "the end of a command", "a client", "farewell to a client"}) {
        RemoteRun failing;
        std::optional<TaskFault> fault(task);
        spawn(failing, to_host(failing, "sleep 0.2"));
        run_until([&] { return fault->hits() > 0; });
        fault.reset();  // a client that was not let in tries again
        run_until([&] { return failing.status.has_value(); });
        EXPECT_EQ(output_of("echo next"), "next\n") << task;
    }
}

TEST_F(RshServer, ClientsAreAcceptedAgainAfterAFault) {
    await(server_->stop());
    std::optional<TaskFault> fault("clients of the remote shell");
    begin({});
    run_until([&] { return fault->hits() > 0; });
    fault.reset();
    EXPECT_EQ(output_of("echo next"), "next\n");
}

TEST_F(RshServer, ACommandRunsInTheDirectoryAndEnvironmentOfTheServer) {
    EXPECT_EQ(output_of("pwd; echo $COLOUR"), fs::current_path().string() + "\nblue\n");
}

TEST_F(RshServer, OutputAndErrorsStayApart) {
    RemoteRun one;
    EXPECT_EQ(run(one, "echo out; echo err >&2; exit 3"), 3);
    EXPECT_EQ(one.out.text(), "out\n");
    EXPECT_EQ(one.err.text(), "err\n");
}

TEST_F(RshServer, TheEndOfACommandIsTheEndOfItsClient) {
    const std::pair<const char*, int> rows[] = {
        {"true", 0},      {"exit 255", 255},        {"kill -9 $$", 137},
        {"kill $$", 143}, {"no-such-program", 127}, {"/", 126},
    };
    for (const auto& [command, status] : rows) {
        RemoteRun one;
        EXPECT_EQ(run(one, command), status) << command;
    }
}

TEST_F(RshServer, InputIsCarriedToItsEnd) {
    EXPECT_EQ(output_of("cat; echo done", "some\ntext"), "some\ntextdone\n");
    RemoteRun one;
    ClientOptions options = to_host(one, "cat; echo done");
    options.input = -1;
    spawn(one, options);
    run_until([&] { return one.status.has_value(); });
    EXPECT_EQ(one.out.text(), "done\n");
}

TEST_F(RshServer, ACommandThatDoesNotReadItsInputEndsAllTheSame) {
    RemoteRun one(std::string(std::size_t{4} << 20, 'x'));
    EXPECT_EQ(run(one, "exec <&-; echo here; exit 5"), 5);
    EXPECT_EQ(one.out.text(), "here\n");
}

TEST_F(RshServer, AHundredMegabytesGoEachWay) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    constexpr std::size_t kSize = 25'000'000;  // slower by as much
#else
    constexpr std::size_t kSize = 100'000'000;
#endif
    std::string bytes(kSize, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 + i / 4096);
    RemoteRun one(bytes);
    EXPECT_EQ(run(one, "cat"), 0);
    EXPECT_TRUE(one.out.text() == bytes) << one.out.text().size() << " bytes came";
}

TEST_F(RshServer, ManyRunAtOnce) {
    constexpr int kMany = 100;
    std::vector<std::unique_ptr<RemoteRun>> runs;
    for (int i = 0; i < kMany; ++i) {
        runs.push_back(std::make_unique<RemoteRun>(fmt::format("{}\n", i)));
        spawn(*runs.back(), to_host(*runs.back(), "read number; echo got $number; exit $number"));
    }
    run_until([&] {
        return std::ranges::all_of(runs, [](const auto& one) { return one->status.has_value(); });
    });
    for (int i = 0; i < kMany; ++i) {
        const RemoteRun& one = *runs[static_cast<std::size_t>(i)];
        ASSERT_TRUE(*one.status) << one.status->error().message();
        EXPECT_EQ(**one.status, i);
        EXPECT_EQ(one.out.text(), fmt::format("got {}\n", i));
    }
}

TEST_F(RshServer, OneTokenDoesNotOpenAnother) {
    RemoteRun one;
    spawn(one, to_host(one, "touch " + path("proof")), strangers_.get());
    run_until([&] { return one.status.has_value(); });
    ASSERT_FALSE(*one.status);
    EXPECT_EQ(one.status->error().code(), Code::kUnauthorized);
    EXPECT_THAT(one.status->error().message(), HasSubstr("does not have this job's token"));
    run_until([&] { return !said_.empty(); });
    EXPECT_THAT(said_, HasSubstr("a client was rejected"));
    EXPECT_FALSE(has("proof"));
    EXPECT_THAT(said_, ::testing::Not(HasSubstr(kToken)));
}

TEST_F(RshServer, WhatIsNotOurProtocolIsTurnedAway) {
    auto plain = await(net::connect_tcp(context.get_executor(), "127.0.0.1", port_));
    const std::string request = request_frame("touch " + path("proof"));
    ASSERT_TRUE(await((*plain)->write(asio::buffer(request))));
    run_until([&] { return !said_.empty(); });
    EXPECT_THAT(said_, HasSubstr("a client was rejected"));
    EXPECT_FALSE(has("proof"));
    EXPECT_EQ(server_->commands(), 0);
}

TEST_F(RshServer, AnotherVersionIsToldWhy) {
    auto frames = open_stream();
    ASSERT_TRUE(await(frames->write(FrameType::kRequest, "\2true")));
    const auto answer = await(frames->read());
    ASSERT_TRUE(answer && *answer);
    EXPECT_EQ((*answer)->type, FrameType::kRefused);
    EXPECT_THAT((*answer)->payload, HasSubstr("version 2"));
}

TEST_F(RshServer, AShellThatIsNotThereIsSaid) {
    await(server_->stop());
    begin({.shell = "/no/such/shell"});
    RemoteRun one;
    EXPECT_EQ(run(one, "true"), 126);
    EXPECT_THAT(one.err.text(), HasSubstr("/no/such/shell"));
}

/// A command that says when it runs, and leaves a file when it is told to end.
std::string traced(const std::string& at) {
    return fmt::format("trap 'touch {}; exit' TERM; echo runs; while :; do sleep 0.01; done", at);
}

TEST_F(RshServer, ACommandEndsWhenItsClientGoesAway) {
    auto frames = open_stream();
    begin_command(*frames, traced(path("ended")));
    frames.reset();
    run_until([&] { return server_->commands() == 0; });
    EXPECT_TRUE(has("ended"));
}

TEST_F(RshServer, ACutFrameEndsItToo) {
    auto frames = open_stream();
    begin_command(*frames, traced(path("ended")));
    ASSERT_TRUE(await(frames->write(frame_text(FrameType::kInput, "input").substr(0, 7))));
    ASSERT_TRUE(await(frames->shut_down_write()));
    run_until([&] { return server_->commands() == 0; });
    EXPECT_TRUE(has("ended"));
}

TEST_F(RshServer, NoClientLeavesUnnoticedWhileItsCommandReadsNothing) {
    auto frames = open_stream();
    begin_command(*frames, traced(path("ended")));
    // A window full, which is more than a pipe holds.
    for (std::size_t size = 0; size < kWindow; size += kMostData)
        ASSERT_TRUE(await(frames->write(FrameType::kInput, std::string(kMostData, 'x'))));
    frames.reset();
    run_until([&] { return server_->commands() == 0; });
    EXPECT_TRUE(has("ended"));
}

TEST_F(RshServer, WhoDoesNotListenIsKilled) {
    await(server_->stop());
    begin({.mercy = std::chrono::milliseconds(100)});
    auto frames = open_stream();
    begin_command(*frames, "trap '' TERM; echo runs; sleep 1000 & exec >&- 2>&-; wait");
    frames.reset();
    run_until([&] { return server_->commands() == 0; });
}

TEST_F(RshServer, AServerThatStopsEndsItsCommandsAndTellsTheirClients) {
    auto frames = open_stream();
    begin_command(*frames, "echo runs; exec sleep 1000");
    bool stopped = false;
    asio::co_spawn(context, server_->stop(), [&](std::exception_ptr) { stopped = true; });
    const auto end = await(frames->read());
    ASSERT_TRUE(end && *end);
    EXPECT_EQ(**end, (Frame{FrameType::kKilled, std::string(1, SIGTERM)}));
    frames.reset();
    run_until([&] { return stopped; });
    server_.reset();
}

TEST_F(RshServer, AServerThatStopsEndsItsCommandsAfterAFaultToo) {
    std::optional<TaskFault> fault("a server that stops");
    auto frames = open_stream();
    begin_command(*frames, "echo runs; exec sleep 1000");
    run_until([&] { return fault->hits() > 0; });
    fault.reset();
    bool stopped = false;
    asio::co_spawn(context, server_->stop(), [&](std::exception_ptr) { stopped = true; });
    const auto end = await(frames->read());
    ASSERT_TRUE(end && *end);
    frames.reset();
    run_until([&] { return stopped; });
    server_.reset();
}

TEST_F(RshServer, WhoLeavesTheGroupGoesOn) {
    // As a daemon of Open MPI does it. What it says comes by a pipe with a name.
    ASSERT_EQ(::mkfifo(path("said").c_str(), 0600), 0);
    const int said = ::open(path("said").c_str(), O_RDWR | O_CLOEXEC);
    RemoteRun one;
    EXPECT_EQ(run(one, fmt::format("setsid sh -c 'sleep 0.1; echo on >{}' </dev/null >/dev/null "
                                   "2>&1 &",
                                   path("said"))),
              0);
    Descriptor told(context.get_executor(), said, Descriptor::Use::kRead);
    std::string text(3, '\0');
    EXPECT_EQ(await(told.read_some(asio::buffer(text))).value(), 3U);
    EXPECT_EQ(text, "on\n");
    ::close(said);
}

TEST_F(RshServer, AHostThatIsNotThereYetIsTriedAgain) {
    await(server_->stop());
    const std::uint16_t port = port_;
    RemoteRun one;
    ClientOptions options = to_host(one, "echo late");
    int asked = 0;
    options.resolve = [&](const std::string&) -> Result<std::vector<std::string>> {
        if (++asked < 3) return Error(Code::kUnavailable, "the name is not known");
        if (asked == 6) {
            auto listener = net::listen_tcp(context.get_executor(), "127.0.0.1", port);
            EXPECT_TRUE(listener) << listener.error().message();
            server_ =
                std::make_unique<Server>(context.get_executor(), clock, *keys_,
                                         ServerOptions{.environment = {"PATH=/usr/bin:/bin"}});
            server_->start(*std::move(listener));
        }
        return std::vector<std::string>{"127.0.0.1"};
    };
    spawn(one, options);
    run_until([&] { return one.status.has_value(); });
    ASSERT_TRUE(*one.status) << one.status->error().message();
    EXPECT_EQ(one.out.text(), "late\n");
    EXPECT_GE(asked, 6);
}

TEST_F(RshServer, AHostThatNeverComesIsSaidWithWhatWasTried) {
    RemoteRun one;
    ClientOptions options = to_host(one, "true");
    options.host = "worker-7";
    options.patience = std::chrono::milliseconds(40);
    options.resolve = [](const std::string&) -> Result<std::vector<std::string>> {
        return Error(Code::kUnavailable, "the name is not known (yet)");
    };
    spawn(one, options);
    run_until([&] { return one.status.has_value(); });
    ASSERT_FALSE(*one.status);
    EXPECT_EQ(one.status->error().code(), Code::kTimeout);
    for (const std::string& part : {fmt::format("worker-7:{}", port_), std::string("tries"),
                                    std::string("the name is not known (yet)")})
        EXPECT_THAT(one.status->error().message(), HasSubstr(part));
}

TEST_F(RshServer, AServerThatDiesIsAnErrorOfItsClients) {
    // One that takes a request and goes away.
    auto listener = net::listen_tcp(context.get_executor(), "127.0.0.1", 0);
    const std::string address = (*listener)->address();
    RemoteRun one;
    ClientOptions options = to_host(one, "true");
    options.port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    spawn(one, options);
    auto below = await((*listener)->accept());
    auto secured = await(keys_->accept(*std::move(below)));
    ASSERT_TRUE(secured) << secured.error().message();
    secured->reset();
    run_until([&] { return one.status.has_value(); });
    ASSERT_FALSE(*one.status);
    EXPECT_EQ(one.status->error().code(), Code::kUnavailable);
    EXPECT_THAT(one.status->error().message(), HasSubstr("127.0.0.1"));
}

}  // namespace
}  // namespace muster::rsh::server_test
