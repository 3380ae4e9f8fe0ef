#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "base/async/async.h"
#include "base/result.h"

namespace muster::workers {

/// The file to which workers' hooks write what they import. Notices when it is written, without
/// polling. Owns a descriptor. Thread: the loop.
class ImportList {
  public:
    ImportList(asio::any_io_executor executor, std::filesystem::path path);

    const std::filesystem::path& path() const { return path_; }
    bool exists() const;
    /// Forgets all writes so far.
    void forget();
    /// Returns when the file has been written since. Never returns if the system can't report it.
    Task<void> written();

  private:
    /// Reads the pending notices; true if one of them is about the file.
    bool take_notices();

    std::filesystem::path path_;
    std::optional<asio::posix::stream_descriptor> notices_;
    asio::any_io_executor executor_;
};

}  // namespace muster::workers
