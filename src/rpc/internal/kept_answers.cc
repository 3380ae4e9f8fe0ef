#include "rpc/internal/kept_answers.h"

#include "base/check.h"

namespace muster::rpc {

KeptAnswers::Seen KeptAnswers::begin(std::uint64_t id) {
    if (const auto it = calls_.find(id); it != calls_.end())
        return it->second ? Seen::kAnswered : Seen::kRunning;
    if (calls_.size() >= most_ || running_ >= most_) return Seen::kTooMany;
    calls_.emplace(id, std::nullopt);
    ++running_;
    return Seen::kNew;
}

bool KeptAnswers::end(std::uint64_t id, std::string answer) {
    CHECK(running_ > 0, "an answer without a call");
    --running_;
    const auto it = calls_.find(id);
    if (it == calls_.end()) return false;
    it->second = std::move(answer);
    return true;
}

const std::string& KeptAnswers::answer(std::uint64_t id) const {
    const auto it = calls_.find(id);
    CHECK(it != calls_.end() && it->second.has_value(), "there is an answer");
    return *it->second;
}

}  // namespace muster::rpc
