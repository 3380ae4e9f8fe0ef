#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "net/byte_stream.h"
#include "net/tls/shared_key_tls.h"

namespace muster::rsh {

/// The purpose from which both ends derive their key: see net::SharedKeyTls::create().
inline constexpr std::string_view kPurpose = "rsh";

struct ServerOptions {
    std::string shell = "/bin/sh";
    std::vector<std::string> environment = {};  ///< of the commands: "NAME=VALUE"
    /// How long a client may take to authenticate and send its request.
    Duration greeting = std::chrono::seconds(10);
    /// From SIGTERM to SIGKILL for commands whose client is gone, or when the server stops.
    Duration mercy = std::chrono::seconds(5);
    /// The most clients that have not authenticated yet; more are rejected.
    std::size_t most_greeted = 1024;
};

/// Runs commands for clients that know the token, each with `sh -c` in the working directory of
/// this process. If a client goes away, its command is ended: SIGTERM to its process group, then
/// SIGKILL. Processes that left the group (daemons) continue.
///
/// Call start(), and stop() before destroying it. Thread: one loop. SIGPIPE must be ignored.
class Server {
  public:
    /// `clock` and `keys` must outlive it.
    Server(asio::any_io_executor executor, Clock& clock, net::SharedKeyTls& keys,
           ServerOptions options);
    ~Server();

    void start(std::unique_ptr<net::Listener> listener);
    /// Accepts no more clients, ends all commands, tells each client how its command ended, and
    /// returns when none is left: at most a little later than `mercy`.
    Task<void> stop();
    /// The number of running commands.
    std::size_t commands() const { return sessions_.size(); }

  private:
    Task<void> greet(std::unique_ptr<net::ByteStream> stream);

    asio::any_io_executor executor_;
    Clock& clock_;
    net::SharedKeyTls& keys_;
    ServerOptions options_;
    std::unique_ptr<net::Listener> listener_;
    Signal stopping_;
    bool stops_ = false;
    TaskGroup accepting_;
    TaskGroup greetings_;
    TaskGroup sessions_;
};

}  // namespace muster::rsh
