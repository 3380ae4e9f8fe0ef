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

/// A call whose caller waits.
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
    std::string sent_to;  ///< the server process that it was sent to; empty: never sent
    std::optional<Result<std::string>> outcome;
    Signal changed;
};

/// The frame for a call; marks it as sent to that server.
wire::Frame frame_of(PendingCall& call, const std::string& server, Instant now);

/// Ends it with that error, unless it has ended.
void fail(PendingCall& call, const Error& why);

/// A stream on the current connection.
struct OpenStream {
    OpenStream(const asio::any_io_executor& executor, std::uint32_t its_credit)
        : credit(its_credit), changed(executor) {}

    std::uint32_t credit;  ///< items that the server may still send
    std::deque<std::string> items;
    std::optional<Result<void>> end;
    Signal changed;
};

/// The calls and streams of a client, across its connections.
class ClientCalls {
  public:
    std::uint64_t next_id() { return ++last_id_; }

    void add(std::shared_ptr<PendingCall> call);
    void add(std::uint64_t id, std::shared_ptr<OpenStream> stream);
    /// Removes a call that its caller has given up. True if it was still running: the server may
    /// stop working on it.
    bool remove(std::uint64_t id);
    /// Ids of calls that the server may forget, each returned once. They are sent with the next
    /// call; if that call is not answered, remove() puts them back, because they may not have
    /// arrived.
    std::vector<std::uint64_t> take_arrived() { return std::exchange(arrived_, {}); }
    std::size_t calls() const { return calls_.size(); }

    /// A connection begins: returns the calls to send over it, in the order in which they were
    /// made. Those that another server has received and that must not run twice end with kTimeout.
    std::vector<std::shared_ptr<PendingCall>> to_send(const std::string& server);
    /// kBadRequest: the server sent something that was not requested.
    Result<void> answered(wire::Answer answer);
    Result<void> came(wire::Item item);
    /// The connection has ended, and its streams with it.
    void lost(const Error& why);
    /// Ends everything with that error.
    void end(const Error& why);

  private:
    std::uint64_t last_id_ = 0;
    std::vector<std::uint64_t> arrived_;
    std::map<std::uint64_t, std::shared_ptr<PendingCall>> calls_;
    std::map<std::uint64_t, std::shared_ptr<OpenStream>> streams_;
};

}  // namespace muster::rpc
