#include "ask_master/ask_master.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "ask_master/asker.h"
#include "ask_master/membership.h"
#include "base/async/descriptor.h"
#include "base/async/first_of.h"
#include "base/async/run_to_end.h"
#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/real_clock.h"
#include "base/time/time_limit.h"
#include "base/visible_text.h"
#include "net/name_lookup.h"
#include "net/tcp.h"
#include "process/core_dumps.h"

namespace muster::ask_master {
namespace {

constexpr int kOver = 0;
constexpr int kRefused = 1;
constexpr int kWrong = 2;
constexpr int kNotExecuted = 126;
constexpr int kNotFound = 127;
/// For one address: a machine that is gone answers nothing.
constexpr Duration kConnectTime = std::chrono::seconds(3);
/// A value of a mebibyte in hexadecimal digits, and its key.
constexpr std::size_t kLongestLine = std::size_t{4} << 20;
/// More than a program that reads has, behind which it is cut off.
constexpr std::size_t kMostUnread = std::size_t{64} << 20;

constexpr std::string_view kHelp =
    R"(The connection of a program in a job's pod to the job's master, where no agent has one: of a job with parameter servers.
The Python package muster starts it, for muster.cluster(), keys(), barrier() and join_sync().

Usage: muster ask-master
       muster ask-master --for COMMAND...   becomes the command, for which a child of it attends

It finds the master by the variables of the pod (DLROVER_MASTER_ADDR, MUSTER_TOKEN, NODE_TYPE, NODE_ID, NODE_RANK,
NODE_NUM, TF_CONFIG). For as long as it runs, the master counts the pod as there. Questions come as lines of JSON on standard
input, and answers go to standard output.

Exit status: 0 when its input has ended; 1 if the master does not let it in; 2 for wrong arguments or variables. With
--for that of the command; 127, it was not found; 126, it can't be executed.
)";

/// Reads questions, writes answers, and connects: what is not in Asker because a test has none of it.
class Process {
  public:
    /// `has_listener`: a program reads what it writes.
    Process(asio::io_context& context, Membership membership, bool has_listener)
        : executor_(context.get_executor()),
          rng_(Rng::from_system()),
          tasks_(executor_),
          names_(executor_),
          master_(membership.master),
          input_(executor_, STDIN_FILENO, Descriptor::Use::kRead),
          output_(executor_, STDOUT_FILENO, Descriptor::Use::kWrite),
          written_(executor_),
          asker_(clock_, rng_, tasks_, std::move(membership), [this] { return connect(); },
                 {.line = [this](std::string line) { put(std::move(line)); },
                  .trouble = [this](std::string text) { say(std::move(text)); }}),
          has_listener_(has_listener) {}

    Task<int> run();

  private:
    Task<Result<std::unique_ptr<net::ByteStream>>> connect();
    Task<void> until_refused();
    Task<void> read();
    Task<void> write();
    Task<void> talk();
    void put(std::string line);
    void say(std::string text);

    asio::any_io_executor executor_;
    RealClock clock_;
    Rng rng_;
    TaskGroup tasks_;
    net::NameLookup names_;
    launch::Endpoint master_;
    Descriptor input_;
    Descriptor output_;
    std::deque<std::string> lines_;
    std::size_t unread_ = 0;
    Signal written_;
    Asker asker_;
    bool has_listener_;
    std::string said_;
    int status_ = kOver;
};

Task<int> Process::run() {
    asker_.start();
    co_await first_of(talk(), until_refused());
    co_await tasks_.stop();
    co_await names_.stop();
    co_return status_;
}

Task<void> Process::talk() { co_await first_of(read(), write()); }

Task<void> Process::until_refused() {
    const Error why = co_await asker_.refused();
    fmt::print(stderr, "muster ask-master: {}\n", why.message());
    status_ = kRefused;
}

Task<Result<std::unique_ptr<net::ByteStream>>> Process::connect() {
    CO_TRY(const std::vector<std::string> addresses, co_await names_.addresses(master_.host));
    Error last(Code::kUnavailable, master_.host + " has no address");
    for (const std::string& address : addresses) {
        auto connected = co_await within(clock_, kConnectTime,
                                         net::connect_tcp(executor_, address, master_.port));
        if (connected && *connected) co_return *std::move(connected);
        last = connected ? std::move(*connected).error()
                         : Error(Code::kUnavailable, "nothing was heard for 3 s");
    }
    co_return Error(Code::kUnavailable,
                    fmt::format("the job's master at {}: {}", master_.text(), last.message()));
}

/// Until the program has ended, or has said what no program says.
Task<void> Process::read() {
    std::string text;
    std::array<char, 65536> buffer{};
    for (;;) {
        const auto size = co_await input_.read_some(asio::buffer(buffer));
        if (!size || *size == 0) co_return;
        text.append(buffer.data(), *size);
        std::size_t begin = 0;
        for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', begin)) {
            asker_.take(text.substr(begin, end - begin));
            begin = end + 1;
        }
        text.erase(0, begin);
        if (text.size() > kLongestLine) {
            fmt::print(stderr, "muster ask-master: a question of more than {} bytes\n",
                       kLongestLine);
            status_ = kWrong;
            co_return;
        }
    }
}

void Process::say(std::string text) {
    if (has_listener_) return put(trouble_line(text));
    if (text != said_) fmt::print(stderr, "muster ask-master: {}\n", visible_text(text));
    said_ = std::move(text);
}

void Process::put(std::string line) {
    if (!has_listener_) return;
    unread_ += line.size();
    lines_.push_back(std::move(line));
    written_.notify_all();
}

/// Until no one reads.
Task<void> Process::write() {
    while (unread_ <= kMostUnread) {
        if (lines_.empty()) {
            co_await written_.wait();
            continue;
        }
        const std::string line = std::move(lines_.front());
        lines_.pop_front();
        if (!co_await output_.write(asio::buffer(line))) co_return;
        unread_ -= line.size();
    }
}

int attend(const std::vector<std::string>& environment, bool has_listener) {
    auto membership = membership_of(environment);
    if (!membership) {
        fmt::print(stderr, "muster ask-master: {}\n", membership.error().message());
        return kWrong;
    }
    process::forbid_core_dumps();
    std::signal(SIGPIPE, SIG_IGN);  // a connection that has ended is seen as a failed write
    std::signal(SIGINT, SIG_IGN);   // Ctrl-C is for the program, whose end is that of this one
    asio::io_context context(1);
    Process process(context, *std::move(membership), has_listener);
    return run_to_end(context, process.run());
}

/// As exec takes them, null at the end; they last as long as `words`.
std::vector<char*> pointers_to(const std::vector<std::string>& words) {
    std::vector<char*> all;
    for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
    all.push_back(nullptr);
    return all;
}

/// Returns only if the command could not be executed. All that the command starts has the other end of
/// the child's input, so that ends with the last of them, however they end.
int become(const std::vector<std::string>& command, std::vector<std::string> environment) {
    starts_container(environment, Rng::from_system().uuid());
    std::array<int, 2> input{};
    pid_t child = -1;
    if (::pipe(input.data()) == 0) {
        child = ::fork();
        if (child == 0) {
            ::dup2(input[0], STDIN_FILENO);
            ::close(input[0]);
            ::close(input[1]);
            ::_exit(attend(environment, false));
        }
        ::close(input[0]);
    }
    ::execvpe(command.front().c_str(), pointers_to(command).data(),
              pointers_to(environment).data());
    const int error = errno;
    if (child > 0) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
    fmt::print(stderr, "muster ask-master: {}: {}\n", command.front(),
               std::generic_category().message(error));
    return error == ENOENT ? kNotFound : kNotExecuted;
}

}  // namespace

std::string_view help_text() { return kHelp; }

int run_ask_master(const std::vector<std::string>& words,
                   const std::vector<std::string>& environment) {
    if (words.empty()) return attend(environment, true);
    if (words.front() == "--for" && words.size() > 1)
        return become({words.begin() + 1, words.end()}, environment);
    fmt::print(stderr, "muster ask-master: {}\n",
               words.front() == "--for" ? "--for needs a command"
                                        : fmt::format("unexpected word \"{}\"", words.front()));
    return kWrong;
}

}  // namespace muster::ask_master
