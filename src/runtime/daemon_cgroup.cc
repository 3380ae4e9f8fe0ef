#include "runtime/daemon_cgroup.h"

#include <algorithm>

#include "base/log.h"
#include "runtime/internal/limits/cgroup_files.h"
#include "runtime/internal/limits/cgroups.h"
#include "runtime/internal/limits/subtree_control.h"

namespace muster::runtime {

Result<DaemonCgroup> DaemonCgroup::enter() {
    const Cgroups::Place place = Cgroups::place_of_this_process();
    return enter(kernel_cgroup_files(),
                 process::find_cgroup_hierarchies(place.mountinfo, place.own_groups));
}

Result<DaemonCgroup> DaemonCgroup::enter(CgroupFiles& files,
                                         const std::vector<process::CgroupHierarchy>& hierarchies) {
    DaemonCgroup made;
    const auto tree = std::ranges::find(hierarchies, process::CgroupVersion::kV2,
                                        &process::CgroupHierarchy::version);
    if (tree == hierarchies.end() || tree->own == tree->root || Cgroups::is_beside(*tree))
        return made;
    const std::string group = Cgroups::daemon_group(tree->own);
    TRY(const std::string enabled, files.read(tree->own, kSubtree));
    made.before_ = listed(enabled);
    auto done = files.make(group);
    if (!done && done.error().code() != Code::kAlreadyExists) return done.error();
    done = files.write(group, kProcesses, "0");
    if (!done) {
        if (auto removed = files.remove(group); !removed)
            log::warning("a cgroup stays behind", {{"error", removed.error().message()}});
        return done.error();
    }
    made.files_ = &files;
    made.outer_ = tree->own;
    return made;
}

void DaemonCgroup::leave() {
    if (outer_.empty()) return;
    // As with pods that go on.
    if (auto done = go_back(); !done)
        log::info("a cgroup stays behind", {{"error", done.error().message()}});
    outer_.clear();
}

Result<void> DaemonCgroup::go_back() {
    TRY(const std::string enabled, files_->read(outer_, kSubtree));
    const std::set<process::Controller> more = without(listed(enabled), before_);
    if (!more.empty()) TRY_VOID(files_->write(outer_, kSubtree, switches(more, '-')));
    TRY_VOID(files_->write(outer_, kProcesses, "0"));
    return files_->remove(Cgroups::daemon_group(outer_));
}

}  // namespace muster::runtime
