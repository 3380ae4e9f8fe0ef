#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/time/clock.h"
#include "net/byte_stream.h"
#include "net/tls/tls.h"
#include "rpc/liveness.h"

namespace muster::rpc {

/// Who calls: one life of one client, over one connection.
struct Peer {
    std::string client;   ///< the name of that life
    std::string about;    ///< for people: "the agent of worker-3"
    std::string address;  ///< "10.0.0.7:51234"
};
using PeerPtr = std::shared_ptr<const Peer>;

/// The items of a stream, on their way to its client.
class ItemWriter {
  public:
    virtual ~ItemWriter() = default;
    /// Returns when the client has room for it. kUnavailable when it went away. Throws
    /// operation_aborted when it wants no more, as everything does that the handler awaits.
    virtual Task<Result<void>> write(std::string item) = 0;
};

struct ServerLimits {
    std::size_t connections = 20'000;  ///< more are refused, with a reason
    std::size_t longest_frame = std::size_t{16} << 20;
    /// Bytes that one client lets wait before its streams wait for it. What has to be answered is
    /// answered all the same, so a client that reads nothing is cut off at four times as much.
    std::size_t queued = std::size_t{1} << 20;
    std::size_t calls = 256;  ///< of one client: those that run, or whose answers it may still want
    /// To show the token; over TLS as long before that for the handshake.
    Duration hello_time = std::chrono::seconds(10);
    Duration kept_time = std::chrono::minutes(5);  ///< answers, for a client that is away
    LivenessLimits liveness = {};
};

/// Serves calls, streams and notes to all who show the job's token.
///
/// - A call has one effect: a client that lost its connection repeats what was not answered, and
///   gets the answer of the first run. A handler of a call therefore goes on when the connection
///   breaks; it is cancelled when its time is over or the client cancels it.
/// - A handler of a stream is cancelled when the connection breaks: the client opens it again, and
///   is told what is so then.
/// - A note is taken at once, or lost with its connection.
/// - Handlers are called in the order in which a client spoke over its connection; what tasks they
///   give do goes on side by side.
/// - A client that connects again takes the place of its old connection.
///
/// Owns listeners and connections; names and handlers are set before the first serve(). Stop order:
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
        std::string name;  ///< of this life of the server, another for each: Rng::uuid()
        ServerLimits limits = {};
    };

    Server(const asio::any_io_executor& executor, Clock& clock, Options options);
    ~Server();

    void on_call(std::string method, Handler handler);
    void on_stream(std::string method, StreamHandler handler);
    void on_note(std::string method, NoteHandler handler);
    /// A connection has ended, and its client has no other: kCancelled when its side ended it in
    /// good order, as the end of its process does; kTimeout when it was silent for too long; or why
    /// it broke.
    void on_gone(GoneHandler handler);

    /// `tls` outlives this.
    void serve(std::unique_ptr<net::Listener> listener, net::TlsServerContext* tls = nullptr);
    /// Tells all clients, cancels all handlers, and returns when none is left.
    Task<void> stop();

    /// Those that showed the token.
    std::size_t connections() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::rpc
