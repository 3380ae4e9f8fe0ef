#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/internal/quota/ending_pods.h"
#include "apiserver/internal/quota/quota_account.h"
#include "apiserver/requests/status_error.h"
#include "apiserver/watching/watch_cache.h"

namespace muster::apiserver {

/// The ResourceQuotas of all namespaces. What is used is counted as changes are committed; a write
/// in progress claims what it takes first, so that many at once can't exceed a quota. In a
/// namespace without a quota nothing is counted, and a write costs one lookup.
/// Thread: the server's loop.
class Quotas {
  public:
    /// What a write in progress takes: counted until the write is committed, or this goes.
    class Claim;

    /// A quota as it was written. What it limits may have to be counted: see count().
    void put(const NamespacedName& key, const json::object& quota);
    void remove(const NamespacedName& key);

    /// Counts at most `most` more objects for a quota. True when all are counted.
    bool count(const NamespacedName& key, const WatchCache& cache, std::size_t most, WallTime now);
    /// Null: there is no such quota, or it is not counted yet.
    const QuotaAccount* counted(const NamespacedName& key) const;

    /// Follows a committed change; returns the quotas whose usage it changed.
    std::vector<NamespacedName> observe(const store::StoreChange& change, WallTime now);

    /// After which time a pod that hangs in its deletion takes less, the first of all; nullopt: there
    /// is no such pod.
    std::optional<WallTime> first_end() const { return ending_.first(); }
    /// Counts at most `most` such pods again, at that time or later; returns the quotas whose usage
    /// that changed.
    std::vector<NamespacedName> count_ended(const WatchCache& cache, std::size_t most,
                                            WallTime now);

    /// For a write that makes `after` of `before` (null: of nothing). Refuses it where a quota has
    /// no room for it. Keep the result until the write is committed.
    StatusResult<Claim> claim(const kube::ResourceType& type, const store::StoreKey& key,
                              const json::object* before, const json::object& after, WallTime now);

  private:
    struct Held {
        std::shared_ptr<QuotaAccount> account;
        /// Where counting is: the next resource and the last object of it; nullopt: at the end.
        struct Progress {
            std::string resource;
            std::string after;
        };
        std::optional<Progress> progress = Progress{};
    };
    using Space = std::map<std::string, Held>;
    struct Reservation {
        std::uint64_t id = 0;
        std::vector<std::pair<std::shared_ptr<QuotaAccount>, ResourceList>> shares;
    };
    using Reservations = std::multimap<store::StoreKey, Reservation>;

    static void release(Reservations& all, Reservations::iterator one);
    Held* find(const NamespacedName& key);
    /// An object as it is now (null: it is gone): the quotas whose usage that changes.
    std::vector<NamespacedName> put(Space& space, const store::StoreKey& key,
                                    const json::object* object, WallTime now);

    std::map<std::string, Space> spaces_;
    EndingPods ending_;
    /// Shared: a request may end after the server.
    std::shared_ptr<Reservations> reservations_ = std::make_shared<Reservations>();
    std::uint64_t next_id_ = 1;
};

class Quotas::Claim {
  public:
    Claim() = default;
    Claim(Claim&& other) noexcept = default;
    Claim& operator=(Claim&&) = delete;
    ~Claim();

  private:
    friend class Quotas;
    Claim(std::shared_ptr<Reservations> all, store::StoreKey key, std::uint64_t id)
        : all_(std::move(all)), key_(std::move(key)), id_(id) {}

    std::shared_ptr<Reservations> all_;
    store::StoreKey key_;
    std::uint64_t id_ = 0;
};

}  // namespace muster::apiserver
