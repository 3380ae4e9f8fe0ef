#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace muster::runtime {

/// Where a container leaves its message unless the manifest says otherwise.
inline constexpr std::string_view kTerminationLog = "/dev/termination-log";

/// What a container that ended has to say: the last 4096 bytes of `file`. Where that is empty and
/// `from_log`, the last 80 lines of its log, cut to their last 2048 bytes (upstream:
/// pkg/kubelet/kuberuntime, getTerminationMessage). A file that can't be read says so.
std::string read_termination_message(const std::filesystem::path& file,
                                     const std::filesystem::path& log, bool from_log);

}  // namespace muster::runtime
