#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "base/async/async.h"
#include "base/async/signal.h"
#include "base/result.h"
#include "job_protocol/kv_protocol.h"
#include "master/kv/kv_store.h"
#include "master/service/service.h"
#include "rpc/server.h"

namespace muster::master {

/// Serves a master's keys to its agents: passes requests on, and keeps those that wait. All
/// decisions are in KvStore.
///
/// A call that is repeated over a new connection counts as the same call, so it has one effect and
/// waits once.
class KvService final : public Service {
  public:
    explicit KvService(const ServiceContext& context, KvLimits limits = {});

    void serve(rpc::Server& server) override;
    void reported(const std::string& incarnation, const Report& report) override;
    void world_changed(const World* world, const std::string& why) override;

    const KvStore& keys() const { return keys_; }

  private:
    /// A call without an answer so far.
    struct Line {
        explicit Line(const asio::any_io_executor& executor) : changed(executor) {}
        Signal changed;
        std::optional<Result<KvAnswer>> answer;
    };

    Task<Result<job::KvAnswer>> answer(rpc::PeerPtr peer, job::KvRequest told);
    void hand_out();

    asio::any_io_executor executor_;
    ServiceHost& job_;
    KvStore keys_;
    KvStore::Waiter last_ = 0;
    std::unordered_map<KvStore::Waiter, Line*> lines_;
};

}  // namespace muster::master
