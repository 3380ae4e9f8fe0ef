#include "kube/request_window.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace muster::kube {
namespace {

/// A round whose answers took longer than the fastest by this does not let the window grow.
constexpr double kSlower = 1.25;
/// The fastest round is forgotten by so much in each, so that one lucky moment is no measure for
/// ever.
constexpr double kFade = 1.01;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

RequestWindow::RequestWindow(RequestLimits limits) : limits_(limits) {
    if (limits_.per_second > 0) limits_.burst = std::max(limits_.burst, 1.0);
    tokens_ = limits_.burst;
}

void RequestWindow::add(const std::string& flow, Id id) {
    std::deque<Id>& queue = flows_[flow];
    if (queue.empty()) turns_.push_back(flow);
    queue.push_back(id);
    ++waiting_;
}

bool RequestWindow::withdraw(const std::string& flow, Id id) {
    auto found = flows_.find(flow);
    if (found == flows_.end()) return false;
    auto at = std::ranges::find(found->second, id);
    if (at == found->second.end()) return false;
    found->second.erase(at);
    --waiting_;
    if (!found->second.empty()) return true;
    flows_.erase(found);
    turns_.erase(std::ranges::find(turns_, flow));
    return true;
}

std::optional<RequestWindow::Id> RequestWindow::next(Instant now) {
    wake_at_ = Instant::max();
    if (turns_.empty()) return std::nullopt;
    if (now < hold_until_) {
        wake_at_ = hold_until_;
        return std::nullopt;
    }
    if (in_flight_ >= size()) {
        full_ = true;
        return std::nullopt;
    }
    if (limits_.per_second > 0) {
        take_token(now);
        if (tokens_ < 1) {
            wake_at_ = now + std::chrono::ceil<Duration>(
                                 std::chrono::duration<double>((1 - tokens_) / limits_.per_second));
            return std::nullopt;
        }
        tokens_ -= 1;
    }
    std::string flow = std::move(turns_.front());
    turns_.pop_front();
    auto queue = flows_.find(flow);
    const Id id = queue->second.front();
    queue->second.pop_front();
    --waiting_;
    ++in_flight_;
    if (queue->second.empty())
        flows_.erase(queue);
    else
        turns_.push_back(std::move(flow));
    return id;
}

void RequestWindow::take_token(Instant now) {
    if (tokens_at_ != Instant{})
        tokens_ = std::min(limits_.burst, tokens_ + seconds(now - tokens_at_) * limits_.per_second);
    tokens_at_ = now;
}

void RequestWindow::ended(RequestEnd how, Duration took, Instant now, Instant hold_until) {
    --in_flight_;
    switch (how) {
        case RequestEnd::kAnswered:
            answered(took);
            return;
        case RequestEnd::kGivenUp:
            return;
        case RequestEnd::kTooMany:
            hold_until_ = std::max(hold_until_, hold_until);
            [[fallthrough]];
        case RequestEnd::kLost:
            // All that were refused together were sent into the same window.
            if (now - took >= shrunk_at_) shrink(now);
            return;
    }
}

void RequestWindow::answered(Duration took) {
    ++round_answers_;
    round_time_ += took;
    if (round_answers_ < size()) return;
    const Duration mean = round_time_ / round_answers_;
    round_answers_ = 0;
    round_time_ = {};
    const bool wanted = std::exchange(full_, false);
    if (best_ == Duration::zero() || mean < best_) best_ = mean;
    if (wanted && seconds(mean) <= seconds(best_) * kSlower)
        size_ = std::min(size_ + 1, static_cast<double>(kMost));
    best_ = std::chrono::duration_cast<Duration>(best_ * kFade);
}

void RequestWindow::shrink(Instant now) {
    size_ = std::max(1.0, std::floor(size_ / 2));
    shrunk_at_ = now;
    full_ = false;  // of the window that was too large
    round_answers_ = 0;
    round_time_ = {};
}

}  // namespace muster::kube
