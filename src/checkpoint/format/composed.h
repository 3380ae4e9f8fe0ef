#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>

#include "checkpoint/image/pieces.h"

namespace muster::checkpoint {

/// A file that is made of the bytes of an image, which must stay as they are while this is used, and of
/// what a format puts around them, which this owns.
class Composed {
  public:
    Composed() = default;
    Composed(Composed&&) = default;
    Composed& operator=(Composed&&) = default;
    Composed(const Composed&) = delete;
    Composed& operator=(const Composed&) = delete;

    /// The next bytes, of an image.
    void add(std::span<const std::byte> bytes) {
        if (bytes.empty()) return;
        pieces_.push_back(bytes);
        bytes_ += bytes.size();
    }
    /// The next bytes, which belong to this file alone.
    void add_owned(std::string bytes) {
        // The strings of a deque stay where they are when it moves, and so do the bytes of short ones.
        add(std::as_bytes(std::span(owned_.emplace_back(std::move(bytes)))));
    }

    const Pieces& pieces() const { return pieces_; }
    std::uint64_t bytes() const { return bytes_; }

  private:
    std::deque<std::string> owned_;
    Pieces pieces_;
    std::uint64_t bytes_ = 0;
};

}  // namespace muster::checkpoint
