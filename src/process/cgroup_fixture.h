#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/unique_fd.h"
#include "process/cgroup_hierarchies.h"

namespace muster::process {

inline std::string content_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

/// A group in this machine's version 2 tree, with or without controllers; removed at the end.
class Version2TestGroup {
  public:
    Version2TestGroup() {
        for (const CgroupHierarchy& hierarchy : find_cgroup_hierarchies(
                 content_of("/proc/self/mountinfo"), content_of("/proc/self/cgroup")))
            if (hierarchy.version == CgroupVersion::kV2)
                path_ = std::filesystem::path(hierarchy.own) /
                        fmt::format("muster-entry-test-{}", ::getpid());
        std::error_code error;
        made_ = !path_.empty() && std::filesystem::create_directory(path_, error);
    }
    ~Version2TestGroup() {
        if (made_) EXPECT_EQ(::rmdir(path_.c_str()), 0) << path_;
    }
    Version2TestGroup(const Version2TestGroup&) = delete;
    Version2TestGroup& operator=(const Version2TestGroup&) = delete;

    bool made() const { return made_; }
    const std::filesystem::path& path() const { return path_; }
    UniqueFd open() const {
        return UniqueFd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }

  private:
    std::filesystem::path path_;
    bool made_ = false;
};

}  // namespace muster::process
