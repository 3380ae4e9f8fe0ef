#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "net/byte_stream.h"
#include "rpc/liveness.h"

namespace muster::rpc {

/// Reads the items of a stream. Destroy it before its client.
class ItemReader {
  public:
    /// Ends the stream: tells the server that no more items are wanted.
    virtual ~ItemReader() = default;
    /// The next item; nullopt after the server ended the stream. kUnavailable: the connection
    /// broke; open the stream again. Otherwise the server's own error.
    virtual Task<Result<std::optional<std::string>>> next() = 0;
};

/// What happens to a call if the server that received it is gone and another one answers.
enum class Repeat {
    kNever,  ///< kTimeout: it may have had its effect
    kFreely  ///< it is sent again: repeating it does no harm
};

struct ClientLimits {
    std::size_t longest_frame = std::size_t{16} << 20;
    std::size_t queued = std::size_t{1} << 20;  ///< queued bytes above which calls wait
    std::size_t calls = 200;    ///< concurrent calls; others wait. Fewer than a server allows.
    std::uint32_t credit = 64;  ///< items of a stream in flight
    Duration hello_time = std::chrono::seconds(10);
    Duration first_retry = std::chrono::milliseconds(20);
    Duration most_retry = std::chrono::seconds(1);
    LivenessLimits liveness = {};
};

/// A client connects, reconnects for as long as it runs, and repeats calls that were not answered.
/// Without a connection calls wait until their time is over.
///
/// A refusal that no retry can change (wrong token, incompatible version) ends the client: all
/// pending and later calls fail with that error.
///
/// Clock, rng and group must outlive it; stop the group before destroying the client. Thread: the
/// loop of the group.
class Client {
  public:
    /// Opens a connection, including TLS; after an error it is called again.
    using Connect = std::function<Task<Result<std::unique_ptr<net::ByteStream>>>()>;

    struct Options {
        std::string token;
        std::string name;   ///< unique to each client process: Rng::uuid()
        std::string about;  ///< for people: "the agent of worker-3"
        ClientLimits limits = {};
    };

    Client(Connect connect, Clock& clock, Rng& rng, TaskGroup& tasks, Options options);
    ~Client();

    void start();

    /// kTimeout: there was no answer in time, and the call may have had its effect; the server is
    /// told to cancel it. Otherwise the server's own errors.
    Task<Result<std::string>> call(std::string method, std::string body, Duration time,
                                   Repeat repeat = Repeat::kNever);
    /// On the current connection, or the next one.
    Task<Result<std::unique_ptr<ItemReader>>> open(std::string method, std::string body);
    /// kUnavailable if there is no connection now. Even without an error the note may be lost.
    Task<Result<void>> tell(std::string method, std::string body);

    bool connected() const;
    /// Counts connections; 0 before the first. When it changes, streams must be opened again.
    std::uint64_t connection() const;
    /// Returns when connected() or connection() has changed, or the client has ended.
    Task<void> changed();
    /// Why the client ended, if it has.
    const std::optional<Error>& ended() const;
    /// Why there is no connection, while there is none.
    const std::optional<Error>& trouble() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::rpc
