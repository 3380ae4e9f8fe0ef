#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "kube/internal/schema/bounded_map.h"
#include "kube/objects/core_objects.h"

namespace muster::kube {

/// One event as it was reported.
struct Occurrence {
    ObjectReference about;
    std::string type;
    std::string reason;
    std::string message;
    Instant when;
    WallTime wall;
};

/// What to do about one occurrence.
struct EventWrite {
    enum class Action { kDrop, kCreate, kRaiseCount };

    Action action = Action::kDrop;
    std::string name;     ///< of the Event object
    std::string message;  ///< with the prefix when folded
    std::int32_t count = 1;
    WallTime first;
    WallTime last;
};

/// Decides which occurrences become new Events, which raise a count, and which are dropped
/// (client-go's EventCorrelator). Pure: time comes with the occurrences. Anything not seen for ten
/// minutes is forgotten (client-go keeps its last 4,096 at any age), and becomes a new Event if it
/// comes back later.
class EventCorrelator {
  public:
    EventWrite observe(const Occurrence& occurrence);

  private:
    struct Bucket {
        bool used = false;
        double tokens = 0;
        Instant filled;
    };
    struct Similar {
        std::vector<Fingerprint> messages;
    };
    struct Counted {
        std::int32_t count = 0;
        std::string name;
        WallTime first;
    };

    bool spends_token(const Fingerprint& object, Instant now);
    std::string unique_name(const Occurrence& occurrence);

    static constexpr std::size_t kRemembered = 4096;
    static constexpr Duration kMemory = std::chrono::seconds(600);

    BoundedMap<Bucket> buckets_{kRemembered, kMemory};
    BoundedMap<Similar> similar_{kRemembered, kMemory};
    BoundedMap<Counted> counted_{kRemembered, kMemory};
    std::int64_t last_nanoseconds_ = 0;
};

}  // namespace muster::kube
