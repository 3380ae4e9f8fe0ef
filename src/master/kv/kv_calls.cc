#include "master/kv/kv_calls.h"

#include <utility>

namespace muster::master {

Task<Result<KvAnswer>> KvCalls::ask(std::optional<int> rank, KvRequest request) {
    const KvStore::Waiter waiter = ++last_;
    Line line(executor_);
    lines_.emplace(waiter, &line);
    // The call may be cancelled while it waits.
    struct Leave {
        KvCalls& calls;
        KvStore::Waiter waiter;
        ~Leave() {
            calls.lines_.erase(waiter);
            calls.keys_.forget(waiter);
        }
    } const leave{*this, waiter};
    keys_.ask(waiter, rank, std::move(request));
    hand_out();
    while (!line.answer) co_await line.changed.wait();
    co_return *std::move(line.answer);
}

void KvCalls::hand_out() {
    for (auto& [waiter, with] : keys_.take_answered()) {
        const auto line = lines_.find(waiter);
        if (line == lines_.end()) continue;
        line->second->answer = std::move(with);
        line->second->changed.notify_all();
    }
}

}  // namespace muster::master
