#include "operator/internal/write_batch.h"

#include <algorithm>

#include "base/signal.h"

namespace muster::operators {
namespace {

struct Batch {
    Batch(const asio::any_io_executor& executor, std::vector<Task<void>> all)
        : writes(std::move(all)), left(writes.size()), done(executor) {}

    std::vector<Task<void>> writes;
    std::size_t next = 0;
    std::size_t left;
    Signal done;
};

Task<void> work(std::shared_ptr<Batch> batch) {
    while (batch->next < batch->writes.size()) {
        Task<void> write = std::move(batch->writes[batch->next++]);
        co_await std::move(write);
        --batch->left;
    }
    if (batch->left == 0) batch->done.notify_all();
}

}  // namespace

Task<void> run_writes(TaskGroup& tasks, std::vector<Task<void>> writes, int parallel) {
    if (writes.empty()) co_return;
    auto batch = std::make_shared<Batch>(tasks.executor(), std::move(writes));
    const std::size_t workers =
        std::min(batch->writes.size(), static_cast<std::size_t>(std::max(parallel, 1)));
    for (std::size_t i = 0; i < workers; ++i) tasks.spawn("operator write", work(batch));
    while (batch->left > 0) co_await batch->done.wait();
}

}  // namespace muster::operators
