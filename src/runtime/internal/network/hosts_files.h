#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "base/async/task_group.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "runtime/internal/network/names.h"

namespace muster::runtime {

/// The files that pods see as /etc/hosts, kept current: rewritten in place, as pods have the file
/// itself mounted. The pods of a job see the same names and share one file, so a job of thousands
/// costs one rewrite; a pod with names of its own has its own file. Changes that come together cost
/// one rewrite. Thread: the loop.
class HostsFiles {
  public:
    /// `directory` is made when it is needed.
    HostsFiles(NameTable& names, Clock& clock, TaskGroup& tasks, std::filesystem::path directory)
        : names_(names), clock_(clock), tasks_(tasks), directory_(std::move(directory)) {}

    /// The file for the pod, written now and kept current until its pods are removed. `uid` is the
    /// pod's, as a successor of the same name may appear before it is removed.
    Result<std::filesystem::path> add(const std::string& namespace_, const std::string& pod,
                                      const std::string& uid);
    /// Harmless for a pod that was not added.
    void remove(const std::string& uid);

    /// The names have changed.
    void names_changed();
    /// Existing files stay as they are until release(): pods use them, and not all of their names
    /// are known yet.
    void hold() { held_ = true; }
    /// All names are known. Removes the files that no pod uses.
    void release();

  private:
    struct File {
        std::string namespace_;
        std::string owner_uid;  ///< of a shared one
        std::string own;        ///< the only pod of a file that is not shared
        std::string content;
        std::set<std::string> pods;  ///< uids
    };

    Task<void> rewrite_later();
    Result<void> rewrite(const std::filesystem::path& path, File& file);

    NameTable& names_;
    Clock& clock_;
    TaskGroup& tasks_;
    std::filesystem::path directory_;
    std::map<std::filesystem::path, File> files_;
    bool pending_ = false;
    bool held_ = false;
    Duration cost_{};  ///< of the last rewrite
};

}  // namespace muster::runtime
