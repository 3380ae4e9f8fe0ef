#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace muster::net {

/// How many bytes the clients of a process may have in its memory at a time: their requests, and
/// answers that they have not received yet. Thread: one loop.
class ByteBudget {
  public:
    explicit ByteBudget(std::size_t most) : most_(most) {}

    /// The part of one connection; its destruction gives it back. Null budget: no limit.
    class Share {
      public:
        explicit Share(std::shared_ptr<ByteBudget> budget) : budget_(std::move(budget)) {}
        ~Share() { set(0); }
        Share(const Share&) = delete;
        Share& operator=(const Share&) = delete;

        /// Takes this many bytes from now on, if the budget has them. The only share in use may
        /// exceed the budget, because something larger would never be let in otherwise.
        bool try_set(std::size_t bytes) {
            if (budget_ != nullptr && bytes > bytes_) {
                const std::size_t others = budget_->used_ - bytes_;
                if (others > 0 && others + bytes > budget_->most_) return false;
            }
            set(bytes);
            return true;
        }
        /// Takes this many, whatever the others have.
        void set(std::size_t bytes) {
            if (budget_ != nullptr) budget_->used_ = budget_->used_ - bytes_ + bytes;
            bytes_ = bytes;
        }

      private:
        std::shared_ptr<ByteBudget> budget_;
        std::size_t bytes_ = 0;
    };

    std::size_t used() const { return used_; }

  private:
    std::size_t most_;
    std::size_t used_ = 0;
};

}  // namespace muster::net
