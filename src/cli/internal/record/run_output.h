#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"

namespace muster::cli {

/// What a run printed, in a file that stays bounded: when it is full, it becomes FILE.1, and another
/// begins. After a failure nothing is written any more. Thread: one at a time; writes block.
class RunOutput {
  public:
    static constexpr std::uint64_t kFileBytes = std::uint64_t{8} << 20;

    explicit RunOutput(std::filesystem::path path, std::uint64_t file_bytes = kFileBytes)
        : path_(std::move(path)), file_bytes_(file_bytes) {}

    /// Whole lines.
    void write(std::string_view lines);
    /// Why it has stopped; once.
    std::optional<Error> take_failure();

  private:
    bool open();

    std::filesystem::path path_;
    std::uint64_t file_bytes_;
    std::uint64_t written_ = 0;
    UniqueFd file_;
    bool failed_ = false;
    std::optional<Error> failure_;
};

}  // namespace muster::cli
