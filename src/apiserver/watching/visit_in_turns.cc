#include "apiserver/watching/visit_in_turns.h"

#include <boost/asio/post.hpp>

#include "base/time/loop_watch.h"

namespace muster::apiserver {

Task<void> visit_in_turns(const WatchCache& cache, std::string resource, std::string namespace_,
                          std::function<bool(const NamespacedName&, const CachedObject&)> look) {
    NamespacedName last{namespace_, ""};
    const std::string work = current_work();
    for (;;) {
        // Looked up each time: a definition may go, and its objects with it.
        const WatchCache::Objects& objects = cache.objects(resource);
        const auto it = objects.upper_bound(last);
        if (it == objects.end()) co_return;
        if (!namespace_.empty() && it->first.namespace_ != namespace_) co_return;
        last = it->first;
        if (!look(it->first, it->second)) co_return;
        if (!turn_is_long()) continue;
        co_await asio::post(asio::use_awaitable);
        works_for(work);
    }
}

}  // namespace muster::apiserver
