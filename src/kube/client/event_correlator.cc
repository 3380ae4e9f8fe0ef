#include "kube/internal/client/event_correlator.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::kube {
namespace {

constexpr double kBurst = 25;
constexpr Duration kRefill = std::chrono::seconds(300);
constexpr std::size_t kSimilarMessages = 10;
constexpr std::string_view kFolded = "(combined from similar events): ";

}  // namespace

EventWrite EventCorrelator::observe(const Occurrence& occurrence) {
    const ObjectReference& about = occurrence.about;
    const Fingerprint object = Fingerprint()
                                   .with(about.kind)
                                   .with(about.namespace_)
                                   .with(about.name)
                                   .with(about.uid)
                                   .with(about.api_version);
    const Fingerprint group =
        object.with(about.field_path).with(occurrence.type).with(occurrence.reason);
    const Fingerprint one = group.with("one").with(occurrence.message);

    EventWrite write;
    write.message = occurrence.message;
    write.last = occurrence.wall;
    bool folded = false;

    Similar& similar = similar_.at(group, occurrence.when);
    if (std::ranges::find(similar.messages, one) == similar.messages.end())
        similar.messages.push_back(one);
    if (similar.messages.size() >= kSimilarMessages) {
        // The list is only used for their number: it need not grow further.
        similar.messages.erase(similar.messages.begin());
        write.message = std::string(kFolded) + occurrence.message;
        folded = true;
    }

    Counted& counted = counted_.at(folded ? group.with("folded") : one, occurrence.when);
    if (counted.count == 0) {
        counted.name = unique_name(occurrence);
        counted.first = occurrence.wall;
    }
    ++counted.count;
    write.name = counted.name;
    write.count = counted.count;
    write.first = counted.first;
    if (!spends_token(object, occurrence.when)) return write;
    write.action =
        counted.count == 1 ? EventWrite::Action::kCreate : EventWrite::Action::kRaiseCount;
    return write;
}

bool EventCorrelator::spends_token(const Fingerprint& object, Instant now) {
    Bucket& bucket = buckets_.at(object, now);
    if (!bucket.used) {
        bucket = {true, kBurst, now};
    } else {
        const double refills = static_cast<double>((now - bucket.filled).count()) /
                               static_cast<double>(kRefill.count());
        bucket.tokens = std::min(kBurst, bucket.tokens + refills);
        bucket.filled = now;
    }
    // The sum of many small refills may miss a whole token by rounding.
    constexpr double kRounding = 1e-9;
    if (bucket.tokens < 1 - kRounding) return false;
    bucket.tokens -= 1;
    return true;
}

/// `<object>.<hex nanoseconds>`, always unique, even if the clock does not move or goes back.
std::string EventCorrelator::unique_name(const Occurrence& occurrence) {
    constexpr std::size_t kLongestName = 253;
    constexpr std::size_t kSuffix = 17;
    last_nanoseconds_ = std::max(last_nanoseconds_ + 1, occurrence.wall.time_since_epoch().count());
    return fmt::format("{}.{:x}", occurrence.about.name.substr(0, kLongestName - kSuffix),
                       static_cast<std::uint64_t>(last_nanoseconds_));
}

}  // namespace muster::kube
