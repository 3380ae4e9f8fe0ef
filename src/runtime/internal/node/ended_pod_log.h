#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <filesystem>
#include <memory>

#include "base/result.h"
#include "base/time/clock.h"
#include "kube/client/client.h"
#include "kube/objects/pod.h"

namespace muster::runtime {

/// The phase is a final one.
bool has_ended(const kube::Pod& pod);

/// The log of a pod that ended before this process began, from the logs that outlive pods in
/// `logs_dir` (empty: none do), with the API's errors.
Result<std::unique_ptr<kube::TextStream>> open_ended_pod_log(asio::any_io_executor executor,
                                                             const std::filesystem::path& logs_dir,
                                                             const kube::Pod& pod,
                                                             const kube::LogOptions& options,
                                                             WallTime now);

}  // namespace muster::runtime
