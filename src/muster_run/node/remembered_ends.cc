#include "muster_run/node/remembered_ends.h"

#include <utility>

#include "workers/worker/error_file.h"

namespace muster::run {

Task<Result<void>> RememberedEnds::start(job_protocol::World world,
                                         std::vector<launch::WorkerStart> starts) {
    failures_.clear();
    return workers_.start(std::move(world), std::move(starts));
}

Task<workers::WorkerEnd> RememberedEnds::next_end() {
    workers::WorkerEnd end = co_await workers_.next_end();
    if (end.exit_code != 0) {
        workers::Failure failure{.end = end};
        // Now: with the set its own files go.
        if (!end.error_file.empty())
            if (auto file = workers::read_error_file(end.error_file)) {
                failure.traceback = std::move(file->traceback);
                failure.content = std::move(file->content);
            }
        failures_.push_back(std::move(failure));
    }
    co_return end;
}

Task<void> RememberedEnds::stop(Duration grace) {
    const bool any = workers_.running().has_value();
    co_await workers_.stop(grace);
    if (!any) co_return;
    const std::vector<workers::Failure>& late = workers_.late_failures();
    failures_.insert(failures_.end(), late.begin(), late.end());
}

}  // namespace muster::run
