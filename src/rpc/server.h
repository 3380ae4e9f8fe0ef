#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/time/clock.h"
#include "net/byte_stream.h"
#include "net/tls/tls.h"
#include "rpc/liveness.h"

namespace muster::rpc {

/// A caller: one client process over one connection.
struct Peer {
    std::string client;   ///< unique to the client process
    std::string about;    ///< for people: "the agent of worker-3"
    std::string address;  ///< "10.0.0.7:51234"
    /// The address of this machine that it has reached; empty: it is not connected over TCP.
    std::string reached = {};
};
using PeerPtr = std::shared_ptr<const Peer>;

/// Sends the items of a stream to its client.
class ItemWriter {
  public:
    virtual ~ItemWriter() = default;
    /// Returns when the client has room for the item. kUnavailable if it is gone. Throws
    /// operation_aborted if the client wants no more, like everything that the handler awaits.
    virtual Task<Result<void>> write(std::string item) = 0;
};

struct ServerLimits {
    std::size_t connections = 20'000;  ///< more are refused, with a reason
    std::size_t longest_frame = std::size_t{16} << 20;
    /// Queued bytes of one client above which its streams wait. Calls are answered anyway, so a
    /// client that reads nothing is disconnected at four times as much.
    std::size_t queued = std::size_t{1} << 20;
    /// per client: running calls, and those whose answers it may still want
    std::size_t calls = 256;
    /// For showing the token; with TLS the same time again for the handshake before.
    Duration hello_time = std::chrono::seconds(10);
    /// how long answers are kept for a client that is away
    Duration kept_time = std::chrono::minutes(5);
    LivenessLimits liveness = {};
};

/// Serves calls, streams and notes to all clients that show the job's token.
///
/// - A call has one effect: a client that lost its connection repeats calls that were not answered,
///   and gets the answer of the first run. So the handler of a call continues when the connection
///   breaks; it is cancelled when its time is over or the client cancels it.
/// - The handler of a stream is cancelled when the connection breaks: the client opens the stream
///   again and gets the state at that time.
/// - A note is handled at once, or lost with its connection.
/// - Handlers are called in the order in which a client sent its messages; the tasks they return
///   run concurrently.
/// - When a client connects again, the new connection replaces the old one.
///
/// Owns listeners and connections. Set names and handlers before the first serve(). Stop order:
/// stop(), then destroy. Thread: the loop of the executor.
class Server {
  public:
    using Handler = std::function<Task<Result<std::string>>(PeerPtr, std::string body)>;
    using StreamHandler =
        std::function<Task<Result<std::string>>(PeerPtr, std::string body, ItemWriter&)>;
    using NoteHandler = std::function<void(const PeerPtr&, std::string body)>;
    using GoneHandler = std::function<void(const PeerPtr&, const Error& why)>;

    struct Options {
        std::string token;
        std::string name;  ///< unique to each server process: Rng::uuid()
        ServerLimits limits = {};
    };

    Server(const asio::any_io_executor& executor, Clock& clock, Options options);
    ~Server();

    void on_call(std::string method, Handler handler);
    void on_stream(std::string method, StreamHandler handler);
    void on_note(std::string method, NoteHandler handler);
    /// Called when a connection has ended and its client has no other: kCancelled if the client
    /// closed it properly, which the end of its process does too; kTimeout if it was silent for too
    /// long; otherwise the reason why it broke.
    void on_gone(GoneHandler handler);

    /// `tls` must outlive this.
    void serve(std::unique_ptr<net::Listener> listener, net::TlsServerContext* tls = nullptr);
    /// How long clients may be silent from now on, also those that are connected.
    void keep_to(LivenessLimits limits);
    /// Notifies all clients, cancels all handlers, and returns when none is left.
    Task<void> stop();

    /// The connections that have shown the token.
    std::size_t connections() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::rpc
