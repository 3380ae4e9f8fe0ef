#pragma once

#include <map>
#include <memory>
#include <optional>

#include "rpc/internal/serving.h"
#include "rpc/internal/wire.h"

namespace muster::rpc {

struct Introduction;

/// One connection of a server, from its first byte to its end. It first shows the token; then it is
/// the connection of its caller until it ends or the caller has a newer one; when this side ends
/// it, a farewell goes out, and the other side has a moment to read it.
///
/// Deadlines are looked at by the server's one task for them: expire() when deadline() has passed.
class ServerConnection {
  public:
    ServerConnection(Serving& serving, std::unique_ptr<net::ByteStream> stream,
                     net::TlsServerContext* tls);

    /// Ends with the connection, when all that belongs to it has ended. `refusal`: what everybody
    /// is told instead of a welcome.
    Task<void> run(const std::optional<Error>& refusal);

    void send(const Frame& frame);
    /// Says why, and ends.
    void leave(Error why);
    Instant deadline(Instant now, Instant planned);
    void expire();
    bool admitted() const { return peer_ != nullptr; }

  private:
    struct Stream;

    Task<void> talk(const std::optional<Error>& refusal, TaskGroup& tasks);
    Task<std::optional<Error>> meet(const std::optional<Error>& refusal, TaskGroup& tasks);
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
    Task<void> run_stream(std::shared_ptr<Stream> stream, Task<Result<std::string>> work,
                          Duration time);

    Serving& serving_;
    std::unique_ptr<net::ByteStream> stream_;  ///< until TLS or the wire has it
    net::TlsServerContext* tls_;
    Stop securing_;  ///< the handshake of TLS
    std::optional<Wire> wire_;
    PeerPtr peer_;
    std::shared_ptr<Caller> caller_;
    std::map<std::uint64_t, std::shared_ptr<Stream>> streams_;
    std::optional<Error> why_;  ///< why this side ended it
    Instant ends_;              ///< the deadline before the token was shown, and after a farewell
    std::optional<Liveness> liveness_;
};

}  // namespace muster::rpc
