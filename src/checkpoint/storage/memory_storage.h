#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/storage/storage.h"

namespace muster::checkpoint {

class MemoryTree;

/// A storage in memory for tests, with faults, that promises less than a disk does (MemoryTree).
///
/// Each call, those of its files too, is one operation, and is counted whether it succeeds or not: a test does its work once
/// to know how many there are, and then once for each point at which something may happen. To remove a directory is one.
class MemoryStorage final : public Storage {
  public:
    struct Options {
        std::string name = "memory";
        std::uint64_t capacity = std::numeric_limits<std::uint64_t>::max();  ///< bytes of all files
        bool read_only = false;
        bool can_exchange = true;
        std::int64_t now_unix = 1'700'000'000;  ///< when files are modified
    };
    MemoryStorage();
    explicit MemoryStorage(Options options);
    ~MemoryStorage() override;

    // Faults, by the number of an operation, from 0 on. One that fails has done nothing.

    void fail_at(std::uint64_t operation, Error error);
    void fail_from(std::uint64_t operation, Error error);
    /// This and all later ones are kUnavailable.
    void lose_power_at(std::uint64_t operation);
    /// Is called before each operation, on its thread, and may block: "write 1000/a". Set it before threads use this.
    void before_each(std::function<void(std::string_view operation)> hook);
    void set_capacity(std::uint64_t bytes);
    void set_read_only(bool read_only);
    void set_now(std::int64_t now_unix);
    /// Changes a bit of a file that is there, also of what is durable. False: it has not so many bytes.
    bool flip_bit(std::string_view path, std::uint64_t byte);

    std::uint64_t operations() const;          ///< until now
    std::vector<std::string> history() const;  ///< each operation, as before_each() has it
    /// What the machine finds when it has power again, without faults and locks. Seed 0: what is certain; 1: all; others:
    /// what is certain, and of the rest some by chance.
    std::unique_ptr<MemoryStorage> after_power_loss(std::uint64_t seed) const;

    std::string name() const override;
    Result<std::unique_ptr<NewFile>> create(std::string_view path, std::uint64_t bytes) override;
    Result<std::unique_ptr<StoredFile>> open(std::string_view path) const override;
    Result<void> make_directory(std::string_view path) override;
    Result<std::vector<Entry>> list(std::string_view path) const override;
    Result<void> rename(std::string_view from, std::string_view to) override;
    Result<void> exchange(std::string_view one, std::string_view other) override;
    Result<void> remove(std::string_view path) override;
    Result<void> sync_directory(std::string_view path) override;
    Result<std::unique_ptr<StorageLock>> lock(std::string_view path,
                                              std::string_view purpose) override;

  private:
    class Disk;
    class File;
    class Reader;
    class Lock;
    MemoryStorage(Options options, MemoryTree tree);

    std::shared_ptr<Disk> disk_;  ///< shared with its files
};

}  // namespace muster::checkpoint
