#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace muster::runtime {

/// The file of a container's message unless the manifest says otherwise.
inline constexpr std::string_view kTerminationLog = "/dev/termination-log";

/// The message of a container that ended: the last 4096 bytes of `file`. If that is empty and
/// `from_log` is set, the last 80 lines of its log, cut to their last 2048 bytes (upstream:
/// pkg/kubelet/kuberuntime, getTerminationMessage). If a file can't be read, the message says so.
std::string read_termination_message(const std::filesystem::path& file,
                                     const std::filesystem::path& log, bool from_log);

}  // namespace muster::runtime
