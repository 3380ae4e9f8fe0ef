#include "agent/node_check/compute_probe.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

namespace muster::agent {
namespace {

constexpr std::size_t kSide = 128;
/// More than fits into a processor's caches.
constexpr std::size_t kCopied = std::size_t{32} << 20;
constexpr std::size_t kWords = kCopied / sizeof(std::uint64_t);
/// The minimum time of a run; shorter ones are dominated by the clock's resolution.
constexpr Duration kRun = std::chrono::milliseconds(4);
constexpr int kFewestRuns = 3;

double a_second(double amount, Duration took) {
    return amount / std::chrono::duration<double>(std::max(took, Duration(1))).count();
}

/// The rate per second in the best of many runs. `once` does the work and returns its amount.
Task<double> best_of_runs(Clock& clock, Duration time, std::function<double()> once) {
    const auto executor = co_await asio::this_coro::executor;
    double best = 0;
    const Instant until = clock.now() + time;
    for (int run = 0; run < kFewestRuns || clock.now() < until; ++run) {
        const Instant from = clock.now();
        double amount = 0;
        do {
            amount += once();
        } while (clock.now() - from < kRun);
        best = std::max(best, a_second(amount, clock.now() - from));
        co_await asio::post(executor, asio::use_awaitable);
    }
    co_return best;
}

/// Filled with numbers for which sums of that many products are exact in single precision.
class Matrices {
  public:
    Matrices() : a_(kSide * kSide), b_(kSide * kSide), c_(kSide * kSide) {
        for (std::size_t i = 0; i < kSide; ++i)
            for (std::size_t k = 0; k < kSide; ++k) {
                a_[i * kSide + k] = static_cast<float>((i + 3 * k) % 7);
                b_[i * kSide + k] = static_cast<float>((2 * i + k) % 5);
            }
    }
    /// Returns the number of operations.
    double multiply() {
        std::ranges::fill(c_, 0.0F);
        for (std::size_t i = 0; i < kSide; ++i)
            for (std::size_t k = 0; k < kSide; ++k) {
                const float factor = a_[i * kSide + k];
                const float* const row = &b_[k * kSide];
                float* const sum = &c_[i * kSide];
                for (std::size_t j = 0; j < kSide; ++j) sum[j] += factor * row[j];
            }
        return 2.0 * kSide * kSide * kSide;
    }
    bool is_right() const {
        for (std::size_t i = 0; i < kSide; ++i)
            for (std::size_t j = 0; j < kSide; ++j) {
                std::size_t sum = 0;
                for (std::size_t k = 0; k < kSide; ++k) sum += (i + 3 * k) % 7 * ((2 * k + j) % 5);
                if (c_[i * kSide + j] != static_cast<float>(sum)) return false;
            }
        return true;
    }

  private:
    std::vector<float> a_;
    std::vector<float> b_;
    std::vector<float> c_;
};

/// Two buffers, copied over each other in turns.
class Copies {
  public:
    Copies() : from_(kWords), to_(kWords) {
        for (std::size_t i = 0; i < kWords; ++i) from_[i] = word(i);
    }
    /// Returns the bytes read and written.
    double copy() {
        std::memcpy(to_.data(), from_.data(), kCopied);
        std::swap(from_, to_);
        return 2.0 * kCopied;
    }
    bool is_right() const {
        for (std::size_t i = 0; i < kWords; ++i)
            if (from_[i] != word(i)) return false;
        return true;
    }

  private:
    static std::uint64_t word(std::uint64_t i) { return i * 0x9e3779b97f4a7c15; }

    std::vector<std::uint64_t> from_;
    std::vector<std::uint64_t> to_;
};

}  // namespace

Task<Result<ComputeFigures>> measure_compute(Clock& clock, Duration time) {
    ComputeFigures figures;
    {
        Matrices matrices;
        figures.flops = co_await best_of_runs(clock, time, [&] { return matrices.multiply(); });
        if (!matrices.is_right())
            co_return Error(Code::kInternal, "its processor computes wrong products");
    }
    Copies copies;
    figures.memory_bytes = co_await best_of_runs(clock, time, [&] { return copies.copy(); });
    if (!copies.is_right())
        co_return Error(Code::kInternal, "its memory returns other data than was stored");
    co_return figures;
}

}  // namespace muster::agent
