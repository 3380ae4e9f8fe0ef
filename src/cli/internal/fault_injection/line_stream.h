#pragma once

#include <memory>
#include <optional>
#include <string>

#include "net/byte_stream.h"

namespace muster::cli {

/// A connection on which both sides send whole lines. Thread: its loop.
class LineStream {
  public:
    explicit LineStream(std::unique_ptr<net::ByteStream> bytes) : bytes_(std::move(bytes)) {}

    /// A line without its end; nullopt at the end of the other side's data. kInvalid for a line
    /// that is longer than any of ours. A cancelled reader loses nothing.
    Task<Result<std::optional<std::string>>> read();
    Task<Result<void>> write(std::string line);
    /// Nothing more will be written.
    Task<Result<void>> finish() { return bytes_->shut_down_write(); }

  private:
    std::unique_ptr<net::ByteStream> bytes_;
    std::string pending_;
    std::size_t begin_ = 0;     ///< of the next line
    std::size_t searched_ = 0;  ///< up to here there is no end of a line
};

}  // namespace muster::cli
