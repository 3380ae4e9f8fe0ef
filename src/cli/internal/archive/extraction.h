#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cli/internal/archive/tar_entry.h"

namespace muster::cli {

/// Where a member goes below the target: its path without `prefix`, by names that are none of "",
/// "." and "..". Empty for the prefix itself. kInvalid if it is not below the prefix, or leads out
/// of it. Pure.
Result<std::vector<std::string>> names_below(std::string_view prefix, std::string_view path);

/// Writes members of an archive below a directory, and nothing outside of it: no link is made, and
/// none is followed, whoever made it. What exists is overwritten. Blocks.
class Extraction {
  public:
    /// `target`: what the member `prefix` becomes, a file or a directory. The directory that it is in
    /// must exist.
    Extraction(std::string target, std::string prefix)
        : target_(std::move(target)), prefix_(std::move(prefix)) {}

    /// Begins a member. What is left out has a note.
    Result<void> begin(const TarEntry& entry);
    /// A piece of its content.
    Result<void> write(std::string_view data);
    /// Closes what is open, and says if that fails.
    Result<void> finish();

    const std::vector<std::string>& notes() const { return notes_; }
    std::size_t files() const { return files_; }

  private:
    Result<UniqueFd> directory_of(const std::vector<std::string>& names);
    Result<void> make_directory(const std::vector<std::string>& names, std::uint32_t mode);
    Result<void> open_file(const std::vector<std::string>& names, std::uint32_t mode);
    void note(std::string text);

    const std::string target_;
    const std::string prefix_;
    UniqueFd file_;
    std::string file_name_;
    std::vector<std::string> notes_;
    std::size_t files_ = 0;
};

}  // namespace muster::cli
