#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace muster::runtime {

/// Adds the path to what pods see of this machine's /tmp, although they have their own, if it is
/// below /tmp. Of directories in each other the outer one stays.
void keep_below_tmp(std::vector<std::string>& kept, const std::string& path);

/// The directories of `environment` (HOME, PATH; of an environment its whole directory) and
/// `working_dir` that lie below /tmp and exist.
std::vector<std::string> find_kept_below_tmp(const std::vector<std::string>& environment,
                                             const std::filesystem::path& working_dir);

}  // namespace muster::runtime
