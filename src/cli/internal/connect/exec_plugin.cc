#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "cli/internal/connect/exec_credential.h"

namespace muster::cli {

namespace {

// More than any token or chain of certificates.
constexpr std::size_t kMaxPrinted = 1 << 20;

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// In the place of one of that name: of two, programs disagree which counts.
void set_variable(std::vector<std::string>& variables, const std::string& name,
                  const std::string& value) {
    std::erase_if(variables, [prefix = name + "="](const std::string& variable) {
        return variable.starts_with(prefix);
    });
    variables.push_back(name + "=" + value);
}

/// Where a child's standard input and output go.
class SpawnActions {
  public:
    SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }
    ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;

    void no_input() {
        ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    void output_to(int descriptor) {
        ::posix_spawn_file_actions_adddup2(&actions_, descriptor, STDOUT_FILENO);
    }
    const posix_spawn_file_actions_t* get() const { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_;
};

/// All that is written to a pipe, up to a limit; closes it.
std::string read_all(int descriptor) {
    std::string printed;
    std::array<char, 4096> piece;
    while (printed.size() < kMaxPrinted) {
        const ssize_t got = ::read(descriptor, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        printed.append(piece.data(), static_cast<std::size_t>(got));
    }
    ::close(descriptor);
    return printed;
}

}  // namespace

Result<ExecCredential> run_exec_plugin(const ServerAccess& access, const ExecPlugin& plugin,
                                       std::string_view ca_pem,
                                       const std::vector<std::string>& environment) {
    const bool interactive = plugin.may_ask && ::isatty(STDIN_FILENO) == 1;
    std::vector<std::string> arguments{plugin.command};
    arguments.insert(arguments.end(), plugin.arguments.begin(), plugin.arguments.end());
    std::vector<std::string> variables = environment;
    for (const auto& [name, value] : plugin.environment) set_variable(variables, name, value);
    set_variable(variables, "KUBERNETES_EXEC_INFO", exec_info(access, plugin, ca_pem, interactive));

    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("making a pipe", errno);
    SpawnActions actions;
    if (!interactive) actions.no_input();
    actions.output_to(ends[1]);
    pid_t pid = 0;
    const int failed = ::posix_spawnp(&pid, plugin.command.c_str(), actions.get(), nullptr,
                                      pointers_to(arguments).data(), pointers_to(variables).data());
    ::close(ends[1]);
    if (failed != 0) {
        ::close(ends[0]);
        Error error = system_error(
            fmt::format("starting the exec plugin {} of user \"{}\"", plugin.command, access.user),
            failed);
        if (plugin.install_hint.empty()) return error;
        return Error(error.code(), fmt::format("{}. {}", error.message(), plugin.install_hint));
    }
    const std::string printed = read_all(ends[0]);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return Error(
            Code::kUnauthorized,
            fmt::format("the exec plugin {} of user \"{}\" failed with {} {}", plugin.command,
                        access.user, WIFSIGNALED(status) ? "signal" : "status",
                        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)));
    return parse_exec_credential(plugin, printed);
}

}  // namespace muster::cli
