#pragma once

#include <boost/json/array.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/values/json.h"

namespace muster::cli {

/// The volumes of a pod and where its container has them, as a pod's spec says it.
struct VolumePlan {
    json::array volumes;
    json::array mounts;
};

struct VolumeSettings {
    std::string user;       ///< of the pipeline: a `pvc` shows only this user's folder
    std::string time_zone;  ///< "Asia/Shanghai": mounted from the node; empty: not
};

/// Reads KFJ_TASK_VOLUME_MOUNT: entries `source(kind):path`, separated by ',', ';' or newlines, with
/// the kinds pvc, pvc-share, storage, nfs, hostpath, configmap, secret and memory. A repeated entry
/// counts once. A /dev/shm in memory is added if there is none. Pure.
Result<VolumePlan> read_volume_text(std::string_view text, const VolumeSettings& settings);

}  // namespace muster::cli
