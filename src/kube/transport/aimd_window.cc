#include "kube/transport/aimd_window.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace muster::kube {
namespace {

/// A round whose answers took longer than the fastest by this factor does not let the window grow.
constexpr double kSlower = 1.25;
/// The time of the fastest round grows by this factor in each round, so that one lucky moment is
/// not a measure without end.
constexpr double kFade = 1.01;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

AimdWindow::AimdWindow(RequestLimits limits) : limits_(limits) {
    if (limits_.per_second > 0) limits_.burst = std::max(limits_.burst, 1.0);
    tokens_ = limits_.burst;
}

void AimdWindow::add(const std::string& name, Id id) {
    const auto [at, is_new] = flows_.try_emplace(name);
    Flow& flow = at->second;
    if (is_new) {
        flow.is_job = !name.empty();
        if (flow.is_job) ++short_jobs_;
    }
    if (flow.waiting.empty()) turns_.push_back(name);
    flow.waiting.push_back(id);
    ++waiting_;
}

bool AimdWindow::withdraw(const std::string& name, Id id) {
    const auto found = flows_.find(name);
    if (found == flows_.end()) return false;
    Flow& flow = found->second;
    const auto at = std::ranges::find(flow.waiting, id);
    if (at == flow.waiting.end()) return false;
    flow.waiting.erase(at);
    --waiting_;
    if (flow.waiting.empty() && std::erase(turns_, name) == 0) std::erase(missed_, name);
    forget_if_idle(found);
    return true;
}

std::optional<AimdWindow::Id> AimdWindow::next(Instant now) {
    wake_at_ = Instant::max();
    if (waiting_ == 0) return std::nullopt;
    if (now < hold_until_) {
        wake_at_ = hold_until_;
        return std::nullopt;
    }
    if (in_flight_ >= size()) {
        full_ = true;
        return std::nullopt;
    }
    std::deque<std::string>* const turns = whose_turn();
    if (turns == nullptr) return std::nullopt;
    if (limits_.per_second > 0) {
        take_token(now);
        if (tokens_ < 1) {
            wake_at_ = now + std::chrono::ceil<Duration>(
                                 std::chrono::duration<double>((1 - tokens_) / limits_.per_second));
            return std::nullopt;
        }
        tokens_ -= 1;
    }
    return send(*turns);
}

bool AimdWindow::long_ones_wait() const {
    return short_jobs_ > 0 && long_in_flight_ >= std::max(1, size() / kLongShare);
}

/// The queue whose first request is next; null while all wait.
std::deque<std::string>* AimdWindow::whose_turn() {
    if (!long_ones_wait()) return missed_.empty() ? &turns_ : &missed_;
    while (!turns_.empty() && flows_.at(turns_.front()).is_long()) {
        missed_.push_back(std::move(turns_.front()));
        turns_.pop_front();
    }
    return turns_.empty() ? nullptr : &turns_;
}

AimdWindow::Id AimdWindow::send(std::deque<std::string>& turns) {
    std::string name = std::move(turns.front());
    turns.pop_front();
    Flow& flow = flows_.at(name);
    const Id id = flow.waiting.front();
    flow.waiting.pop_front();
    --waiting_;
    ++in_flight_;
    ++flow.in_flight;
    if (flow.is_long()) {
        ++long_in_flight_;
    } else if (++flow.sent; flow.is_long()) {
        if (flow.is_job) --short_jobs_;
        long_in_flight_ += flow.in_flight;
    }
    if (!flow.waiting.empty()) turns_.push_back(std::move(name));
    return id;
}

void AimdWindow::forget_if_idle(Flows::iterator flow) {
    if (!flow->second.waiting.empty() || flow->second.in_flight > 0) return;
    if (flow->second.is_short_job()) --short_jobs_;
    flows_.erase(flow);
}

void AimdWindow::take_token(Instant now) {
    if (tokens_at_ != Instant{})
        tokens_ = std::min(limits_.burst, tokens_ + seconds(now - tokens_at_) * limits_.per_second);
    tokens_at_ = now;
}

void AimdWindow::ended(const std::string& name, RequestEnd how, Duration took, Instant now,
                       Instant hold_until) {
    const auto at = flows_.find(name);
    --in_flight_;
    --at->second.in_flight;
    if (at->second.is_long()) --long_in_flight_;
    forget_if_idle(at);
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

void AimdWindow::answered(Duration took) {
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

void AimdWindow::shrink(Instant now) {
    size_ = std::max(1.0, std::floor(size_ / 2));
    shrunk_at_ = now;
    full_ = false;  // of the window that was too large
    round_answers_ = 0;
    round_time_ = {};
}

}  // namespace muster::kube
