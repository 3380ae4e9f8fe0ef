#include "workers/worker/memory_kills.h"

#include "base/text_files.h"
#include "process/cgroup_hierarchies.h"

namespace muster::workers {

MemoryKills::MemoryKills(std::vector<std::string> files) : files_(std::move(files)) { begin(); }

MemoryKills MemoryKills::of_this_process() {
    std::vector<std::string> files;
    const auto mounts = read_text("/proc/self/mountinfo");
    const auto groups = read_text("/proc/self/cgroup");
    if (mounts && groups) {
        for (const process::CgroupHierarchy& tree :
             process::find_cgroup_hierarchies(*mounts, *groups)) {
            if (tree.version == process::CgroupVersion::kV2)
                files.push_back(tree.own + "/memory.events");
            else if (tree.controllers.contains(process::Controller::kMemory))
                files.push_back(tree.own + "/memory.oom_control");
        }
    }
    files.emplace_back("/proc/vmstat");
    return MemoryKills(std::move(files));
}

void MemoryKills::begin() { seen_ = count(); }

bool MemoryKills::take_one() {
    if (count() <= seen_) return false;
    ++seen_;
    return true;
}

std::int64_t MemoryKills::count() const {
    for (const std::string& file : files_)
        if (const auto text = read_text(file)) return process::oom_kills(*text);
    return 0;
}

}  // namespace muster::workers
