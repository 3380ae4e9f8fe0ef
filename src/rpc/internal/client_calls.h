#pragma once

#include <muster/rpc/frame.pb.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/signal.h"
#include "base/time/clock.h"
#include "rpc/client.h"

namespace muster::rpc {

/// A call that somebody waits for.
struct PendingCall {
    PendingCall(const asio::any_io_executor& executor, wire::Call its_call, Instant its_deadline,
                Repeat its_repeat)
        : call(std::move(its_call)),
          deadline(its_deadline),
          repeat(its_repeat),
          changed(executor) {}

    wire::Call call;
    Instant deadline;
    Repeat repeat;
    std::string sent_to;  ///< the life of the server that has it; empty: it was never sent
    std::optional<Result<std::string>> outcome;
    Signal changed;
};

/// The frame for a call, which counts as sent to that server.
wire::Frame frame_of(PendingCall& call, const std::string& server, Instant now);

/// It ends so, unless it has ended.
void fail(PendingCall& call, const Error& why);

/// A stream of the connection that there is.
struct OpenStream {
    OpenStream(const asio::any_io_executor& executor, std::uint32_t its_credit)
        : credit(its_credit), changed(executor) {}

    std::uint32_t credit;  ///< items that the server may still send
    std::deque<std::string> items;
    std::optional<Result<void>> end;
    Signal changed;
};

/// What a client has under way, whatever becomes of its connections.
class ClientCalls {
  public:
    std::uint64_t next_id() { return ++last_id_; }

    void add(std::shared_ptr<PendingCall> call);
    void add(std::uint64_t id, std::shared_ptr<OpenStream> stream);
    /// Nobody waits for it any more. True when there was such a one without an end: the server may
    /// stop working on it.
    bool remove(std::uint64_t id);
    /// What the server may forget, once for each: it goes with a call, and comes back from remove()
    /// when that was not answered, since then it may not have arrived.
    std::vector<std::uint64_t> take_arrived() { return std::exchange(arrived_, {}); }
    std::size_t calls() const { return calls_.size(); }

    /// A connection begins: what has to be sent over it, in the order in which it was called. What
    /// another server has already, and may not get twice, ends with kTimeout.
    std::vector<std::shared_ptr<PendingCall>> to_send(const std::string& server);
    /// kBadRequest: the server sends what was not asked for.
    Result<void> answered(wire::Answer answer);
    Result<void> came(wire::Item item);
    /// The connection has ended, and its streams with it.
    void lost(const Error& why);
    /// Everything ends so.
    void end(const Error& why);

  private:
    std::uint64_t last_id_ = 0;
    std::vector<std::uint64_t> arrived_;
    std::map<std::uint64_t, std::shared_ptr<PendingCall>> calls_;
    std::map<std::uint64_t, std::shared_ptr<OpenStream>> streams_;
};

}  // namespace muster::rpc
