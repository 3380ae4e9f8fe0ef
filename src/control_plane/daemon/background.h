#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time/clock.h"

namespace muster::control_plane {

/// For a command that continues in the background: the child continues; the parent waits until the
/// child is ready or gone, and then exits with what the child told it.
///
/// To be used before any thread or loop exists.
class Background {
  public:
    /// Never returns in the parent. From here on the child's output goes to `path`, which stays
    /// bounded (DaemonLog); `time` is the time of its lines.
    /// `verb`: "muster up", for what the parent says.
    static Result<Background> start(std::string_view verb, const std::filesystem::path& path,
                                    std::function<WallTime()> time);
    ~Background();
    Background(Background&& other) noexcept : ready_(other.ready_) { other.ready_ = -1; }
    Background& operator=(Background&&) = delete;

    /// The parent prints `text` and exits with 0.
    void ready(const std::string& text);
    /// When the child has ended, the parent prints `text` on standard error and exits with 1. It also
    /// exits with 1 if the child ends without a message.
    void failed(const std::string& text);

  private:
    explicit Background(int ready) : ready_(ready) {}
    void tell(char outcome, const std::string& text);

    int ready_ = -1;
};

}  // namespace muster::control_plane
