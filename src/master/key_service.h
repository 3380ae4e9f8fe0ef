#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/async.h"
#include "base/result.h"
#include "base/signal.h"
#include "master/key_protocol.h"
#include "master/keys.h"
#include "master/orders.h"
#include "rpc/server.h"

namespace muster::master {

/// Serves a master's keys to its agents: moves requests, and keeps those that wait. All that it
/// decides is in Keys.
///
/// A call that comes again over a new connection is the same one to the server, so it has one
/// effect and waits once.
///
/// Outlives the server that it serves with. Thread: the loop of the executor.
class KeyService {
  public:
    /// The place of an agent in that generation; nothing: it has none, or another runs.
    using RankOf = std::function<std::optional<int>(const std::string& incarnation,
                                                    const Generation& generation)>;

    KeyService(const asio::any_io_executor& executor, std::uint64_t epoch, RankOf rank_of,
               KeyLimits limits = {});

    /// Before the server serves.
    void serve(rpc::Server& server);
    /// As Keys::runs(): what nobody may be told yet does not run yet.
    void runs(const World* world, const std::string& why);
    void reported(const std::string& incarnation, const Report& report);

    const Keys& keys() const { return keys_; }

  private:
    /// A call that has no answer yet.
    struct Line {
        explicit Line(const asio::any_io_executor& executor) : changed(executor) {}
        Signal changed;
        std::optional<Result<KeyAnswer>> answer;
    };

    Task<Result<job::KeyAnswer>> answer(rpc::PeerPtr peer, job::KeyRequest told);
    void hand_out();

    asio::any_io_executor executor_;
    RankOf rank_of_;
    Keys keys_;
    Keys::Waiter last_ = 0;
    std::unordered_map<Keys::Waiter, Line*> lines_;
};

}  // namespace muster::master
