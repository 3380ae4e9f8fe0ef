#pragma once

#include <algorithm>
#include <vector>

#include "base/time/clock.h"

namespace muster::sim {

/// What was wrong with a simulated node and the way to it, as far as a master may take the node for
/// lost by that. It is the excuse for a world that ended although none of its workers had died, so
/// it is narrow: a connection that broke and could come back at once is no excuse, nor is one
/// that is only late, nor a master that died.
class FaultWindows {
  public:
    /// No agent of before answers any more: from now on until another is there.
    void gone(Instant now) { begin(Kind::kGone, now); }
    /// The one before may still be there for its master, until that notices its silence.
    void back(Instant now) { end(Kind::kGone, now); }
    /// Nothing gets through, in one direction or both.
    void partition(bool so, Instant now) { set(Kind::kPartition, so, now); }
    void slow_link(bool so, Instant now) { set(Kind::kSlowLink, so, now); }
    /// The connection broke. `unseen`: the node does not know.
    void cut(Instant now, bool unseen = false) {
        all_.push_back({unseen ? Kind::kGone : Kind::kCut, now, unseen ? now + kSilence : now});
    }

    /// What is wrong with a part of the way is wrong with the way, as long as it leads there.
    void add(const FaultWindows& part, Instant until = Instant::max()) {
        for (FaultWindow window : part.all_) {
            if (window.begin > until) continue;
            window.end = std::min(window.end, until);
            all_.push_back(window);
        }
    }

    /// Between the two it could count as lost.
    bool excuse(Instant from, Instant now) const {
        return std::ranges::any_of(all_, [&](const FaultWindow& one) {
            if (one.begin > now || one.end + kAfter < from) return false;
            switch (one.kind) {
                case Kind::kGone:
                    return true;
                case Kind::kPartition:
                    return std::min(one.end, now) - one.begin >= kSilence || breaks_in(one) > 0;
                case Kind::kSlowLink:
                    return breaks_in(one) > 0;
                case Kind::kCut:
                    return breaks_in(one) > 1;
            }
            return false;
        });
    }
    /// Nothing gets through just now, for however short a time so far.
    bool is_cut_off(Instant now) const {
        return std::ranges::any_of(all_, [now](const FaultWindow& one) {
            return one.kind == Kind::kPartition && one.begin <= now && now < one.end;
        });
    }
    /// What was decided at that time may have been decided long before: since when it could not get
    /// through.
    Instant since(Instant time) const {
        Instant first = time;
        for (const FaultWindow& one : all_)
            if (one.kind == Kind::kPartition && one.begin <= time && one.end + kAfter >= time)
                first = std::min(first, one.begin);
        return first;
    }

  private:
    /// Less than what a connection may be silent without counting as broken.
    static constexpr Duration kSilence = std::chrono::milliseconds(3100);
    /// By then it is known that an agent is gone.
    static constexpr Duration kMissed = std::chrono::seconds(5);
    /// What one fault may do to what comes so soon after it: a client waits for longer and longer
    /// between its tries to connect.
    static constexpr Duration kAfter = std::chrono::seconds(2);

    enum class Kind { kGone, kPartition, kSlowLink, kCut };
    struct FaultWindow {
        Kind kind;
        Instant begin;
        Instant end;
    };

    void begin(Kind kind, Instant now) {
        if (open(kind) == nullptr) all_.push_back({kind, now, Instant::max() - kAfter});
    }
    void end(Kind kind, Instant now) {
        FaultWindow* const one = open(kind);
        if (one == nullptr) return;
        one->end = kind == Kind::kGone ? std::max(now, one->begin + kMissed) : now;
    }
    void set(Kind kind, bool so, Instant now) { so ? begin(kind, now) : end(kind, now); }
    FaultWindow* open(Kind kind) {
        const auto found = std::ranges::find_if(all_, [&](const FaultWindow& one) {
            return one.kind == kind && one.end == Instant::max() - kAfter;
        });
        return found == all_.end() ? nullptr : &*found;
    }
    std::ptrdiff_t breaks_in(const FaultWindow& fault) const {
        return std::ranges::count_if(all_, [&](const FaultWindow& one) {
            return one.kind == Kind::kCut && one.begin + kAfter >= fault.begin &&
                   one.begin <= fault.end + kAfter;
        });
    }

    std::vector<FaultWindow> all_;
};

}  // namespace muster::sim
