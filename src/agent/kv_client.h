#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "job_protocol/kv_requests.h"
#include "rpc/client.h"

namespace muster::agent {

/// A client for the job's keys (master/kv/kv_store.h) of one generation with one master. Once the
/// generation or the master changes, every call returns kGone; the caller then needs a new client
/// and starts over.
///
/// A call that runs out of time returns kTimeout, and has had its full effect or none; a wait has
/// not seen what it waited for. A connection that breaks meanwhile has no effect on calls.
///
/// A value. The rpc client must outlive its calls.
class KvClient {
  public:
    KvClient(rpc::Client& client, job_protocol::KvSpace space) : client_(&client), space_(space) {}

    const job_protocol::KvSpace& space() const { return space_; }

    Task<Result<void>> set(std::string key, std::string value, Duration time);
    /// nullopt if there is no such key.
    Task<Result<std::optional<std::string>>> get(std::string key, Duration time);
    /// Returns the sum; a missing key counts as 0.
    Task<Result<std::int64_t>> add(std::string key, std::int64_t amount, Duration time);
    /// KvAnswer::yes: the key had the expected value (nullopt: it was missing) and now has the
    /// desired one.
    Task<Result<job_protocol::KvAnswer>> compare_set(std::string key,
                                                     std::optional<std::string> expected,
                                                     std::string desired, Duration time);
    /// Returns whether the key existed.
    Task<Result<bool>> erase(std::string key, Duration time);
    /// Returns when all of the keys exist.
    Task<Result<void>> wait_for(std::vector<std::string> keys, Duration time);

    /// Returns when every node of the generation waits here.
    Task<Result<void>> barrier(std::string name, Duration time);
    /// Records that this node has reached the point. True if all nodes have.
    Task<Result<bool>> join(std::string point, Duration time);
    /// Returns when all nodes have reached the point.
    Task<Result<void>> wait_for_all_at(std::string point, Duration time);

  private:
    rpc::Client* client_;
    job_protocol::KvSpace space_;
};

}  // namespace muster::agent
