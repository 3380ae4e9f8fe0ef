#include "runtime/surviving_pods.h"

#include "runtime/internal/limits/cgroup_sweep.h"
#include "runtime/internal/limits/cgroups.h"
#include "runtime/internal/node/recovered_pods.h"

namespace muster::runtime {

Result<std::size_t> end_surviving_pods(const std::filesystem::path& state_dir) {
    TRY(RecoveredPods pods, recover_pods(state_dir));
    for (auto& [uid, found] : pods) TRY_VOID(end_pod(std::move(found.pod)));
    CgroupFiles& files = kernel_cgroup_files();
    for (const std::string& group : Cgroups::possible_groups(Cgroups::place_of_this_process(),
                                                             node_group_name(state_dir, true)))
        TRY_VOID(sweep_cgroup(files, group));
    // Their directories: nothing answers there any more.
    TRY_VOID(recover_pods(state_dir));
    return pods.size();
}

}  // namespace muster::runtime
