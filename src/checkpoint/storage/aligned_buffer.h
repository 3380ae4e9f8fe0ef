#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "checkpoint/image/table.h"

namespace muster::checkpoint {

/// Memory that begins at a page, as direct I/O wants it.
class AlignedBuffer {
  public:
    explicit AlignedBuffer(std::size_t bytes)
        : memory_(static_cast<std::byte*>(::operator new(bytes, kAlignment))), bytes_(bytes) {}

    std::span<std::byte> bytes() { return {memory_.get(), bytes_}; }

  private:
    static constexpr std::align_val_t kAlignment{kPage};
    struct Free {
        void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
    };

    std::unique_ptr<std::byte, Free> memory_;
    std::size_t bytes_;
};

}  // namespace muster::checkpoint
