#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/task_group.h"
#include "runtime/internal/network/names.h"

namespace muster::runtime {

/// The /etc/hosts of every pod, kept current: rewritten in place, as pods have the very file
/// mounted. Changes that come together cost one rewrite. Thread: the loop.
class HostsFiles {
  public:
    HostsFiles(NameTable& names, Clock& clock, TaskGroup& tasks)
        : names_(names), clock_(clock), tasks_(tasks) {}

    /// Writes the file now and keeps it current until remove().
    Result<void> add(const std::string& namespace_, const std::string& pod,
                     const std::filesystem::path& path);
    void remove(const std::filesystem::path& path) { files_.erase(path); }

    /// The names changed.
    void names_changed();

  private:
    struct File {
        std::string namespace_;
        std::string pod;
        std::string content;
    };

    Task<void> rewrite_later();
    Result<void> rewrite(const std::filesystem::path& path, File& file);

    NameTable& names_;
    Clock& clock_;
    TaskGroup& tasks_;
    std::map<std::filesystem::path, File> files_;
    bool pending_ = false;
    Duration cost_{};  ///< of the last rewrite
};

}  // namespace muster::runtime
