#include "store/power_cut_fixture.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "base/rng.h"

namespace muster::store {

namespace {

/// One operation that is not synced yet.
struct Unsynced {
    std::size_t offset = 0;
    std::string data;
    std::optional<std::size_t> truncated_to;
};

void apply(const Unsynced& operation, std::size_t bytes, std::string& content) {
    if (operation.truncated_to) {
        content.resize(*operation.truncated_to);
        return;
    }
    if (content.size() < operation.offset + bytes) content.resize(operation.offset + bytes);
    content.replace(operation.offset, bytes, operation.data, 0, bytes);
}

struct Image {
    std::string synced;
    std::vector<Unsynced> unsynced;
};

}  // namespace

struct BreakingDisk::State {
    // One of SQLite's files: ours first, followed by the real one in the same memory.
    struct File {
        sqlite3_file base;
        State* disk;
        Image* image;  // null: not recorded, a temporary file
        sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
    };

    explicit State(std::uint64_t seed) : rng(seed) {}

    static File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
    static State& of(sqlite3_vfs* vfs) { return *static_cast<State*>(vfs->pAppData); }

    /// Counts an operation; returns its result if the disk does not carry it out.
    std::optional<int> refuse(Image* image, const Unsynced* written, bool is_sync) {
        const std::lock_guard hold(mutex);
        ++count;
        if (is_sync) ++syncs;
        if (image != nullptr && written != nullptr) image->unsynced.push_back(*written);
        if (!out && cut_at && count >= *cut_at) {
            out = true;
            survive();
        }
        if (out) return is_sync ? SQLITE_IOERR_FSYNC : SQLITE_IOERR_WRITE;
        if (fault_at && count >= *fault_at) {
            if (fault == Fault::kFailedSync && is_sync) return SQLITE_IOERR_FSYNC;
            if (fault == Fault::kFull && !is_sync) return SQLITE_FULL;
            if (fault == Fault::kFailedWrite && !is_sync) return SQLITE_IOERR_WRITE;
        }
        if (image != nullptr && is_sync) {
            for (const Unsynced& one : image->unsynced) apply(one, one.data.size(), image->synced);
            image->unsynced.clear();
        }
        return std::nullopt;
    }

    void survive() {
        constexpr std::size_t kSector = 512;
        for (const auto& [path, image] : images) {
            if (!std::filesystem::exists(path)) continue;
            std::string content = image.synced;
            for (const Unsynced& one : image.unsynced) {
                if (rng.chance(0.5)) continue;
                std::size_t bytes = one.data.size();
                if (bytes > kSector && rng.chance(0.25))
                    bytes = kSector * rng.below(bytes / kSector);
                apply(one, bytes, content);
            }
            const std::string file = std::filesystem::path(path).filename().string();
            std::ofstream(survivors + "/" + file, std::ios::binary) << content;
        }
    }

    Image* image_of(const char* path) {
        const std::lock_guard hold(mutex);
        auto [at, fresh] = images.try_emplace(path);
        if (fresh) {
            std::ifstream found(path, std::ios::binary);
            at->second.synced.assign(std::istreambuf_iterator<char>(found), {});
        }
        return &at->second;
    }

    // ---- what SQLite calls ----

    static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* given) {
        State& disk = of(vfs);
        File& made = of(file);
        made.base.pMethods = nullptr;
        made.disk = &disk;
        const int code = disk.real->xOpen(disk.real, path, made.real(), flags, given);
        if (made.real()->pMethods == nullptr) return code;
        made.base.pMethods = &kMethods;
        made.image = path == nullptr ? nullptr : disk.image_of(path);
        return code;
    }
    static int remove(sqlite3_vfs* vfs, const char* path, int sync_folder) {
        State& disk = of(vfs);
        {
            const std::lock_guard hold(disk.mutex);
            if (disk.out) return SQLITE_IOERR_DELETE;
            // The image stays as long as the file is open.
            if (auto at = disk.images.find(path); at != disk.images.end()) at->second = {};
        }
        return disk.real->xDelete(disk.real, path, sync_folder);
    }
    static int access(sqlite3_vfs* vfs, const char* path, int flags, int* result) {
        return of(vfs).real->xAccess(of(vfs).real, path, flags, result);
    }
    static int full_path(sqlite3_vfs* vfs, const char* path, int size, char* full) {
        return of(vfs).real->xFullPathname(of(vfs).real, path, size, full);
    }

    static int close(sqlite3_file* file) {
        return of(file).real()->pMethods->xClose(of(file).real());
    }
    static int read(sqlite3_file* file, void* data, int bytes, sqlite3_int64 offset) {
        return of(file).real()->pMethods->xRead(of(file).real(), data, bytes, offset);
    }
    static int write(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 offset) {
        const Unsynced written{
            static_cast<std::size_t>(offset),
            std::string(static_cast<const char*>(data), static_cast<std::size_t>(bytes)),
            std::nullopt};
        if (auto refused = of(file).disk->refuse(of(file).image, &written, false)) return *refused;
        return of(file).real()->pMethods->xWrite(of(file).real(), data, bytes, offset);
    }
    static int truncate(sqlite3_file* file, sqlite3_int64 size) {
        const Unsynced written{0, {}, static_cast<std::size_t>(size)};
        if (auto refused = of(file).disk->refuse(of(file).image, &written, false)) return *refused;
        return of(file).real()->pMethods->xTruncate(of(file).real(), size);
    }
    static int sync(sqlite3_file* file, int) {
        return of(file).disk->refuse(of(file).image, nullptr, true).value_or(SQLITE_OK);
    }
    static int size(sqlite3_file* file, sqlite3_int64* bytes) {
        return of(file).real()->pMethods->xFileSize(of(file).real(), bytes);
    }
    static int lock(sqlite3_file* file, int level) {
        return of(file).real()->pMethods->xLock(of(file).real(), level);
    }
    static int unlock(sqlite3_file* file, int level) {
        return of(file).real()->pMethods->xUnlock(of(file).real(), level);
    }
    static int check_lock(sqlite3_file* file, int* result) {
        return of(file).real()->pMethods->xCheckReservedLock(of(file).real(), result);
    }
    static int control(sqlite3_file* file, int operation, void* argument) {
        return of(file).real()->pMethods->xFileControl(of(file).real(), operation, argument);
    }
    static int sector(sqlite3_file* file) {
        return of(file).real()->pMethods->xSectorSize(of(file).real());
    }
    static int characteristics(sqlite3_file* file) {
        return of(file).real()->pMethods->xDeviceCharacteristics(of(file).real());
    }
    static int shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** memory) {
        return of(file).real()->pMethods->xShmMap(of(file).real(), page, size, extend, memory);
    }
    static int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
        return of(file).real()->pMethods->xShmLock(of(file).real(), offset, count, flags);
    }
    static void shm_barrier(sqlite3_file* file) {
        of(file).real()->pMethods->xShmBarrier(of(file).real());
    }
    static int shm_unmap(sqlite3_file* file, int remove_it) {
        return of(file).real()->pMethods->xShmUnmap(of(file).real(), remove_it);
    }

    // Version 2: no memory-mapped reading, which would go past read().
    static constexpr sqlite3_io_methods kMethods = {
        2,         close,      read,    write,  truncate,        sync,    size,     lock,
        unlock,    check_lock, control, sector, characteristics, shm_map, shm_lock, shm_barrier,
        shm_unmap, nullptr,    nullptr};

    sqlite3_vfs* real = nullptr;
    sqlite3_vfs vfs{};
    std::string name;

    mutable std::mutex mutex;  // of all below
    Rng rng;
    std::map<std::string, Image> images;
    std::uint64_t count = 0;
    std::uint64_t syncs = 0;
    std::optional<std::uint64_t> cut_at;
    std::string survivors;
    bool out = false;
    std::optional<std::uint64_t> fault_at;
    Fault fault = Fault::kFull;
};

BreakingDisk::BreakingDisk(std::uint64_t seed) : state_(std::make_unique<State>(seed)) {
    State& state = *state_;
    state.real = sqlite3_vfs_find(nullptr);
    state.name = fmt::format("breaking-{}", static_cast<const void*>(state_.get()));
    state.vfs = *state.real;
    state.vfs.zName = state.name.c_str();
    state.vfs.szOsFile = static_cast<int>(sizeof(State::File)) + state.real->szOsFile;
    state.vfs.pNext = nullptr;
    state.vfs.pAppData = state_.get();
    state.vfs.xOpen = State::open;
    state.vfs.xDelete = State::remove;
    state.vfs.xAccess = State::access;
    state.vfs.xFullPathname = State::full_path;
    sqlite3_vfs_register(&state.vfs, 0);
}

BreakingDisk::~BreakingDisk() { sqlite3_vfs_unregister(&state_->vfs); }

const std::string& BreakingDisk::name() const { return state_->name; }

void BreakingDisk::cut_power_after(std::uint64_t operations, std::string folder) {
    const std::lock_guard hold(state_->mutex);
    state_->cut_at = state_->count + operations;
    state_->survivors = std::move(folder);
}

bool BreakingDisk::is_out() const {
    const std::lock_guard hold(state_->mutex);
    return state_->out;
}

void BreakingDisk::fail_after(std::uint64_t operations, Fault fault) {
    const std::lock_guard hold(state_->mutex);
    state_->fault_at = state_->count + operations;
    state_->fault = fault;
}

std::uint64_t BreakingDisk::operations() const {
    const std::lock_guard hold(state_->mutex);
    return state_->count;
}

std::uint64_t BreakingDisk::syncs() const {
    const std::lock_guard hold(state_->mutex);
    return state_->syncs;
}

}  // namespace muster::store
