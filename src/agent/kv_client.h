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

/// A job's keys as its agents reach them (master/kv/kv_store.h): those of one generation with one
/// master. When one of the two is another, everything ends with kGone, and who still wants
/// something takes a new one and begins anew.
///
/// Each call ends when its time is over, with kTimeout, and then has had no effect or all of it;
/// one that waits has not come to what it waited for. A connection that breaks meanwhile is no
/// matter.
///
/// A value. The client outlives its calls.
class KvClient {
  public:
    KvClient(rpc::Client& client, job_protocol::KvSpace space) : client_(&client), space_(space) {}

    const job_protocol::KvSpace& space() const { return space_; }

    Task<Result<void>> set(std::string key, std::string value, Duration time);
    /// Nothing: there is no such key.
    Task<Result<std::optional<std::string>>> get(std::string key, Duration time);
    /// The sum; a key that is missing has 0.
    Task<Result<std::int64_t>> add(std::string key, std::int64_t amount, Duration time);
    /// KvAnswer::yes: it was as expected (nothing: missing), and is as desired now.
    Task<Result<job_protocol::KvAnswer>> compare_set(std::string key,
                                                     std::optional<std::string> expected,
                                                     std::string desired, Duration time);
    /// There was one.
    Task<Result<bool>> erase(std::string key, Duration time);
    /// Until all of them are there.
    Task<Result<void>> wait_for(std::vector<std::string> keys, Duration time);

    /// Until every node of the generation is here.
    Task<Result<void>> barrier(std::string name, Duration time);
    /// This node has come to the point. True: all have.
    Task<Result<bool>> join(std::string point, Duration time);
    /// Until all have.
    Task<Result<void>> wait_for_all_at(std::string point, Duration time);

  private:
    rpc::Client* client_;
    job_protocol::KvSpace space_;
};

}  // namespace muster::agent
