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
#include "runtime/internal/limits/oom_notices.h"

namespace muster::runtime {

/// The groups of one instance of a container, one in each tree. Owns them: the destructor removes
/// them, so its processes must be gone by then; groups that can't be removed yet are removed with
/// the node's.
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
    /// How many processes of the container the kernel has killed because memory ran out.
    std::int64_t oom_kills() const;
    /// Tells of further ones; null without a memory controller.
    Result<std::unique_ptr<OomNotices>> oom_notices(asio::any_io_executor executor) const;

  private:
    CgroupFiles* files_;
    std::vector<Group> groups_;
};

class Cgroups;

/// The name of a node's group: the same for one state directory in this process and in one that
/// takes over its pods. `outlives`: the pods may outlive the process.
std::string node_group_name(const std::filesystem::path& state_dir, bool outlives = false);
/// Whether it is the name of such a group, or of the group beside it to which the node itself
/// moved. If nothing has claimed it, a killed node left it behind; with `outlives`, possibly with
/// pods that still run.
bool is_node_group_name(std::string_view name, bool outlives = false);

/// The groups of one pod. Outlives those of its containers, and the node's outlive it. The
/// destructor removes them with everything below.
class PodCgroup {
  public:
    PodCgroup(CgroupFiles& files, const Cgroups& node, std::string name)
        : files_(&files), node_(&node), name_(std::move(name)) {}
    ~PodCgroup();
    PodCgroup(const PodCgroup&) = delete;
    PodCgroup& operator=(const PodCgroup&) = delete;

    /// `name` is unique among the containers of the pod that still have a group.
    Result<std::unique_ptr<ContainerCgroup>> make_container(const std::string& name,
                                                            const ContainerLimits& limits) const;

  private:
    CgroupFiles* files_;
    const Cgroups* node_;
    std::string name_;
};

/// What the kernel lets this process limit, and the group in each tree under which it does so: one
/// for each node, claimed by a lock on its directory, one for each pod below it, and one for each
/// container below that. Thread: the loop; no call waits.
class Cgroups {
  public:
    /// What create() examines.
    struct Place {
        std::string mountinfo;   ///< content of /proc/self/mountinfo
        std::string own_groups;  ///< content of /proc/self/cgroup
        std::int64_t pid_max = 0;
        std::int64_t threads_max = 0;
        std::int64_t cpus = 1;
        bool root = false;
        pid_t companion = 0;  ///< a helper process of ours, 0 if there is none
    };
    static Place place_of_this_process();

    /// Whether a version 2 tree has this process in a group `muster-daemon`, as a supervised daemon
    /// is (daemon_cgroup.h), and a service of systemd with DelegateSubgroup=muster-daemon. Then the group above it has no processes of its own
    /// and is divided instead, so that systemd can put the next daemon where this one was, while
    /// the groups of pods stay.
    static bool is_beside(const process::CgroupHierarchy& hierarchy);
    /// That group, below `group`.
    static std::string daemon_group(const std::string& group);

    /// The groups that create() may make, whether or not it does: the cleanup process learns them
    /// before there is anything to clean up.
    static std::vector<std::string> possible_groups(const Place& place, const std::string& name);

    /// Tries everything that is allowed, and keeps what works. With a version 2 tree in which only
    /// this process may make groups (a systemd scope with Delegate=yes) this process moves into a
    /// group of its own. `pids_per_pod` 0: from the kernel's limits.
    static Cgroups create(CgroupFiles& files, const Place& place, const std::string& name,
                          std::int64_t pids_per_pod = 0);
    /// No groups, as requested or for the reason in `obstacle`.
    explicit Cgroups(std::string obstacle) : obstacle_(std::move(obstacle)) {}
    Cgroups(Cgroups&&) = default;
    Cgroups& operator=(Cgroups&&) = delete;
    ~Cgroups();

    bool enforces(Controller controller) const;
    /// Why some limits are not enforced, and what to do about it; empty if all are.
    const std::string& obstacle() const { return obstacle_; }

    /// The limit of processes and threads of a pod, whether or not groups enforce it.
    std::int64_t pids_of_pod() const { return pids_.pod; }

    Result<std::unique_ptr<PodCgroup>> make_pod(const std::string& name,
                                                std::int64_t cpu_request_milli) const;

    /// A group that belongs only to this node, and the descriptor that claims it.
    struct Claim {
        std::string group;
        UniqueFd lock;
    };
    /// All of them, for the cleanup process.
    const std::vector<Claim>& claims() const { return claims_; }
    /// Removes those of all other pods, which must be gone.
    void keep_only(const std::set<std::string>& pods);
    /// Removes them; the processes of all pods must be gone. The destructor does this too.
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
    bool beside_ = false;  ///< see is_beside()
    /// This process moved aside in the version 2 tree, and enabled controllers in its former group.
    struct Move {
        std::string from;
        std::string to;
        std::set<Controller> enabled;
    };
    std::vector<Move> moves_;  ///< one at most
    std::string problem_;
    std::string obstacle_;
};

/// "spec.containers[0].resources.limits.memory": limits that the pod asks for and these groups do
/// not enforce.
std::vector<std::string> limits_not_enforced(const kube::Pod& pod, const Cgroups& cgroups);
/// The limits that no machine enforces: nothing measures a pod's disk space and huge pages.
std::vector<std::string> limits_without_cgroup(const kube::Pod& pod);

}  // namespace muster::runtime
