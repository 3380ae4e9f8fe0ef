#pragma once

#include <filesystem>

#include "base/result.h"

namespace muster::cli {

/// A private directory (0700) for one run, removed with everything in it at the end unless kept.
class StateDir {
  public:
    /// Below `parent`; the name is unique.
    static Result<StateDir> create(const std::filesystem::path& parent);
    ~StateDir();

    StateDir(StateDir&& other) noexcept
        : path_(std::exchange(other.path_, {})), kept_(other.kept_) {}
    StateDir& operator=(StateDir&&) = delete;

    const std::filesystem::path& path() const { return path_; }
    void keep() { kept_ = true; }

  private:
    explicit StateDir(std::filesystem::path path) : path_(std::move(path)) {}

    std::filesystem::path path_;
    bool kept_ = false;
};

}  // namespace muster::cli
