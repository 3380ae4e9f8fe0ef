#include "muster_run/hosting/credentials.h"

#include <fmt/format.h>

#include <utility>

#include "base/text_files.h"

namespace muster::run {
namespace {

Result<std::string> read_file(const std::string& flag, const std::string& path) {
    auto text = read_text(path);
    if (!text) return std::move(text).error().prefix(flag);
    return text;
}

/// Without a file the run's name, which keeps out the nodes of other jobs and no one else.
Result<std::string> token_of(const launch::LaunchPlan& plan) {
    if (plan.token_file.empty()) return "run " + plan.run_id;
    TRY(std::string token, read_file("--token-file", plan.token_file));
    while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
    if (token.empty())
        return Error(Code::kInvalid,
                     fmt::format("--token-file {}: there is nothing in it", plan.token_file));
    return token;
}

}  // namespace

Result<Credentials> Credentials::read(const launch::LaunchPlan& plan, const Clock& clock) {
    Credentials made;
    TRY(made.token, token_of(plan));
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

}  // namespace muster::run
