#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace muster::cli {

/// The tar archive of a file or a directory of this machine, piece by piece. Links are kept as
/// links, and not followed but for the top. Blocks.
class LocalArchive {
  public:
    /// `name`: the name of the top in the archive. An error if `path` can't be read.
    static Result<LocalArchive> open(std::string path, std::string name);

    /// The next piece; empty at the end. An error leaves the archive without an end.
    Result<std::string> next();

    /// What was left out, or changed while it was read.
    const std::vector<std::string>& notes() const { return notes_; }

  private:
    struct Member {
        std::string path;
        std::string name;
    };

    Result<std::string> begin(const Member& member);
    Result<std::string> content();
    Result<void> add_children(const Member& directory);
    void note(std::string text);

    std::vector<Member> waiting_;  ///< the next one last
    bool top_ = true;
    UniqueFd file_;
    std::string file_path_;
    std::uint64_t left_ = 0;  ///< of the file
    std::uint64_t size_ = 0;
    bool ended_ = false;
    std::vector<std::string> notes_;
};

}  // namespace muster::cli
