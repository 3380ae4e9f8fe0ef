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

/// What both ends make their key of the token for: see net::SharedKeyTls::create().
inline constexpr std::string_view kPurpose = "rsh";

struct ServerOptions {
    std::string shell = "/bin/sh";
    std::vector<std::string> environment = {};  ///< of the commands: "NAME=VALUE"
    /// How long a client may take to prove itself and say what it wants.
    Duration greeting = std::chrono::seconds(10);
    /// Between SIGTERM and SIGKILL for commands whose client went away, or when the server stops.
    Duration mercy = std::chrono::seconds(5);
    /// Clients that have not proved themselves; more of them are turned away.
    std::size_t most_greeted = 1024;
};

/// Runs commands for clients that know the token, each in the directory that this process is in, by
/// `sh -c`. A command whose client goes away is ended: SIGTERM to its process group, then SIGKILL.
/// What has left the group (a daemon) goes on.
///
/// start(), and stop() before it is destroyed. Thread: one loop. SIGPIPE must be ignored.
class Server {
  public:
    /// `clock` and `keys` outlive it.
    Server(asio::any_io_executor executor, Clock& clock, net::SharedKeyTls& keys,
           ServerOptions options);
    ~Server();

    void start(std::unique_ptr<net::Listener> listener);
    /// Takes no more clients, ends all commands, tells each client how its command ended, and
    /// returns when none is left: after `mercy` and a little at most.
    Task<void> stop();
    /// Commands that run.
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
