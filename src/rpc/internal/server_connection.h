#pragma once

#include <map>
#include <memory>
#include <optional>

#include "rpc/internal/serving.h"
#include "rpc/internal/wire.h"

namespace muster::rpc {

struct Introduction;

/// One connection of a server, from its first byte to its end. The client first shows the token;
/// from then on the connection is that of its caller, until it ends or the caller has a newer one.
/// When this side ends it, it sends a farewell and gives the other side a moment to read it.
///
/// The server has one task for all deadlines: it calls expire() when deadline() has passed.
class ServerConnection {
  public:
    ServerConnection(Serving& serving, std::unique_ptr<net::ByteStream> stream,
                     net::TlsServerContext* tls);

    /// Returns when the connection and all that belongs to it have ended. `refusal`: sent to every
    /// client instead of a welcome.
    Task<void> run(const std::optional<Error>& refusal);

    void send(const Frame& frame);
    /// Sends the reason and ends.
    void leave(Error why);
    void keep_to(LivenessLimits limits) {
        if (liveness_) liveness_->keep_to(limits);
    }
    Instant deadline(Instant now, Instant planned);
    void expire();
    bool admitted() const { return peer_ != nullptr; }

  private:
    struct Stream;

    Task<void> talk(const std::optional<Error>& refusal, TaskGroup& tasks);
    Task<std::optional<Error>> meet(const std::optional<Error>& refusal, TaskGroup& tasks);
    void turn_torch_away(Error why, const std::string& address);
    Result<Introduction> let_in(const Frame& first, const std::optional<Error>& refusal) const;
    Task<Error> read_on(TaskGroup& tasks);
    Task<void> write();
    std::optional<Error> outdated(const Introduction& in) const;
    void enter(std::uint64_t number);
    void part(const Error& why);
    Result<void> take(Frame frame, TaskGroup& tasks);
    void cancel(std::uint64_t id);
    void take_call(wire::Call call, TaskGroup& tasks);
    void take_note(wire::Note note);
    void start_stream(wire::Call call, const Server::StreamHandler& handler, TaskGroup& tasks);
    void end_stream(const Stream& stream, Result<std::string> outcome);
    Task<void> run_stream(std::shared_ptr<Stream> stream, Task<Result<std::string>> work,
                          Duration time);

    Serving& serving_;
    std::unique_ptr<net::ByteStream> stream_;  ///< until TLS or the wire takes it
    net::TlsServerContext* tls_;
    Stop securing_;  ///< of the TLS handshake
    std::optional<Wire> wire_;
    PeerPtr peer_;
    bool parted_ = false;  ///< part() has run
    std::shared_ptr<Caller> caller_;
    std::map<std::uint64_t, std::shared_ptr<Stream>> streams_;
    std::optional<Error> why_;  ///< why this side ended it
    Instant ends_;              ///< when the time for the token, or after a farewell, is over
    std::optional<Liveness> liveness_;
};

}  // namespace muster::rpc
