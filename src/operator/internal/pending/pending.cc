#include "operator/internal/pending/pending.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "kube/values/time.h"

namespace muster::operators {
namespace {

using Demand = jobs::PendingPolicy::Demand;
using std::chrono::seconds;

/// What waits for less is not told: a place is often found at the next look of a scheduler, and each
/// condition costs two writes.
constexpr seconds kTellAfter{10};
/// Images are loaded.
constexpr seconds kTellTooFewAfter{60};
constexpr std::size_t kMostNames = 5;

using Waiting = std::vector<const WaitingReplica*>;

/// Those for which `counts` is true, the one that waits longest first.
template <class F>
Waiting longest_first(const TypeInWait& type, F counts) {
    Waiting found;
    for (const WaitingReplica& replica : type.waiting)
        if (counts(replica)) found.push_back(&replica);
    std::ranges::sort(found, {}, [](const WaitingReplica* one) {
        return std::tuple(one->since, one->rank, one->pod);
    });
    return found;
}

/// What is missing of one type.
struct Lack {
    const TypeInWait* type = nullptr;
    Waiting waiting = {};
    std::int32_t needed = 0;     ///< how many of the waiting must come
    bool those_of_high = false;  ///< which of them: all that are of high priority
    WallTime since = {};         ///< when the job began to lack them
    std::optional<WallTime> ends_at = std::nullopt;
    std::string_view reason = {};

    bool is_some() const { return needed < static_cast<std::int32_t>(waiting.size()); }
};

/// As long as no more wait than the job can do without, nothing is lacking, however long they wait.
/// So the lack began with the first one too many.
std::optional<Lack> lack_of(const TypeInWait& type, Waiting waiting, std::int32_t spare) {
    const auto many = static_cast<std::int32_t>(waiting.size());
    if (many <= spare) return std::nullopt;
    const WallTime since = waiting[static_cast<std::size_t>(spare)]->since;
    return Lack{
        .type = &type, .waiting = std::move(waiting), .needed = many - spare, .since = since};
}

/// How many the job can do without, of those that may still run. It has run without those that join,
/// also if the number of all is what its launcher names as the least.
std::int32_t spare_of(const TypeInWait& type) {
    const auto joining =
        static_cast<std::int32_t>(std::ranges::count_if(type.waiting, &WaitingReplica::joins));
    const std::int32_t before = type.wanted - joining;
    return std::max(before - type.lost - std::min(type.need.necessary, before), 0);
}

bool is_refused(const WaitingReplica& replica) { return replica.refused; }
bool is_missed(const WaitingReplica& replica) { return !replica.joins; }

// --- words

/// "2 of 4 worker pods (a, b) can't be scheduled since 2026-01-02T03:04:05Z".
std::string amount(const Lack& lack) {
    std::vector<std::string_view> names;
    for (const WaitingReplica* one : lack.waiting)
        if (names.size() < kMostNames) names.push_back(one->pod);
    const std::size_t more = lack.waiting.size() - names.size();
    return fmt::format("{} of {} {} pods ({}{}) {} since {}", lack.waiting.size(),
                       lack.type->wanted, lack.type->name, fmt::join(names, ", "),
                       more == 0 ? "" : fmt::format(" and {} more", more),
                       lack.reason == kUncompletedTimeout ? "don't run" : "can't be scheduled",
                       kube::format_time(lack.waiting.front()->since));
}

std::string needed_to_run(const Lack& lack) {
    if (lack.those_of_high) return "those of high priority run";
    if (lack.is_some())
        return lack.needed == 1 ? "1 of them runs" : fmt::format("{} of them run", lack.needed);
    return lack.needed == 1 ? "it runs" : "they run";
}

std::string what_is_needed(const Lack& lack) {
    if (lack.those_of_high) return "those of high priority";
    if (lack.is_some()) return fmt::format("{} of them", lack.needed);
    return lack.needed == 1 ? "it" : "them";
}

std::string words_of(const Lack& lack) {
    for (const WaitingReplica* one : lack.waiting)
        if (!one->why.empty()) return fmt::format("{}: {}", one->pod, one->why);
    return {};
}

class Decider {
  public:
    explicit Decider(const PendingSituation& situation) : given_(situation) {}

    PendingDecision run() {
        for (const TypeInWait& type : given_.types)
            if (!look_for_refused(type)) look_for_too_few(type);
        const auto first = std::ranges::min_element(
            lacks_, {}, [](const Lack& lack) { return lack.ends_at.value_or(WallTime::max()); });
        if (first == lacks_.end()) return {};
        if (first->ends_at && given_.now >= *first->ends_at) return end(*first);
        if (first->ends_at) note(*first->ends_at);
        tell(outlook(*first));
        return std::move(decision_);
    }

  private:
    bool waits_together() const { return given_.policy.together && !given_.runs_since; }
    void note(WallTime time) {
        decision_.look_at = decision_.look_at ? std::min(*decision_.look_at, time) : time;
    }

    /// What the policy says of these: nothing if the job can do without them.
    std::optional<Lack> lack_by_policy(const TypeInWait& type, const Waiting& refused) const {
        const Demand demand = given_.policy.demand;
        if (demand == Demand::kNothing) return std::nullopt;
        const auto is_refused_and_missed = [](const WaitingReplica& one) {
            return one.refused && !one.joins;
        };
        std::optional<Lack> lack =
            lack_of(type, longest_first(type, is_refused_and_missed), spare_of(type));
        if (demand == Demand::kNecessary) return lack;
        const auto is_high = [&](const WaitingReplica& one) {
            return one.refused && !one.joins && one.rank < type.need.all;
        };
        std::optional<Lack> whole = lack_of(type, longest_first(type, is_high), 0);
        if (!whole || (lack && lack->since < whole->since)) return lack;
        whole->those_of_high = whole->waiting.size() < refused.size();
        return whole;
    }

    /// True if the job lacks some of those that a scheduler has refused.
    bool look_for_refused(const TypeInWait& type) {
        Waiting refused = longest_first(type, is_refused);
        if (refused.empty()) return false;
        const std::optional<Lack> lack = lack_by_policy(type, refused);
        Lack told = lack.value_or(Lack{.type = &type});
        // The others that wait are told beside them.
        told.waiting = std::move(refused);
        if (lack && given_.policy.timeout.count() > 0 && !waits_together()) {
            // The pods of a gang have waited for each other until one ran.
            const WallTime from =
                given_.policy.together ? std::max(lack->since, *given_.runs_since) : lack->since;
            told.ends_at = from + given_.policy.timeout;
            told.reason = kPendingTimeout;
        }
        lacks_.push_back(std::move(told));
        return lack.has_value();
    }

    /// Counts from when the first one ran: whoever waits for images at the start holds nothing.
    void look_for_too_few(const TypeInWait& type) {
        const jobs::PendingPolicy& policy = given_.policy;
        if (policy.demand == Demand::kNothing || policy.too_few_timeout.count() == 0) return;
        if (type.need.necessary == 0 || type.running == 0 || !given_.runs_since) return;
        std::optional<Lack> lack = lack_of(type, longest_first(type, is_missed), spare_of(type));
        if (!lack) return;
        lack->since = std::max(lack->since, *given_.runs_since);
        lack->ends_at = lack->since + policy.too_few_timeout;
        lack->reason = kUncompletedTimeout;
        lacks_.push_back(*std::move(lack));
    }

    PendingDecision end(const Lack& lack) const {
        const bool too_few = lack.reason == kUncompletedTimeout;
        const seconds limit = too_few ? given_.policy.too_few_timeout : given_.policy.timeout;
        return {
            .end = lack.reason,
            .message = fmt::format("{}: {}, longer than {} s, and the job needs {}", lack.reason,
                                   amount(lack), limit.count(), what_is_needed(lack)),
            .words = words_of(lack),
            .unschedulable = !too_few};
    }

    /// What becomes of it; `first`: what ends the job first, if anything does.
    std::string outlook(const Lack& first) const {
        if (first.ends_at)
            return fmt::format("; the job ends at {} with {} unless {}",
                               kube::format_time(*first.ends_at), first.reason,
                               needed_to_run(first));
        if (waits_together()) return "; they start together, however long that takes";
        const bool lacks =
            std::ranges::any_of(lacks_, [](const Lack& lack) { return lack.needed > 0; });
        if (given_.policy.demand == Demand::kNothing || lacks) return "; no time limit is set";
        return given_.runs_since ? "; the job continues without them, and they join when they run"
                                 : "";
    }

    void tell(const std::string& outlook) {
        std::vector<std::string> amounts;
        for (const Lack& lack : lacks_) {
            const bool too_few = lack.reason == kUncompletedTimeout;
            const WallTime due =
                too_few ? lack.since + kTellTooFewAfter : lack.waiting.front()->since + kTellAfter;
            if (given_.now < due) {
                note(due);
                continue;
            }
            amounts.push_back(amount(lack));
            decision_.unschedulable |= !too_few;
            if (decision_.words.empty()) decision_.words = words_of(lack);
        }
        if (amounts.empty()) return;
        decision_.message = fmt::format("{}{}", fmt::join(amounts, ", "), outlook);
    }

    const PendingSituation& given_;
    std::vector<Lack> lacks_;
    PendingDecision decision_;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether two texts differ at most in their numbers.
bool equal_but_numbers(std::string_view a, std::string_view b) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        if (is_digit(a[i]) && is_digit(b[j])) {
            while (i < a.size() && is_digit(a[i])) ++i;
            while (j < b.size() && is_digit(b[j])) ++j;
        } else if (a[i++] != b[j++]) {
            return false;
        }
    }
    return i == a.size() && j == b.size();
}

}  // namespace

std::string PendingDecision::condition(std::string_view told) const {
    const std::string head = words.empty() ? message : message + ". ";
    if (told.starts_with(head) && equal_but_numbers(told.substr(head.size()), words))
        return std::string(told);
    return head + words;
}

PendingDecision decide_pending(const PendingSituation& situation) {
    return Decider(situation).run();
}

}  // namespace muster::operators
