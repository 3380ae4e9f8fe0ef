#pragma once

#include <memory>

#include "base/time/clock.h"
#include "kube/client/client.h"
#include "kube/transport/transport.h"
#include "runtime/internal/files/log_file.h"

namespace muster::runtime {

/// What `kubectl logs` shows of the log: raw text, with the options applied, over all of its files
/// (a kubelet reads only the newest). If files were removed before a slow reader came to them, a
/// line says so. `now` is for sinceSeconds. `watch` wakes a reader that follows; null: the log is
/// complete.
Result<std::unique_ptr<kube::TextStream>> open_log(std::shared_ptr<LogFile> log, LogWatch* watch,
                                                   const kube::LogOptions& options, WallTime now);

}  // namespace muster::runtime
