#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>

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
        last_is_owned_ = false;
    }
    /// The next bytes, which belong to this file alone. What is added so one after the other is one piece.
    void add_owned(std::string_view bytes) {
        if (bytes.empty()) return;
        if (!last_is_owned_) {
            owned_.emplace_back();
            pieces_.emplace_back();
        }
        owned_.back() += bytes;
        // The strings of a deque stay where they are when it grows or moves, and so do the bytes of short ones.
        pieces_.back() = std::as_bytes(std::span(owned_.back()));
        bytes_ += bytes.size();
        last_is_owned_ = true;
    }

    const Pieces& pieces() const { return pieces_; }
    std::uint64_t bytes() const { return bytes_; }

  private:
    std::deque<std::string> owned_;
    Pieces pieces_;
    std::uint64_t bytes_ = 0;
    bool last_is_owned_ = false;
};

}  // namespace muster::checkpoint
