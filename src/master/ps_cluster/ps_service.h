#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/async/async.h"
#include "base/async/signal.h"
#include "base/result.h"
#include "job_protocol/ps_cluster_protocol.h"
#include "master/kv/kv_calls.h"
#include "master/ps_cluster/ps_table.h"
#include "master/service/service.h"
#include "rpc/method.h"

namespace muster::master {

/// Serves the programs of a job with parameter servers, which have no agent: who is there, the
/// versions of the cluster, keys, and places to meet. All decisions are in PsTable and KvStore.
///
/// A program attends as long as its stream is open. What it is told of a new version is on record
/// before.
class PsService final : public Service {
  public:
    explicit PsService(const ServiceContext& context, PsLimits limits = {});
    ~PsService() override;

    void serve(rpc::Server& server) override;
    bool advance(Instant now, WallTime wall) override;
    Instant wake_at() const override { return table_.wake_at(); }

  private:
    struct Attending;

    Result<std::unique_ptr<Attending>> attend(const rpc::PeerPtr& peer,
                                              const job::PsAttendance& told);
    Task<Result<void>> follow(Result<std::unique_ptr<Attending>> attending,
                              rpc::ItemSink<job::PsCluster> out);
    Task<Result<job::VersionAnswer>> version(job::VersionRequest told);
    Task<Result<job::KvAnswer>> ask(rpc::PeerPtr peer, job::KvRequest told);
    Result<void> keep();
    void expect_those_who_meet();

    ServiceHost& job_;
    std::function<Task<Result<void>>()> recorded_;
    std::function<void()> wake_;
    PsTable table_;
    KvCalls calls_;
    Signal changed_;
};

}  // namespace muster::master
