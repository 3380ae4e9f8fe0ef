#include "operator/internal/execution/write_batch.h"

#include <algorithm>

#include "base/async/signal.h"

namespace muster::operators {
namespace {

struct Batch {
    Batch(const asio::any_io_executor& executor, std::vector<Write> all,
          std::function<BeforeWrite()> asked)
        : writes(std::move(all)), look(std::move(asked)), done(executor) {}

    /// Null: nothing more is begun.
    Write take() {
        if (next == writes.size() || stopped) return nullptr;
        if (look) {
            BeforeWrite now = look();
            stopped = now.enough;
            if (stopped || now.first) return std::move(now.first);
        }
        return std::move(writes[next++]);
    }

    std::vector<Write> writes;
    std::function<BeforeWrite()> look;
    bool stopped = false;
    std::size_t next = 0;
    std::size_t workers = 0;
    Signal done;
};

Task<void> work(std::shared_ptr<Batch> batch) {
    while (const Write write = batch->take()) co_await write();
    if (--batch->workers == 0) batch->done.notify_all();
}

}  // namespace

Task<bool> run_writes(TaskGroup& tasks, std::vector<Write> writes, int parallel,
                      std::function<BeforeWrite()> look) {
    if (writes.empty()) co_return true;
    auto batch = std::make_shared<Batch>(tasks.executor(), std::move(writes), std::move(look));
    batch->workers =
        std::min(batch->writes.size(), static_cast<std::size_t>(std::max(parallel, 1)));
    for (std::size_t i = batch->workers; i > 0; --i)
        tasks.spawn("operator write", work(batch), [batch](const std::string&) {
            batch->stopped = true;
            if (--batch->workers == 0) batch->done.notify_all();
        });
    while (batch->workers > 0) co_await batch->done.wait();
    co_return !batch->stopped && batch->next == batch->writes.size();
}

}  // namespace muster::operators
