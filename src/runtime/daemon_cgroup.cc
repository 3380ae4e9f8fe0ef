#include "runtime/daemon_cgroup.h"

#include <algorithm>

#include "base/fields.h"
#include "base/log.h"
#include "runtime/internal/limits/cgroup_files.h"
#include "runtime/internal/limits/cgroups.h"

namespace muster::runtime {

namespace {

constexpr std::string_view kProcesses = "cgroup.procs";
constexpr std::string_view kSubtree = "cgroup.subtree_control";

/// "-memory -cpu": what is enabled now and was not before.
std::string switches_off(std::string_view now, std::string_view before) {
    std::string text;
    while (!now.empty()) {
        const std::string_view controller = take_field(now, ' ');
        const bool is_name = controller.find_first_not_of('\n') != controller.npos;
        if (is_name && before.find(controller) == before.npos)
            text += fmt::format("{}-{}", text.empty() ? "" : " ", controller);
    }
    return text;
}

std::string without_newline(std::string text) {
    std::erase(text, '\n');
    return text;
}

}  // namespace

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
    TRY(made.before_, files.read(tree->own, kSubtree));
    made.before_ = without_newline(std::move(made.before_));
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
    const std::string group = Cgroups::daemon_group(outer_);
    Result<void> done;
    if (auto now = files_->read(outer_, kSubtree)) {
        const std::string off = switches_off(without_newline(*std::move(now)), before_);
        if (!off.empty()) done = files_->write(outer_, kSubtree, off);
    }
    if (done) done = files_->write(outer_, kProcesses, "0");
    if (done) done = files_->remove(group);
    // As with pods that go on.
    if (!done) log::info("a cgroup stays behind", {{"error", done.error().message()}});
    outer_.clear();
}

}  // namespace muster::runtime
