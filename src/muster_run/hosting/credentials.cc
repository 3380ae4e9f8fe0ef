#include "muster_run/hosting/credentials.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/text_files.h"
#include "launch/environment.h"
#include "muster_run/node/node_resources.h"

namespace muster::run {
namespace {

constexpr std::string_view kTokenVariable = "MUSTER_TOKEN";
constexpr std::size_t kLongestToken = 4096;

Result<std::string> read_file(const std::string& flag, const std::string& path) {
    auto text = read_text(path);
    if (!text) return std::move(text).error().prefix(flag);
    return text;
}

/// The first line, and no byte behind it: workers may read on.
Result<std::string> read_standard_input() {
    if (::isatty(STDIN_FILENO) == 1) fmt::print(stderr, "The job's token: ");
    std::string line;
    while (line.size() <= kLongestToken) {
        char byte = 0;
        const ssize_t size = ::read(STDIN_FILENO, &byte, 1);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return system_error("--token-file -: reading standard input", errno);
        if (size == 0 || byte == '\n') return line;
        line += byte;
    }
    return Error(Code::kInvalid, fmt::format("--token-file -: the first line of standard input has "
                                             "more than {} bytes",
                                             kLongestToken));
}

Result<std::string> checked_token(std::string token, std::string_view source) {
    while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
    if (token.empty())
        return Error(Code::kInvalid, fmt::format("{}: there is nothing in it", source));
    return token;
}

/// Without a secret the name of the run, or of the job as its operator has it, which keeps out the nodes of other jobs and no one else.
Result<std::string> token_of(const launch::LaunchPlan& plan, const launch::Variables& variables) {
    if (plan.token_file == "-") {
        TRY(std::string token, read_standard_input());
        return checked_token(std::move(token), "--token-file -");
    }
    if (!plan.token_file.empty()) {
        TRY(std::string token, read_file("--token-file", plan.token_file));
        return checked_token(std::move(token), "--token-file " + plan.token_file);
    }
    if (const std::string* const token = launch::find_variable(variables, kTokenVariable))
        return checked_token(*token, kTokenVariable);
    if (plan.nodes.most > 1 && plan.rendezvous.where != launch::Rendezvous::Where::kHere &&
        plan.tls.cert.empty())
        log::warning(
            "this job has no token: whoever reaches its port and knows its name can join it; give "
            "all nodes the same --token-file FILE, or MUSTER_TOKEN; --token-file new makes one");
    return "run " + (plan.rendezvous.job.empty() ? plan.run_id : plan.rendezvous.job);
}

/// The store has no credentials, so a token would not change that.
void warn_of_open_store(const launch::LaunchPlan& plan) {
    if (plan.rendezvous.where != launch::Rendezvous::Where::kHere || is_of_this_machine(plan))
        return;
    log::warning(fmt::format(
        "--local-addr {} opens the workers' store to all users of this machine, as it listens at "
        "every address; without it, or with 127.0.0.1, the store is for you alone",
        plan.local_addr));
}

}  // namespace

Result<Credentials> Credentials::read(const launch::LaunchPlan& plan,
                                      const launch::Variables& variables, const Clock& clock) {
    Credentials made;
    TRY(made.token, token_of(plan, variables));
    warn_of_open_store(plan);
    if (plan.tls.cert.empty()) return made;
    TRY(const std::string certificate, read_file("--tls-cert", plan.tls.cert));
    TRY(const std::string key, read_file("--tls-key", plan.tls.key));
    TRY(const std::string ca, read_file("--tls-ca", plan.tls.ca));
    TRY(made.server,
        net::TlsServerContext::create(
            clock, {.certificate_pem = certificate, .key_pem = key, .client_ca_pem = ca}));
    TRY(made.client, net::TlsClientContext::create(
                         clock, {.ca_pem = ca, .certificate_pem = certificate, .key_pem = key}));
    return made;
}

launch::Variables without_token(launch::Variables variables) {
    std::erase_if(variables, [](const auto& one) { return one.first == kTokenVariable; });
    return variables;
}

}  // namespace muster::run
