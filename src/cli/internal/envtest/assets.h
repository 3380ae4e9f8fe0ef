#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace muster::cli {

/// Makes in `folder`, which is made too if it is missing, what KUBEBUILDER_ASSETS has to have: links
/// to `program` under the names of etcd and kube-apiserver, and one to the kubectl of `search_path`
/// (as PATH has it) unless there is a kubectl already. Returns what a person should know. Links that
/// an earlier call made are replaced; kAlreadyExists, and nothing is changed, where something else is.
Result<std::vector<std::string>> make_envtest_assets(const std::filesystem::path& folder,
                                                     const std::filesystem::path& program,
                                                     const std::string& search_path);

/// The program that is meant by a path to it, as envtest starts it: one of the names of these links.
enum class EnvtestProgram { kNone, kEtcd, kKubeApiserver };
EnvtestProgram envtest_program(std::string_view path);

}  // namespace muster::cli
