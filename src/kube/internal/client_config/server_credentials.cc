#include "kube/internal/client_config/server_credentials.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/log.h"
#include "base/time/time_limit.h"
#include "kube/internal/client_config/exec_plugin.h"
#include "kube/internal/client_config/small_file.h"
#include "net/http/http.h"

namespace muster::kube {

namespace {

/// A kubelet replaces a token when a fifth of its lifetime is left, which is at least two minutes.
constexpr Duration kTokenFileLife = std::chrono::minutes(1);
constexpr Duration kRestAfterFailure = std::chrono::seconds(10);
/// Limit for a plugin that runs without a terminal.
constexpr Duration kPluginTime = std::chrono::minutes(1);

Error stopped() { return Error(Code::kCancelled, "the connection to the server was stopped"); }

/// Escapes characters that the name of a header field may not have, and '%', as "%2F".
std::string escaped_key(std::string_view key) {
    std::string name;
    for (const char letter : key) {
        if (letter != '%' && net::is_valid_header(std::string(1, letter), ""))
            name += letter;
        else
            name += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    }
    return name;
}

}  // namespace

Credentials::Fields credential_headers(const ClientConfig& access, const std::string& token) {
    Credentials::Fields fields;
    if (!token.empty())
        fields.emplace_back("Authorization", "Bearer " + token);
    else if (!access.username.empty())
        fields.emplace_back("Authorization",
                            net::basic_authorization(access.username, access.password));
    const ActAs& as = access.act_as;
    if (as.user.empty()) return fields;
    fields.emplace_back("Impersonate-User", as.user);
    if (!as.uid.empty()) fields.emplace_back("Impersonate-Uid", as.uid);
    for (const std::string& group : as.groups) fields.emplace_back("Impersonate-Group", group);
    for (const auto& [key, value] : as.extra)
        fields.emplace_back("Impersonate-Extra-" + escaped_key(key), value);
    return fields;
}

ServerCredentials::ServerCredentials(const ClientConfig& access,
                                     std::vector<std::string> environment, ServerTls& tls,
                                     asio::any_io_executor executor, Clock& clock,
                                     std::function<void()> on_new_certificate)
    : access_(access),
      environment_(std::move(environment)),
      tls_(tls),
      clock_(clock),
      on_new_certificate_(std::move(on_new_certificate)),
      run_ended_(executor),
      tasks_(std::move(executor)) {}

Result<void> ServerCredentials::begin() {
    token_ = access_.token;
    if (!access_.token_file.empty()) {
        Result<std::string> token = read_word(access_.token_file);
        if (!token)
            return Error(token.error()).prefix(fmt::format("{} names a file", access_.file));
        token_ = *std::move(token);
        next_look_ = clock_.now() + kTokenFileLife;
    }
    headers_.fields = std::make_shared<const Fields>(credential_headers(access_, token_));
    // As in other clients: if credentials are configured, no plugin is needed.
    plugin_is_asked_ =
        access_.exec && token_.empty() && access_.username.empty() && !tls_.has_certificate();
    if (!plugin_is_asked_) return {};
    const bool asks = access_.exec->may_ask && ::isatty(STDIN_FILENO) == 1;
    TRY(ExecCredential given,
        run_exec_plugin_now(
            {.plugin = *access_.exec,
             .user = access_.user,
             .info = exec_info(access_, *access_.exec, tls_.ca_pem(), asks),
             .environment = environment_,
             .ties = asks ? ChildProcess::Ties::kTerminal : ChildProcess::Ties::kGroup}));
    return take(std::move(given));
}

void ServerCredentials::become(std::string token, bool another_certificate) {
    if (token == token_ && !another_certificate) return;
    token_ = std::move(token);
    ++headers_.version;
    headers_.fields = std::make_shared<const Fields>(credential_headers(access_, token_));
    if (another_certificate) on_new_certificate_();
}

void ServerCredentials::warn(const Error& why) const {
    log::warning("the credentials for the API server can't be refreshed",
                 {{"user", access_.user}, {"context", access_.context}, {"why", why.message()}});
}

// ---- files ----

void ServerCredentials::read_token_file() {
    Result<std::string> token = read_word(access_.token_file);
    next_look_ = clock_.now() + (token ? kTokenFileLife : kRestAfterFailure);
    if (token)
        become(*std::move(token), false);
    else
        warn(token.error());
}

void ServerCredentials::refresh_certificates() {
    const Result<bool> another = tls_.refresh();
    if (!another)
        warn(another.error());
    else if (*another)
        become(token_, true);
}

// ---- the plugin ----

Result<void> ServerCredentials::take(ExecCredential given) {
    // A missing certificate is an answer, too: the previous one is no longer ours.
    TRY(const bool another_certificate,
        tls_.show(std::move(given.certificate_pem), std::move(given.key_pem)));
    ends_ = given.ends;
    renew_at_.reset();
    if (ends_) renew_at_ = renewal_time(clock_.wall_now(), *ends_);
    become(std::move(given.token), another_certificate);
    return {};
}

void ServerCredentials::start_plugin() {
    if (running_ || tasks_.stopping()) return;
    running_ = true;
    tasks_.spawn("exec plugin", run_plugin(), [this](const std::string& what) {
        plugin_failed(Error(Code::kInternal, what));
        running_ = false;
        run_ended_.notify_all();
    });
}

Task<void> ServerCredentials::run_plugin() {
    PluginCall call{.plugin = *access_.exec,
                    .user = access_.user,
                    .info = exec_info(access_, *access_.exec, tls_.ca_pem(), false),
                    .environment = environment_};
    auto given = co_await within(clock_, kPluginTime, run_exec_plugin(std::move(call)));
    Result<void> taken =
        Error(Code::kUnauthorized,
              fmt::format("the exec plugin {} did not end in {} s", access_.exec->command,
                          std::chrono::floor<std::chrono::seconds>(kPluginTime).count()));
    if (given) taken = *given ? take(**std::move(given)) : Result<void>(given->error());
    failure_.reset();
    if (!taken) plugin_failed(taken.error());
    running_ = false;
    run_ended_.notify_all();
}

void ServerCredentials::plugin_failed(const Error& why) {
    failure_ = why;
    next_run_ = clock_.now() + kRestAfterFailure;
    warn(why);
}

Task<void> ServerCredentials::plugin_ended() {
    while (running_) co_await run_ended_.wait();
}

// ---- requests ----

Task<Result<Credentials::Headers>> ServerCredentials::headers() {
    if (!access_.token_file.empty() && clock_.now() >= next_look_) read_token_file();
    if (renew_at_ && clock_.wall_now() >= *renew_at_ && clock_.now() >= next_run_) start_plugin();
    if (has_ended() && running_) co_await plugin_ended();
    if (tasks_.stopping()) co_return stopped();
    if (has_ended() && failure_)
        co_return Error(Code::kUnavailable,
                        fmt::format("the credential of user \"{}\" has ended: {}", access_.user,
                                    failure_->message()));
    co_return headers_;
}

Task<bool> ServerCredentials::refused(std::uint64_t version) {
    // Another request was refused before this one.
    if (version != headers_.version) co_return true;
    if (!access_.token_file.empty()) read_token_file();
    refresh_certificates();
    if (plugin_is_asked_ && clock_.now() >= next_run_for_401_) {
        // If a server refuses everything that the plugin gives, the plugin does not run for every
        // request.
        next_run_for_401_ = clock_.now() + kRestAfterFailure;
        start_plugin();
    }
    co_await plugin_ended();
    co_return version != headers_.version && !tasks_.stopping();
}

Task<void> ServerCredentials::stop() {
    running_ = false;
    run_ended_.notify_all();
    co_await tasks_.stop();
}

}  // namespace muster::kube
