#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kube/objects/pod.h"
#include "process/cgroup_hierarchies.h"
#include "runtime/internal/limits/cgroup_files.h"
#include "runtime/internal/limits/cgroup_limits.h"

namespace muster::runtime {

/// The groups of one instance of a container, one in each tree. Owns them: the destructor removes
/// them, so its processes must be gone by then; what can't be removed yet goes with the node's.
class ContainerCgroup {
  public:
    struct Group {
        std::string path;
        CgroupVersion version;
        bool memory = false;  ///< has that controller
    };
    ContainerCgroup(CgroupFiles& files, std::vector<Group> groups)
        : files_(&files), groups_(std::move(groups)) {}
    ~ContainerCgroup();
    ContainerCgroup(const ContainerCgroup&) = delete;
    ContainerCgroup& operator=(const ContainerCgroup&) = delete;

    /// Their directories, for CgroupEntry.
    Result<std::vector<UniqueFd>> open() const;
    /// Whether the kernel has killed a process of the container for want of memory.
    bool ran_out_of_memory() const;

  private:
    CgroupFiles* files_;
    std::vector<Group> groups_;
};

class Cgroups;

/// The name of a node's group, the same for one state directory in this process and in one that
/// takes its pods over. `outlives`: as the pods may, when it has ended.
std::string node_group_name(const std::filesystem::path& state_dir, bool outlives = false);
/// The name of such a group, or that of the group beside it that the node itself moved to. One that
/// nothing has claimed is what a killed node left; with `outlives`, together with pods that still
/// run.
bool is_node_group_name(std::string_view name, bool outlives = false);

/// The groups of one pod. Outlives those of its containers, and the node's outlive it. The
/// destructor removes them with all that is below.
class PodCgroup {
  public:
    PodCgroup(CgroupFiles& files, const Cgroups& node, std::string name)
        : files_(&files), node_(&node), name_(std::move(name)) {}
    ~PodCgroup();
    PodCgroup(const PodCgroup&) = delete;
    PodCgroup& operator=(const PodCgroup&) = delete;

    /// `name` is that of no other container of the pod that still has its group.
    Result<std::unique_ptr<ContainerCgroup>> make_container(const std::string& name,
                                                            const ContainerLimits& limits) const;

  private:
    CgroupFiles* files_;
    const Cgroups* node_;
    std::string name_;
};

/// What the kernel lets this process limit, and the group in each tree under which it does: one per
/// node, claimed by a lock on its directory, one per pod below it, one per container below that.
/// Thread: the loop; no call waits.
class Cgroups {
  public:
    /// What is looked at.
    struct Place {
        std::string mountinfo;   ///< content of /proc/self/mountinfo
        std::string own_groups;  ///< content of /proc/self/cgroup
        std::int64_t pid_max = 0;
        std::int64_t threads_max = 0;
        std::int64_t cpus = 1;
        bool root = false;
        pid_t companion = 0;  ///< a process of ours beside us, 0 for none
    };
    static Place place_of_this_process();

    /// The groups that create() may make, whether or not it does: told to the cleanup process
    /// before there is anything to clean up.
    static std::vector<std::string> possible_groups(const Place& place, const std::string& name);

    /// What may be done is tried, and kept. With a version 2 tree in which only this process may
    /// make groups (a systemd scope with Delegate=yes) this process moves into a group of its own.
    /// `pids_per_pod` 0: from the kernel's limits.
    static Cgroups create(CgroupFiles& files, const Place& place, const std::string& name,
                          std::int64_t pids_per_pod = 0);
    /// None, as asked for or because `obstacle` says why.
    explicit Cgroups(std::string obstacle) : obstacle_(std::move(obstacle)) {}
    Cgroups(Cgroups&&) = default;
    Cgroups& operator=(Cgroups&&) = delete;
    ~Cgroups();

    bool enforces(Controller controller) const;
    /// Why some limits are not enforced, and what to do about it; empty when all are.
    const std::string& obstacle() const { return obstacle_; }

    /// How many processes and threads a pod may have, whether or not groups enforce it.
    std::int64_t pids_of_pod() const { return pids_.pod; }

    Result<std::unique_ptr<PodCgroup>> make_pod(const std::string& name,
                                                std::int64_t cpu_request_milli) const;

    /// A group that belongs to this node alone, and what claims it.
    struct Claim {
        std::string group;
        UniqueFd lock;
    };
    /// All of them, for the cleanup process.
    const std::vector<Claim>& claims() const { return claims_; }
    /// Removes those of other pods, which must be gone.
    void keep_only(const std::set<std::string>& pods);
    /// Removes them; the processes of all pods must be gone. The destructor does it too.
    Result<void> remove();

  private:
    friend class PodCgroup;
    struct Tree {
        CgroupVersion version;
        std::set<Controller> controllers;
        std::string group;
    };

    void take_v1(const process::CgroupHierarchy& hierarchy, const std::string& name);
    void take_v2(const process::CgroupHierarchy& hierarchy, const std::string& name, bool root);
    Result<void> take_below(const std::string& parent, const process::CgroupHierarchy& hierarchy,
                            const std::string& name, const std::set<Controller>& wanted);
    Result<void> enable_below(const std::string& parent, const process::CgroupHierarchy& hierarchy,
                              const std::string& name, const std::set<Controller>& missing);
    Result<void> move_us(const std::string& group);
    template <class Use>
    Result<void> with_group(const std::string& group, Use use);
    Result<void> keep(Tree tree);
    void explain(bool root);
    Result<void> set_up(const Tree& tree, const std::string& group,
                        const std::vector<CgroupSetting>& settings, bool has_groups_below) const;

    CgroupFiles* files_ = nullptr;
    std::vector<Tree> trees_;
    std::vector<Claim> claims_;
    PidLimits pids_;
    std::int64_t cpus_ = 1;
    pid_t companion_ = 0;
    /// This process moved aside in the version 2 tree, and enabled controllers where it had been.
    struct Move {
        std::string from;
        std::string to;
        std::set<Controller> enabled;
    };
    std::vector<Move> moves_;  ///< one at most
    std::string problem_;
    std::string obstacle_;
};

/// "spec.containers[0].resources.limits.memory": what the pod asks to be limited and these groups
/// do not.
std::vector<std::string> limits_not_enforced(const kube::Pod& pod, const Cgroups& cgroups);

}  // namespace muster::runtime
