#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace muster::process {

/// A stack for a child that shares our memory while we wait for it (CLONE_VM | CLONE_VFORK).
class CloneStack {
  public:
    static constexpr std::size_t kSize = 64 * 1024;

    CloneStack()
        : base_(::mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {}
    ~CloneStack() {
        if (base_ != MAP_FAILED) ::munmap(base_, kSize);
    }
    CloneStack(const CloneStack&) = delete;
    CloneStack& operator=(const CloneStack&) = delete;

    /// Null if it could not be mapped.
    void* top() const { return base_ == MAP_FAILED ? nullptr : static_cast<char*>(base_) + kSize; }

  private:
    void* base_;
};

}  // namespace muster::process
