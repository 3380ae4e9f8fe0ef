#include "master_process/credentials.h"

#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/text_files.h"
#include "kube/client_config/environment.h"

namespace muster::master_process {
namespace {

constexpr std::string_view kTokenVariable = "MUSTER_TOKEN";

Result<std::string> read_file(std::string_view flag, const std::string& path) {
    auto text = read_text(path);
    if (!text) return std::move(text).error().prefix(flag);
    return text;
}

Result<std::string> token_of(const Arguments& arguments,
                             const std::vector<std::string>& environment) {
    std::string token = kube::variable_of(environment, kTokenVariable);
    if (!arguments.token_file.empty()) {
        TRY(token, read_file("--token-file", arguments.token_file));
    }
    while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
    if (!token.empty()) return token;
    if (!arguments.token_file.empty())
        return Error(Code::kInvalid,
                     "--token-file " + arguments.token_file + ": there is nothing in it");
    log::warning(
        "this job has no token: whoever reaches its master and knows its name can join it; give "
        "the "
        "master and all agents the same MUSTER_TOKEN, or --token-file FILE");
    // As agents have it: it keeps out the nodes of other jobs.
    return "run " + arguments.job;
}

}  // namespace

Result<Credentials> Credentials::read(const Arguments& arguments,
                                      const std::vector<std::string>& environment,
                                      const Clock& clock) {
    Credentials made;
    TRY(made.token, token_of(arguments, environment));
    if (arguments.tls_cert.empty()) return made;
    TRY(std::string certificate, read_file("--tls-cert", arguments.tls_cert));
    TRY(std::string key, read_file("--tls-key", arguments.tls_key));
    TRY(std::string ca, read_file("--tls-ca", arguments.tls_ca));
    TRY(made.server,
        net::TlsServerContext::create(clock, {.certificate_pem = std::move(certificate),
                                              .key_pem = std::move(key),
                                              .client_ca_pem = std::move(ca)}));
    return made;
}

}  // namespace muster::master_process
