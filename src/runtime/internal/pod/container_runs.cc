#include "runtime/internal/pod/container_runs.h"

#include <algorithm>
#include <utility>

namespace muster::runtime {

namespace {
constexpr std::size_t kKeptRuns = 2;
}  // namespace

ContainerRun* ContainerRuns::newest(std::size_t container) const {
    const auto& runs = containers_[container].runs;
    return runs.empty() ? nullptr : runs.back().get();
}

ContainerRun* ContainerRuns::previous(std::size_t container) const {
    const auto& runs = containers_[container].runs;
    return runs.size() < 2 ? nullptr : runs[runs.size() - 2].get();
}

ContainerRun* ContainerRuns::find(std::uint32_t id) const {
    const std::size_t container = RunId::of(id).container;
    if (container >= containers_.size()) return nullptr;
    const auto& runs = containers_[container].runs;
    const auto found = std::ranges::find(runs, id, &ContainerRun::id);
    return found == runs.end() ? nullptr : found->get();
}

RunId ContainerRuns::next(std::size_t container) const {
    return {.container = container, .launch = containers_[container].launches + 1};
}

void ContainerRuns::add(std::unique_ptr<ContainerRun> run) {
    const RunId id = RunId::of(run->id());
    count(id.container, id.launch);
    auto& runs = containers_[id.container].runs;
    runs.push_back(std::move(run));
    while (runs.size() > kKeptRuns) {
        runs.front()->discard();
        runs.erase(runs.begin());
    }
}

void ContainerRuns::count(std::size_t container, std::uint32_t launches) {
    std::uint32_t& counted = containers_[container].launches;
    counted = std::max(counted, launches);
}

void ContainerRuns::finish_all() {
    for (Container& container : containers_)
        for (auto& run : container.runs) run->finish();
}

}  // namespace muster::runtime
