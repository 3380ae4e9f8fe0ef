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

/// The items of a stream as they come. Destroyed before its client.
class ItemReader {
  public:
    /// Ends it: the server is told that nobody wants more.
    virtual ~ItemReader() = default;
    /// The next; nothing when the server ended it in good order. kUnavailable: the connection
    /// broke; open it again. Otherwise the server's own error.
    virtual Task<Result<std::optional<std::string>>> next() = 0;
};

/// What may become of a call when the server that took it is gone and another answers.
enum class Repeat {
    kNever,  ///< kTimeout: it may have had its effect
    kFreely  ///< it is sent again: a second effect is none
};

struct ClientLimits {
    std::size_t longest_frame = std::size_t{16} << 20;
    std::size_t queued = std::size_t{1} << 20;  ///< bytes that may wait before calls wait
    std::size_t calls = 200;    ///< at a time; more wait. Less than a server allows.
    std::uint32_t credit = 64;  ///< items of a stream on their way
    Duration hello_time = std::chrono::seconds(10);
    Duration first_retry = std::chrono::milliseconds(20);
    Duration most_retry = std::chrono::seconds(1);
    LivenessLimits liveness = {};
};

/// One life of a client: it connects, connects again for as long as it runs, and repeats what was
/// not answered. While there is no connection calls wait, up to their time.
///
/// A refusal that no retry changes (a wrong token, a version that does not talk) ends it: whatever
/// waits and all that is asked later has that error.
///
/// Clock, rng and group outlive it; the group is stopped before it is destroyed. Thread: the loop
/// of the group.
class Client {
  public:
    /// A new connection, TLS included; its errors are tried again.
    using Connect = std::function<Task<Result<std::unique_ptr<net::ByteStream>>>()>;

    struct Options {
        std::string token;
        std::string name;   ///< of this life, another for each: Rng::uuid()
        std::string about;  ///< for people: "the agent of worker-3"
        ClientLimits limits = {};
    };

    Client(Connect connect, Clock& clock, Rng& rng, TaskGroup& tasks, Options options);
    ~Client();

    void start();

    /// kTimeout: nothing was heard in time, and it may have had its effect; the server is told to
    /// cancel it. The server's own errors otherwise.
    Task<Result<std::string>> call(std::string method, std::string body, Duration time,
                                   Repeat repeat = Repeat::kNever);
    /// On the connection that there is, or the next one.
    Task<Result<std::unique_ptr<ItemReader>>> open(std::string method, std::string body);
    /// kUnavailable when there is no connection now. It may be lost without a word all the same.
    Task<Result<void>> tell(std::string method, std::string body);

    bool connected() const;
    /// Counts connections; 0 before the first. Another number: streams have to be opened again.
    std::uint64_t connection() const;
    /// Returns when connected() or connection() changed, or the client has ended.
    Task<void> changed();
    /// Why it ended.
    const std::optional<Error>& ended() const;
    /// Why there is no connection, while there is none.
    const std::optional<Error>& trouble() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::rpc
