#include "checkpoint/storage/memory_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "checkpoint/storage/memory_tree.h"
#include "checkpoint/storage/storage_failure.h"
#include "checkpoint/storage/storage_path.h"

namespace muster::checkpoint {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

Error in_one_another(std::string_view one, std::string_view other) {
    return Error(Code::kInvalid, fmt::format("rename {} to {}: one is in the other", one, other));
}

}  // namespace

/// The tree and its faults. Whatever thread takes `mutex`.
class MemoryStorage::Disk {
  public:
    enum class Kind : std::uint8_t { kReads, kChanges };

    Disk(Options options, MemoryTree tree) : options(std::move(options)), tree(std::move(tree)) {}

    /// Before anything is done; without the mutex.
    Result<void> begin(Kind kind, std::string operation) {
        if (hook) hook(operation);
        const std::lock_guard lock(mutex);
        const std::uint64_t number = history.size();
        history.push_back(std::move(operation));
        if (number >= power_lost_at) return Error(Code::kUnavailable, "the power is lost");
        if (const auto fault = faults.find(number); fault != faults.end()) return fault->second;
        if (number >= fails_from) return *failure;
        if (kind == Kind::kChanges && options.read_only)
            return storage_failure(history.back(), options.name, EROFS);
        return {};
    }

    std::mutex mutex;
    Options options;  ///< guarded by the mutex, as is what follows
    MemoryTree tree;
    std::vector<std::string> history;
    std::map<std::uint64_t, Error> faults;
    std::uint64_t fails_from = kNever;
    std::optional<Error> failure;
    std::uint64_t power_lost_at = kNever;
    std::map<const MemoryFile*, std::string> locks;  ///< who has them
    std::function<void(std::string_view)> hook;      ///< does not change while others use this
};

class MemoryStorage::File final : public NewFile {
  public:
    File(std::shared_ptr<Disk> disk, std::shared_ptr<MemoryFile> file, std::string path)
        : disk_(std::move(disk)), file_(std::move(file)), path_(std::move(path)) {}

    Result<void> write(std::uint64_t at, std::span<const std::byte> bytes) override {
        TRY_VOID(disk_->begin(Disk::Kind::kChanges, "write " + path_));
        const std::lock_guard lock(disk_->mutex);
        if (at > file_->now.size() || bytes.size() > file_->now.size() - at)
            return Error(Code::kInvalid, fmt::format("write {}: {} bytes at {} are beyond its {}",
                                                     path_, bytes.size(), at, file_->now.size()));
        if (bytes.empty()) return {};
        std::memcpy(file_->now.data() + at, bytes.data(), bytes.size());
        file_->dirty = true;
        file_->modified_unix = disk_->options.now_unix;
        return {};
    }

    Result<void> sync() override {
        TRY_VOID(disk_->begin(Disk::Kind::kChanges, "sync " + path_));
        const std::lock_guard lock(disk_->mutex);
        file_->durable = file_->now;
        file_->dirty = false;
        return {};
    }

  private:
    std::shared_ptr<Disk> disk_;
    std::shared_ptr<MemoryFile> file_;
    std::string path_;
};

class MemoryStorage::Reader final : public StoredFile {
  public:
    Reader(std::shared_ptr<Disk> disk, std::shared_ptr<MemoryFile> file, std::string path,
           std::uint64_t bytes)
        : disk_(std::move(disk)), file_(std::move(file)), path_(std::move(path)), bytes_(bytes) {}

    std::uint64_t bytes() const override { return bytes_; }

    Result<void> read(std::uint64_t at, std::span<std::byte> into) const override {
        TRY_VOID(disk_->begin(Disk::Kind::kReads, "read " + path_));
        const std::lock_guard lock(disk_->mutex);
        if (at > file_->now.size() || into.size() > file_->now.size() - at)
            return Error(Code::kInvalid, fmt::format("read {}: it ends after {} bytes, before {}",
                                                     path_, file_->now.size(), at + into.size()));
        if (!into.empty()) std::memcpy(into.data(), file_->now.data() + at, into.size());
        return {};
    }

  private:
    std::shared_ptr<Disk> disk_;
    std::shared_ptr<MemoryFile> file_;
    std::string path_;
    std::uint64_t bytes_;
};

class MemoryStorage::Lock final : public StorageLock {
  public:
    Lock(std::shared_ptr<Disk> disk, std::shared_ptr<MemoryFile> file)
        : disk_(std::move(disk)), file_(std::move(file)) {}
    ~Lock() override {
        const std::lock_guard lock(disk_->mutex);
        disk_->locks.erase(file_.get());
    }

  private:
    std::shared_ptr<Disk> disk_;
    std::shared_ptr<MemoryFile> file_;
};

MemoryStorage::MemoryStorage() : MemoryStorage(Options()) {}
MemoryStorage::MemoryStorage(Options options) : MemoryStorage(std::move(options), MemoryTree()) {}
MemoryStorage::MemoryStorage(Options options, MemoryTree tree)
    : disk_(std::make_shared<Disk>(std::move(options), std::move(tree))) {}
MemoryStorage::~MemoryStorage() = default;

void MemoryStorage::fail_at(std::uint64_t operation, Error error) {
    const std::lock_guard lock(disk_->mutex);
    disk_->faults.insert_or_assign(operation, std::move(error));
}

void MemoryStorage::fail_from(std::uint64_t operation, Error error) {
    const std::lock_guard lock(disk_->mutex);
    disk_->fails_from = operation;
    disk_->failure = std::move(error);
}

void MemoryStorage::lose_power_at(std::uint64_t operation) {
    const std::lock_guard lock(disk_->mutex);
    disk_->power_lost_at = operation;
}

void MemoryStorage::before_each(std::function<void(std::string_view operation)> hook) {
    disk_->hook = std::move(hook);
}

void MemoryStorage::set_capacity(std::uint64_t bytes) {
    const std::lock_guard lock(disk_->mutex);
    disk_->options.capacity = bytes;
}

void MemoryStorage::set_read_only(bool read_only) {
    const std::lock_guard lock(disk_->mutex);
    disk_->options.read_only = read_only;
}

void MemoryStorage::set_now(std::int64_t now_unix) {
    const std::lock_guard lock(disk_->mutex);
    disk_->options.now_unix = now_unix;
}

bool MemoryStorage::flip_bit(std::string_view path, std::uint64_t byte) {
    const std::lock_guard lock(disk_->mutex);
    const auto id = disk_->tree.find("damage", path);
    if (!id || disk_->tree.is_directory(*id)) return false;
    const auto file = disk_->tree.file(*id);
    if (byte >= file->now.size()) return false;
    file->now[byte] ^= std::byte{1};
    if (byte < file->durable.size()) file->durable[byte] ^= std::byte{1};
    return true;
}

std::uint64_t MemoryStorage::operations() const {
    const std::lock_guard lock(disk_->mutex);
    return disk_->history.size();
}

std::vector<std::string> MemoryStorage::history() const {
    const std::lock_guard lock(disk_->mutex);
    return disk_->history;
}

std::unique_ptr<MemoryStorage> MemoryStorage::after_power_loss(std::uint64_t seed) const {
    const std::lock_guard lock(disk_->mutex);
    return std::unique_ptr<MemoryStorage>(
        new MemoryStorage(disk_->options, disk_->tree.after_power_loss(seed)));
}

std::string MemoryStorage::name() const {
    const std::lock_guard lock(disk_->mutex);
    return disk_->options.name;
}

Result<std::unique_ptr<NewFile>> MemoryStorage::create(std::string_view path, std::uint64_t bytes) {
    TRY_VOID(disk_->begin(Disk::Kind::kChanges, fmt::format("create {}", path)));
    const std::lock_guard lock(disk_->mutex);
    MemoryTree& tree = disk_->tree;
    TRY(auto place, tree.place_of("create", path));
    const auto old = tree.at(place);
    if (old && tree.is_directory(*old))
        return Error(Code::kConflict, fmt::format("create {}: a directory has that name", path));
    const std::uint64_t freed = old ? tree.file(*old)->now.size() : 0;
    const std::uint64_t used = tree.bytes() - freed;
    if (used > disk_->options.capacity || bytes > disk_->options.capacity - used)
        return storage_failure(fmt::format("reserve {} bytes for", bytes), path, ENOSPC);
    const MemoryTree::Id id = tree.new_file();
    const auto file = tree.file(id);
    file->now.resize(bytes);
    file->modified_unix = disk_->options.now_unix;
    tree.change({{.place = std::move(place), .before = old, .after = id}});
    return std::make_unique<File>(disk_, file, std::string(path));
}

Result<std::unique_ptr<StoredFile>> MemoryStorage::open(std::string_view path) const {
    TRY_VOID(disk_->begin(Disk::Kind::kReads, fmt::format("open {}", path)));
    const std::lock_guard lock(disk_->mutex);
    TRY(const auto id, disk_->tree.find("open", path));
    if (disk_->tree.is_directory(id))
        return Error(Code::kInvalid, fmt::format("open {}: it is no file", path));
    const auto file = disk_->tree.file(id);
    return std::make_unique<Reader>(disk_, file, std::string(path), file->now.size());
}

Result<void> MemoryStorage::make_directory(std::string_view path) {
    TRY_VOID(disk_->begin(Disk::Kind::kChanges, fmt::format("make {}", path)));
    const std::lock_guard lock(disk_->mutex);
    MemoryTree& tree = disk_->tree;
    TRY(const auto parts, parts_of(path));
    MemoryTree::Id above = MemoryTree::kRoot;
    for (const std::string_view part : parts) {
        MemoryTree::Place place{.directory = above, .name = std::string(part)};
        if (const auto there = tree.at(place); there) {
            above = *there;
            if (tree.is_directory(above)) continue;
            return storage_failure("make", path, ENOTDIR);
        }
        above = tree.new_directory();
        tree.change({{.place = std::move(place), .before = std::nullopt, .after = above}});
    }
    return {};
}

Result<std::vector<Storage::Entry>> MemoryStorage::list(std::string_view path) const {
    TRY_VOID(disk_->begin(Disk::Kind::kReads, fmt::format("list {}", path)));
    const std::lock_guard lock(disk_->mutex);
    const MemoryTree& tree = disk_->tree;
    TRY(const auto id, tree.find("list", path));
    if (!tree.is_directory(id)) return storage_failure("list", path, ENOTDIR);
    std::vector<Entry> entries;
    for (const auto& [name, inner] : tree.names_in(id)) {
        const auto file = tree.file(inner);
        entries.push_back(
            {.name = name,
             .directory = file == nullptr,
             .bytes = file == nullptr ? 0 : file->now.size(),
             .modified_unix = file == nullptr ? disk_->options.now_unix : file->modified_unix});
    }
    return entries;
}

Result<void> MemoryStorage::rename(std::string_view from, std::string_view to) {
    TRY_VOID(disk_->begin(Disk::Kind::kChanges, fmt::format("rename {} {}", from, to)));
    const std::lock_guard lock(disk_->mutex);
    MemoryTree& tree = disk_->tree;
    TRY(auto old_place, tree.place_of("rename", from));
    TRY(auto new_place, tree.place_of("rename", to));
    if (from == to)
        return tree.at(old_place) ? Result<void>() : storage_failure("rename", from, ENOENT);
    if (is_within(to, from)) return in_one_another(from, to);
    const auto moved = tree.at(old_place);
    if (!moved) return storage_failure("rename", from, ENOENT);
    const auto replaced = tree.at(new_place);
    if (replaced && (tree.is_directory(*replaced) != tree.is_directory(*moved) ||
                     !tree.names_in(*replaced).empty()))
        return Error(Code::kConflict,
                     fmt::format("rename {} to {}: something else has that name", from, to));
    tree.change({{.place = std::move(old_place), .before = moved, .after = std::nullopt},
                 {.place = std::move(new_place), .before = replaced, .after = moved}});
    return {};
}

Result<void> MemoryStorage::exchange(std::string_view one, std::string_view other) {
    TRY_VOID(disk_->begin(Disk::Kind::kChanges, fmt::format("exchange {} {}", one, other)));
    const std::lock_guard lock(disk_->mutex);
    if (!disk_->options.can_exchange)
        return storage_failure("exchange", fmt::format("{} and {}", one, other), EOPNOTSUPP);
    MemoryTree& tree = disk_->tree;
    TRY(auto one_place, tree.place_of("exchange", one));
    TRY(auto other_place, tree.place_of("exchange", other));
    const auto first = tree.at(one_place);
    const auto second = tree.at(other_place);
    if (!first || !second) return storage_failure("exchange", first ? other : one, ENOENT);
    if (one == other) return {};
    if (is_within(one, other) || is_within(other, one)) return in_one_another(one, other);
    tree.change({{.place = std::move(one_place), .before = first, .after = second},
                 {.place = std::move(other_place), .before = second, .after = first}});
    return {};
}

Result<void> MemoryStorage::remove(std::string_view path) {
    TRY_VOID(disk_->begin(Disk::Kind::kChanges, fmt::format("remove {}", path)));
    const std::lock_guard lock(disk_->mutex);
    const auto place = disk_->tree.place_of("remove", path);
    if (!place && place.error().code() == Code::kNotFound) return {};
    if (!place) return place.error();
    disk_->tree.remove_name(*place);
    return {};
}

Result<void> MemoryStorage::sync_directory(std::string_view path) {
    TRY_VOID(disk_->begin(Disk::Kind::kChanges, fmt::format("sync {}/", path)));
    const std::lock_guard lock(disk_->mutex);
    TRY(const auto id, disk_->tree.find("bring to the disk", path));
    if (!disk_->tree.is_directory(id)) return storage_failure("bring to the disk", path, ENOTDIR);
    disk_->tree.sync_names(id);
    return {};
}

Result<std::unique_ptr<StorageLock>> MemoryStorage::lock(std::string_view path,
                                                         std::string_view purpose) {
    TRY_VOID(disk_->begin(Disk::Kind::kChanges, fmt::format("lock {}", path)));
    const std::lock_guard lock(disk_->mutex);
    MemoryTree& tree = disk_->tree;
    TRY(auto place, tree.place_of("lock", path));
    auto id = tree.at(place);
    if (id && tree.is_directory(*id)) return storage_failure("lock", path, EISDIR);
    if (!id) {
        id = tree.new_file();
        tree.change({{.place = std::move(place), .before = std::nullopt, .after = id}});
    }
    const auto file = tree.file(*id);
    const auto [holder, taken] = disk_->locks.emplace(file.get(), std::string(purpose));
    if (!taken)
        return Error(Code::kConflict, fmt::format("{} is locked: {}", path, holder->second));
    return std::make_unique<Lock>(disk_, file);
}

}  // namespace muster::checkpoint
