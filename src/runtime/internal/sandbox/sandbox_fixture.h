#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/test_loop.h"
#include "pod_init/cri_log.h"
#include "runtime/internal/network/own_network_fixture.h"
#include "runtime/internal/sandbox/sandbox.h"

namespace muster::runtime {

namespace fs = std::filesystem;

/// A FIFO that a script and everything it starts keep open ("exec 9>FIFO" and inheritance).
class Lifeline {
  public:
    explicit Lifeline(const fs::path& path) : path_(path) {
        EXPECT_EQ(::mkfifo(path_.c_str(), 0666), 0);
        reader_.reset(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
        EXPECT_EQ(::fcntl(reader_.get(), F_SETFL, 0), 0);
    }
    std::string held_by(const std::string& script) const {
        return "exec 9>" + path_.string() + "; " + script;
    }
    /// The line that the script writes with `echo ... >&9`.
    std::string read_line() {
        pollfd event{reader_.get(), POLLIN, 0};
        ::poll(&event, 1, -1);  // a read before there is a writer would say "end"
        std::string line;
        char c = 0;
        while (::read(reader_.get(), &c, 1) == 1 && c != '\n') line += c;
        return line;
    }
    /// Returns when no process has it open.
    std::string read_to_end() {
        std::string text;
        std::array<char, 4096> buffer;
        ssize_t size = 0;
        while ((size = ::read(reader_.get(), buffer.data(), buffer.size())) > 0)
            text.append(buffer.data(), static_cast<std::size_t>(size));
        return text;
    }

  private:
    fs::path path_;
    UniqueFd reader_;
};

struct Ended {
    pod_init::Report::Kind kind = pod_init::Report::Kind::kReady;
    int status = 0;
    pod_init::StartStage stage = pod_init::StartStage::kOther;
    std::string detail;
    std::string output;
};

class SandboxTest : public ::testing::TestWithParam<bool>, protected RealLoop {
  protected:
    void SetUp() override {
        if (GetParam() && ::geteuid() != 0) GTEST_SKIP() << "namespaces are tested as root here";
        if (!GetParam()) network.emplace();
        auto made = SandboxHost::create(GetParam());
        ASSERT_TRUE(made) << made.error().message();
        host = std::make_unique<SandboxHost>(*std::move(made));
        std::string pattern = "/var/tmp/muster-sandbox-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        dir = pattern;
        fs::create_directory(dir / "scratch");
        fs::create_directory(dir / "logs");
        log_dir.reset(::open((dir / "logs").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        spec.title = "ns/pod";
        spec.hostname = "pod";
        spec.address = PodFabric::kRange + 2;
    }
    void TearDown() override {
        sandbox.reset();
        if (!spec.socket.empty()) end_surviving_pod();
        if (!dir.empty()) fs::remove_all(dir);
    }
    void end_surviving_pod() {
        auto found = recover_pod(spec.socket);
        if (found) EXPECT_TRUE(end_pod(*std::move(found)));
    }
    void find() {
        auto found = recover_pod(spec.socket);
        ASSERT_TRUE(found) << found.error().message();
        sandbox = PodSandbox::take_over(context.get_executor(), *host, *std::move(found));
    }

    pod_init::Report next() {
        Result<std::optional<pod_init::Report>> report = await(sandbox->next_report());
        EXPECT_TRUE(report) << report.error().message();
        if (!report) return {};
        EXPECT_TRUE(*report) << "the init ended";
        return (*std::move(report)).value_or(pod_init::Report{});
    }
    void expect_gone() {
        const Result<std::optional<pod_init::Report>> report = await(sandbox->next_report());
        EXPECT_TRUE(report && !*report);
    }
    void start_pod() {
        auto started = PodSandbox::start(context.get_executor(), *host, spec);
        ASSERT_TRUE(started) << started.error().message();
        sandbox = *std::move(started);
        pod_init::Report report = next();
        ASSERT_EQ(report.kind, pod_init::Report::Kind::kReady) << report.text;
        init = std::move(report.pidfd);
    }
    pod_init::ContainerStart shell(std::string script) {
        pod_init::ContainerStart start;
        start.id = ++last_id;
        start.argv = {"sh", "-c", std::move(script)};
        start.environment = {"PATH=/usr/bin:/bin"};
        start.working_dir = "/";
        start.scratch_dir = (dir / "scratch").string();
        start.log_name = std::to_string(start.id) + ".log";
        return start;
    }
    bool launch(const pod_init::ContainerStart& start) {
        auto sent = sandbox->start_container(start, log_dir.get(), {});
        EXPECT_TRUE(sent) << sent.error().message();
        return sent.has_value();
    }
    /// The text of a log, newest file only.
    std::string log_of(const pod_init::ContainerStart& start) const {
        std::ifstream file(dir / "logs" / start.log_name);
        std::string text;
        for (std::string line; std::getline(file, line);) {
            const auto parsed = pod_init::parse_cri_line(line);
            EXPECT_TRUE(parsed) << line;
            if (!parsed) continue;
            text += parsed->text;
            if (parsed->full) text += '\n';
        }
        return text;
    }
    /// Runs to completion.
    Ended run_container(const pod_init::ContainerStart& start) {
        EXPECT_TRUE(launch(start));
        pod_init::Report report = next();
        if (report.kind == pod_init::Report::Kind::kStarted) report = next();
        EXPECT_EQ(report.id, start.id);
        return {report.kind, report.value, report.stage, report.text, log_of(start)};
    }

    std::optional<OwnNetwork> network;  ///< of pods without namespaces
    std::unique_ptr<SandboxHost> host;
    std::unique_ptr<PodSandbox> sandbox;
    UniqueFd init;  ///< its pidfd
    SandboxSpec spec;
    fs::path dir;
    UniqueFd log_dir;
    std::uint32_t last_id = 0;
};

}  // namespace muster::runtime
