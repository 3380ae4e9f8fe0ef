#include "cli/state_dir.h"

#include <cstdlib>

namespace muster::cli {

Result<StateDir> StateDir::create(const std::filesystem::path& parent) {
    std::string pattern = (parent / "muster-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
        return system_error("making a directory for the run's state in " + parent.string(), errno);
    return StateDir(std::filesystem::path(pattern));
}

StateDir::~StateDir() {
    if (path_.empty() || kept_) return;
    std::error_code ignored;  // what can't be removed is only litter in a temporary directory
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace muster::cli
