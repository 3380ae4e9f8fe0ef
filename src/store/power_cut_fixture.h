#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace muster::store {

/// A disk under SQLite that a test can break: it distinguishes what was synced from what was only
/// written. While it exists, SQLite knows it by name(); files are otherwise real ones, but a sync
/// is not carried out, so that it is fast. Destroy it after every file on it is closed.
class BreakingDisk {
  public:
    explicit BreakingDisk(std::uint64_t seed);
    ~BreakingDisk();
    BreakingDisk(const BreakingDisk&) = delete;
    BreakingDisk& operator=(const BreakingDisk&) = delete;

    const std::string& name() const;

    /// At the n-th operation from now (a write, a truncation or a sync) the power fails. What a
    /// disk may hold then is put into `folder`, under the files' own names: everything that was
    /// synced, and a random part of what was written since, some of it torn. From then on
    /// everything fails.
    void cut_power_after(std::uint64_t operations, std::string folder);
    bool is_out() const;

    enum class Fault { kFull, kFailedSync, kFailedWrite };
    /// From the n-th operation from now on, operations of that kind fail.
    void fail_after(std::uint64_t operations, Fault fault);

    std::uint64_t operations() const;  ///< so far
    std::uint64_t syncs() const;       ///< so far

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace muster::store
