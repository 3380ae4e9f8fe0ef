#pragma once

#include <string>

#include "base/async/async.h"
#include "base/result.h"
#include "job_protocol/kv_protocol.h"
#include "master/kv/kv_calls.h"
#include "master/service/service.h"
#include "rpc/server.h"

namespace muster::master {

/// Serves a master's keys to its agents. All decisions are in KvStore.
///
/// A call that is repeated over a new connection counts as the same call, so it has one effect and
/// waits once.
class KvService final : public Service {
  public:
    explicit KvService(const ServiceContext& context, KvLimits limits = {});

    void serve(rpc::Server& server) override;
    void reported(const std::string& incarnation, const Report& report) override;
    void world_changed(const World* world, const std::string& why) override;

    const KvStore& keys() const { return calls_.keys(); }

  private:
    Task<Result<job::KvAnswer>> answer(rpc::PeerPtr peer, job::KvRequest told);

    ServiceHost& job_;
    KvCalls calls_;
};

}  // namespace muster::master
