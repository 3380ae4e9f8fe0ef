#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "base/async/async.h"
#include "base/result.h"

namespace muster::workers {

/// The file in which workers' hooks say what they import. Sees when it is written, without looking
/// again and again. Owns a descriptor. Thread: the loop.
class ImportList {
  public:
    ImportList(asio::any_io_executor executor, std::filesystem::path path);

    const std::filesystem::path& path() const { return path_; }
    bool exists() const;
    /// Forgets what was written so far.
    void forget();
    /// Returns when it was written since. Never where the system gives no such notice.
    Task<void> written();

  private:
    /// Whether one of the notices that came is about it.
    bool take_notices();

    std::filesystem::path path_;
    std::optional<asio::posix::stream_descriptor> notices_;
    asio::any_io_executor executor_;
};

}  // namespace muster::workers
