#include "pod_tools/program.h"

#include <fmt/format.h>
#include <sys/auxv.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "ask_master/ask_master.h"
#include "master_process/arguments.h"
#include "master_process/run_master.h"
#include "muster_run/muster_run.h"
#include "net/name_files.h"
#include "net/tls/shared_key_tls.h"
#include "pod_tools/agent_folder.h"
#include "pod_tools/copy.h"
#include "rsh/run.h"

namespace muster::pod_tools {

namespace {

constexpr int kBadUsage = 2;

constexpr std::string_view kHelp =
    R"(The part of Muster in the pods of jobs that need it: one file, which runs in any image.

Usage: muster-in-pods copy TARGET      copies itself there, in one step; into a directory, with all by
                                       which the commands of a pod reach the agent
       muster-in-pods rsh ...          'muster rsh'; 'rsh --help' has more
       muster-in-pods muster-run ...   the agent of elastic jobs, also called as muster-run, torchrun
                                       or dlrover-run; 'muster-run --help' has more
       muster-in-pods master ...       'muster master', a job's master; 'master --help' has more
       muster-in-pods ask-master       'muster ask-master', a program's connection to that master

Exit status of copy: 0, or 1 when it could not; 2 for a wrong command line.
)";

int refuse(std::string_view what) {
    fmt::print(stderr, "muster-in-pods: {}\n", what);
    return kBadUsage;
}

/// As it was called, since /proc may be missing.
std::string own_file() {
    const auto* path = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    return path == nullptr ? std::string() : std::string(path);
}

int copy(const std::vector<std::string>& words) {
    if (words.size() != 1) return refuse("copy needs one argument: the target");
    std::error_code error;
    const bool directory = std::filesystem::is_directory(words.front(), error);
    const Result<void> copied = directory ? make_agent_folder(own_file(), words.front())
                                          : copy_program(own_file(), words.front());
    if (copied) return 0;
    fmt::print(stderr, "muster-in-pods: {}\n", copied.error().message());
    return 1;
}

std::vector<std::string> variables_of(char** environment) {
    std::vector<std::string> variables;
    for (char** one = environment; *one != nullptr; ++one) variables.emplace_back(*one);
    return variables;
}

bool asks_for_help(const std::vector<std::string>& words) {
    return words.size() == 1 && (words.front() == "--help" || words.front() == "-h");
}

int print(std::string_view text) {
    fmt::print("{}", text);
    return 0;
}

int remote_shell(const std::vector<std::string>& words, std::vector<std::string> environment) {
    if (asks_for_help(words)) return print(rsh::help_text());
    rsh::Arguments arguments;
    if (const auto wrong = rsh::parse_arguments(words, arguments)) return refuse("rsh: " + *wrong);
    return rsh::run(arguments, std::move(environment),
                    [](const std::string& host) { return net::addresses_by_files(host); });
}

int job_master(const std::vector<std::string>& words, std::vector<std::string> environment) {
    if (asks_for_help(words)) return print(master_process::help_text());
    master_process::Arguments arguments;
    if (const auto wrong = master_process::parse_arguments(words, arguments))
        return refuse("master: " + *wrong);
    if (!arguments.kubeconfig.empty())
        return refuse("master: --kubeconfig needs 'muster master'; in a pod its account is used");
    return master_process::run_master(arguments, environment,
                                      [&environment](const master_process::Arguments&) {
                                          return master_process::access_in_pod(environment);
                                      });
}

}  // namespace

int run(int argc, char** argv, char** environment) {
    net::ignore_openssl_configuration();  // it is that of the user's image
    if (const auto status = run::run_by_name(argc, argv, environment)) return *status;
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    if (asks_for_help(words)) return print(kHelp);
    if (words.empty()) return refuse("say what to do: copy, rsh, muster-run, master or ask-master");
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (words.front() == "copy") return copy(rest);
    if (words.front() == "rsh") return remote_shell(rest, variables_of(environment));
    if (words.front() == "ask-master") {
        if (asks_for_help(rest)) return print(ask_master::help_text());
        return ask_master::run_ask_master(rest, variables_of(environment));
    }
    if (words.front() == "master") return job_master(rest, variables_of(environment));
    return refuse(
        fmt::format("there is no \"{}\"; there are copy, rsh, muster-run, "
                    "master and ask-master",
                    words.front()));
}

}  // namespace muster::pod_tools
