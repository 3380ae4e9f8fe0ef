#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "kube/client_config/client_config.h"
#include "kube/client_config/exec_credential.h"
#include "kube/internal/client_config/server_tls.h"
#include "kube/transport/credentials.h"

namespace muster::kube {

/// Our credentials from one context of a kubeconfig, for as long as we run.
///
/// A token file is read again when a request is about to be sent and it was last read a minute ago
/// or earlier. A plugin runs again, in parallel to requests, some time before its credential
/// expires; requests wait for it only once that has expired. After a 401 both are renewed
/// immediately, and the files of a client certificate are read again. A failed renewal is logged as
/// a warning, and the old credentials stay in use.
///
/// Thread: the loop of its executor. begin() it first, stop() it before it is destroyed.
class ServerCredentials final : public Credentials {
  public:
    /// `on_new_certificate` is called when new connections must use another client certificate.
    ServerCredentials(const ClientConfig& access, std::vector<std::string> environment,
                      ServerTls& tls, asio::any_io_executor executor, Clock& clock,
                      std::function<void()> on_new_certificate);

    /// Reads the token file or runs the plugin, which may ask at the terminal. Blocks.
    Result<void> begin();

    Task<Result<Headers>> headers() override;
    Task<bool> refused(std::uint64_t version) override;
    /// Reads the files of TLS again, for a connection that is about to be made.
    void refresh_certificates();

    Task<void> stop();

  private:
    bool has_ended() const { return ends_ && clock_.wall_now() >= *ends_; }
    void read_token_file();
    void become(std::string token, bool another_certificate);
    Result<void> take(ExecCredential given);
    void start_plugin();
    Task<void> run_plugin();
    void plugin_failed(const Error& why);
    Task<void> plugin_ended();
    void warn(const Error& why) const;

    const ClientConfig access_;
    const std::vector<std::string> environment_;
    ServerTls& tls_;
    Clock& clock_;
    std::function<void()> on_new_certificate_;

    std::string token_;
    Headers headers_;
    Instant next_look_{};  // when to read the token file

    bool plugin_is_asked_ = false;
    std::optional<WallTime> ends_;      // when the plugin's credential expires
    std::optional<WallTime> renew_at_;  // when to renew it
    Instant next_run_{};                // of the plugin, after one that failed
    Instant next_run_for_401_{};
    std::optional<Error> failure_;  // of the last run
    bool running_ = false;
    Signal run_ended_;
    TaskGroup tasks_;
};

/// The header fields that authenticate us by `access`, with `token` if it has one. Pure.
Credentials::Fields credential_headers(const ClientConfig& access, const std::string& token);

}  // namespace muster::kube
