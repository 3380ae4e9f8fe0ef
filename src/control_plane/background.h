#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace muster::control_plane {

/// Of a command that goes on in the background: the child goes on, the parent waits until the child
/// is ready or gone and then exits with what it was told.
///
/// Before any thread is started and any loop made.
class Background {
  public:
    /// In the parent it never returns. The child's outputs go to `log` from here on.
    static Result<Background> start(const std::filesystem::path& log);
    ~Background();
    Background(Background&& other) noexcept : ready_(other.ready_) { other.ready_ = -1; }
    Background& operator=(Background&&) = delete;

    /// The parent prints `text` and exits with 0.
    void ready(const std::string& text);
    /// The parent prints `text` on its standard error and exits with 1, as it does when the child
    /// ends without a word.
    void failed(const std::string& text);

  private:
    explicit Background(int ready) : ready_(ready) {}
    void tell(char outcome, const std::string& text);

    int ready_ = -1;
};

}  // namespace muster::control_plane
