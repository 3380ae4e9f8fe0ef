#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "process/cgroup_hierarchies.h"

namespace muster::runtime {

/// The kernel's trees of groups as files: the seam between what is wanted of them and the machine.
/// Groups are absolute paths. Every call is one or a few system calls and does not wait.
class CgroupFiles {
  public:
    virtual ~CgroupFiles() = default;

    /// kAlreadyExists, kForbidden.
    virtual Result<void> make(const std::string& group) = 0;
    /// kNotFound; another error if it has processes or groups below it.
    virtual Result<void> remove(const std::string& group) = 0;
    virtual Result<void> write(const std::string& group, std::string_view file,
                               std::string_view value) = 0;
    virtual Result<std::string> read(const std::string& group, std::string_view file) = 0;
    /// A descriptor of the group, to start processes in it (cgroup_entry.h).
    virtual Result<UniqueFd> open(const std::string& group) = 0;
    /// Claims the group for as long as the descriptor, or a copy of it, is open; kConflict if
    /// another process has it, kForbidden if it is another user's.
    virtual Result<UniqueFd> claim(const std::string& group) = 0;
    /// A descriptor that tells when the kernel kills processes of the group, which has a memory
    /// controller, because memory ran out (OomNotices).
    virtual Result<UniqueFd> open_oom_notices(const std::string& group,
                                              process::CgroupVersion version) = 0;
    /// The names of the groups directly below.
    virtual Result<std::vector<std::string>> children(const std::string& group) = 0;
};

/// Those of this machine. Has no state, and lives as long as the program.
CgroupFiles& kernel_cgroup_files();

/// Removes a group and everything below it, from the leaves up; groups that are gone already are no
/// error. Groups that still have processes stay and are the error.
Result<void> remove_cgroup_tree(CgroupFiles& files, const std::string& group);

}  // namespace muster::runtime
