#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdio>

#include "base/async/descriptor.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/pods/find_container.h"
#include "cli/internal/pods/remote_command.h"
#include "cli/internal/pods/terminal.h"
#include "cli/internal/verbs/verbs.h"

namespace muster::cli {

namespace {

constexpr std::string_view kExecHelp =
    R"(Runs a command in a container of a job or a pod.

Usage: muster exec JOB|JOB/REPLICA|POD [FLAGS] -- COMMAND [ARGUMENT...]

REPLICA is worker-1, master-0 or launcher. KIND/NAME and KIND/JOB/REPLICA say which kind is meant. Of a job
alone the first replica that runs is taken: the master, or rank 0.

  -i, --stdin                the command gets what comes in on standard input
  -t, --tty                  it has a terminal, as large as this one; with -i, every key goes there, also Ctrl-C
      --rank N               in the pod of rank N
  -c, --container NAME       default: the one that its job is about, or the pod's first
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'

The command is a program with arguments, as written, and no shell: 'sh -c' starts one. It ends when this command
does.

Exit status: the command's; 128 + N if signal N ended it; 1 when it could not be started, 130 and 143 when this
was stopped.

Examples:
  muster exec digits -- nvidia-smi
  muster exec -it digits/worker-1 -- bash
  muster exec digits --rank 3 -- py-spy dump --pid 1
  tar c data | muster exec -i pod/web -- tar x -C /tmp
)";

constexpr const char* kExecVerb = "exec";
constexpr std::size_t kInputPiece = std::size_t{32} * 1024;

struct ExecOptions {
    ServerOptions server;
    std::string about;
    ContainerChoice choice;
    bool input = false;
    bool terminal = false;
    std::vector<std::string> command;
};

/// A command with this process's standard streams. What its tasks refer to; owned by the connection,
/// which stops them first.
struct ExecSession {
    ExecSession(const asio::any_io_executor& executor, std::unique_ptr<RemoteCommand> started)
        : command(std::move(started)),
          input(executor, STDIN_FILENO, Descriptor::Use::kRead),
          output(executor, STDOUT_FILENO, Descriptor::Use::kWrite),
          error(executor, STDERR_FILENO, Descriptor::Use::kWrite),
          resized(executor, SIGWINCH) {}

    std::unique_ptr<RemoteCommand> command;
    Descriptor input;
    Descriptor output;
    Descriptor error;
    asio::signal_set resized;
    std::unique_ptr<RawTerminal> raw = {};

    Task<void> pass_input() {
        std::string buffer(kInputPiece, '\0');
        for (;;) {
            const auto size = co_await input.read_some(asio::buffer(buffer));
            if (!size) tell_error(kExecVerb, Error(size.error()).prefix("standard input"));
            if (!size || *size == 0) break;
            // What happened is told by what reads.
            if (!co_await command->write(buffer.substr(0, *size))) co_return;
        }
        std::ignore = co_await command->close_input();
    }

    Task<void> pass_size() {
        for (;;) {
            if (const auto size = terminal_size(STDIN_FILENO))
                if (!co_await command->resize(*size)) co_return;
            co_await resized.async_wait(asio::use_awaitable);
        }
    }

    Task<Result<int>> pass_output() {
        for (;;) {
            CO_TRY(const auto piece, co_await command->read());
            if (!piece) co_return command->end();
            CO_TRY_VOID(co_await (piece->error ? error : output).write(asio::buffer(piece->bytes)));
        }
    }
};

/// Whether the command gets a terminal: only one of ours can be passed on.
bool has_terminal(const ExecOptions& options) {
    if (!options.terminal) return false;
    if (options.input && ::isatty(STDIN_FILENO) == 1) return true;
    fmt::print(stderr, "muster exec: no terminal is passed on: {}\n",
               options.input ? "standard input is not a terminal" : "-t needs -i");
    return false;
}

Task<Result<int>> run_command(Connection& connection, const ExecOptions& options) {
    CO_TRY(const ChosenContainer chosen,
           co_await find_container(connection, options.about, options.choice));
    if (!chosen.note.empty()) fmt::print(stderr, "muster exec: {}\n", chosen.note);
    const bool terminal = has_terminal(options);
    kube::CommandOptions request{.container = chosen.container,
                                 .command = options.command,
                                 .input = options.input,
                                 .output = true,
                                 .error = !terminal,
                                 .terminal = terminal};
    CO_TRY(auto command, co_await RemoteCommand::start(connection, chosen.namespace_, chosen.pod,
                                                       std::move(request)));
    auto session =
        std::make_shared<ExecSession>(co_await asio::this_coro::executor, std::move(command));
    connection.keep(session);
    if (terminal) {
        session->raw = RawTerminal::enter(STDIN_FILENO);
        connection.tasks().spawn("size of the terminal", session->pass_size());
    }
    if (options.input) connection.tasks().spawn_essential("input", session->pass_input());
    co_return co_await session->pass_output();
}

class ExecVerb final : public VerbOf<ExecOptions> {
  public:
    ExecVerb() : VerbOf("exec", kExecHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        flags.words("about", words_);
        flags.flag("--stdin,-i", options_.input);
        flags.flag("--tty,-t", options_.terminal);
        flags.value("--rank", options_.choice.rank);
        flags.value("--container,-c", options_.choice.container);
    }
    std::vector<std::string> to_flags(std::vector<std::string> words) override {
        const auto mark = std::ranges::find(words, "--");
        if (mark == words.end()) return words;
        options_.command.assign(mark + 1, words.end());
        words.erase(mark, words.end());
        return words;
    }
    std::optional<std::string> finish(const Flags&) override {
        if (words_.empty()) return "name a pod or a job";
        if (words_.size() > 1)
            return fmt::format("the command comes after --, as in 'muster exec {} -- {}'",
                               words_[0], fmt::join(words_.begin() + 1, words_.end(), " "));
        if (options_.command.empty())
            return fmt::format("say what to run, as in 'muster exec {} -- sh'", words_[0]);
        if (options_.choice.rank && *options_.choice.rank < 0)
            return fmt::format("--rank wants a number from 0 on, not {}", *options_.choice.rank);
        options_.about = words_.front();
        return std::nullopt;
    }
    int run() override {
        return on_server(kExecVerb, options_.server, [this](Connection& connection) {
            return run_command(connection, options_);
        });
    }

  private:
    std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Verb> exec_verb() { return std::make_unique<ExecVerb>(); }

}  // namespace muster::cli
