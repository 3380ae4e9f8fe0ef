#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/internal/prepare/file_objects.h"
#include "manifest/adjust.h"
#include "manifest/fit.h"
#include "manifest/manifest.h"

namespace muster::cli {

/// What `run` and `validate` share: the manifest and how to check it.
struct ManifestOptions {
    std::vector<std::string> files;        ///< "-": standard input
    bool is_made = false;                  ///< from a script: no file is needed
    std::vector<manifest::Document> made;  ///< those objects, before what files have
    std::vector<std::string> notices;      ///< what to tell about them
    bool recursive = false;                ///< directories stand for those in them, too
    manifest::Adjustments adjustments;
    std::vector<std::pair<std::string, std::string>>
        mounts;  ///< --mount IMAGE_PATH=DIR, as written
    /// --volume CLAIM=DIR, as written; the claim may have its namespace: NAMESPACE/CLAIM.
    std::vector<std::pair<std::string, std::string>> volumes;
    std::vector<FileObject> file_objects;  ///< --secret, --config
    std::string entrypoints_file;          ///< --entrypoints; empty: the usual place
    bool own_workdir = false;              ///< --workdir per-pod
    manifest::Fit fit = manifest::Fit::kScale;
    bool strict = false;
    bool any_machine = false;      ///< validate --anywhere: this machine is not examined
    bool only_checks = false;      ///< validate: nothing starts
    bool wait_for_others = false;  ///< for what nothing here makes
    bool cluster = false;          ///< jobs run where schedulers and autoscalers may handle them
};

}  // namespace muster::cli
