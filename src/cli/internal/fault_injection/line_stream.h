#pragma once

#include <memory>
#include <optional>
#include <string>

#include "net/byte_stream.h"

namespace muster::cli {

/// A connection on which each side says whole lines. Thread: its loop.
class LineStream {
  public:
    explicit LineStream(std::unique_ptr<net::ByteStream> bytes) : bytes_(std::move(bytes)) {}

    /// Without its end; nullopt at the end of what the other side sends. kInvalid for a line that
    /// is longer than any of ours. A cancelled reader loses nothing.
    Task<Result<std::optional<std::string>>> read();
    Task<Result<void>> write(std::string line);
    /// Nothing more will be written.
    Task<Result<void>> finish() { return bytes_->shut_down_write(); }

  private:
    std::unique_ptr<net::ByteStream> bytes_;
    std::string pending_;
};

}  // namespace muster::cli
