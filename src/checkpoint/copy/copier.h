#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace muster::checkpoint {

struct Copying {
    std::byte* to;
    const std::byte* from;
    std::size_t bytes;
};

/// More of them than this gain nothing: memory is the limit.
inline constexpr int kMostCopyThreads = 16;

/// Copies much memory as quickly as the machine can, past its caches, with threads that stay for the next
/// time and sleep until then.
///
/// Thread: one at a time.
class Copier {
  public:
    /// `threads`: with that of the caller, 1 to kMostCopyThreads.
    explicit Copier(int threads);
    ~Copier();
    Copier(const Copier&) = delete;
    Copier& operator=(const Copier&) = delete;

    /// Returns when everything is copied. What the caller stores after that is seen by no other process
    /// before the copies. The parts must not overlap.
    void copy(std::span<const Copying> parts);

  private:
    class Pool;
    std::unique_ptr<Pool> pool_;
};

}  // namespace muster::checkpoint
