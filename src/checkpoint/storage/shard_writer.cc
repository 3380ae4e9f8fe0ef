#include "checkpoint/storage/shard_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "base/rng.h"
#include "checkpoint/image/digest.h"
#include "checkpoint/image/table.h"
#include "checkpoint/storage/aligned_buffer.h"
#include "checkpoint/storage/in_parallel.h"
#include "checkpoint/storage/storage_path.h"

namespace muster::checkpoint {
namespace {

constexpr std::string_view kTemporaryInfix = ".tmp-";
constexpr std::size_t kTemporaryDigits = 8;

std::uint64_t chunks_of(std::uint64_t bytes) { return bytes / kChunk + (bytes % kChunk != 0); }

std::uint64_t bytes_of_chunk(std::uint64_t chunk, std::uint64_t bytes) {
    return std::min(kChunk, bytes - chunk * kChunk);
}

std::string temporary_name(std::string_view name) {
    return fmt::format("{}{}{:08x}", name, kTemporaryInfix, Rng::from_system().next() >> 32);
}

/// The bytes of a file by their place in it.
class Content {
  public:
    explicit Content(const Pieces& pieces) {
        for (const auto& piece : pieces) {
            if (piece.empty()) continue;
            begins_.push_back(bytes_);
            pieces_.push_back(piece);
            bytes_ += piece.size();
        }
    }

    std::uint64_t bytes() const { return bytes_; }

    /// In one piece and at a page, as they are; else as a copy in `buffer`. A file that ends between two pages has
    /// its end written by an ordinary call in both cases.
    std::span<const std::byte> at(std::uint64_t begin, std::uint64_t count,
                                  std::unique_ptr<AlignedBuffer>& buffer) const {
        std::size_t piece = piece_at(begin);
        const std::span<const std::byte> first = pieces_[piece].subspan(begin - begins_[piece]);
        if (first.size() >= count && reinterpret_cast<std::uintptr_t>(first.data()) % kPage == 0)
            return first.first(count);
        if (buffer == nullptr)
            buffer = std::make_unique<AlignedBuffer>(std::min<std::size_t>(kChunk, bytes_));
        const std::span<std::byte> copy = buffer->bytes().first(count);
        std::span<const std::byte> from = first;
        for (std::size_t copied = 0;;) {
            const std::size_t here = std::min(from.size(), copy.size() - copied);
            std::memcpy(copy.data() + copied, from.data(), here);
            copied += here;
            if (copied == copy.size()) return copy;
            from = pieces_[++piece];
        }
    }

  private:
    std::size_t piece_at(std::uint64_t place) const {
        return static_cast<std::size_t>(std::ranges::upper_bound(begins_, place) -
                                        begins_.begin()) -
               1;
    }

    Pieces pieces_;  ///< that are not empty
    std::vector<std::uint64_t> begins_;
    std::uint64_t bytes_ = 0;
};

/// To the disk, whole; the digests of its chunks.
Result<std::vector<std::uint64_t>> write_content(NewFile& file, const Content& content,
                                                 int threads) {
    std::vector<std::uint64_t> digests(chunks_of(content.bytes()));
    TRY_VOID(in_parallel(threads, digests.size(), [&]() -> PartWork {
        return [&, buffer = std::make_shared<std::unique_ptr<AlignedBuffer>>()](
                   std::uint64_t chunk) -> Result<void> {
            const auto bytes =
                content.at(chunk * kChunk, bytes_of_chunk(chunk, content.bytes()), *buffer);
            digests[chunk] = digest_of(bytes);
            return file.write(chunk * kChunk, bytes);
        };
    }));
    TRY_VOID(file.sync());
    return digests;
}

Result<std::vector<std::uint64_t>> write_as(Storage& storage, const std::string& temporary,
                                            const std::string& path, const Content& content,
                                            int threads) {
    TRY(auto file, storage.create(temporary, content.bytes()));
    TRY(auto digests, write_content(*file, content, threads));
    file.reset();
    TRY_VOID(storage.rename(temporary, path));
    return digests;
}

}  // namespace

bool is_temporary(std::string_view name) {
    if (name.size() <= kTemporaryInfix.size() + kTemporaryDigits) return false;
    const std::string_view digits = name.substr(name.size() - kTemporaryDigits);
    name.remove_suffix(kTemporaryDigits);
    return name.ends_with(kTemporaryInfix) &&
           digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<StoredShard> write_shard(Storage& storage, std::string_view directory, std::string_view name,
                                const Pieces& pieces, int threads) {
    const Content content(pieces);
    const std::string temporary = path_in(directory, temporary_name(name));
    auto digests = write_as(storage, temporary, path_in(directory, name), content, threads);
    if (!digests) {
        // What fails now has failed before, and that is what is to be told.
        static_cast<void>(storage.remove(temporary));
        return std::move(digests).error();
    }
    return StoredShard{
        .path = std::string(name), .bytes = content.bytes(), .chunks = *std::move(digests)};
}

Result<std::vector<DamagedRange>> verify_shard(const Storage& storage, std::string_view directory,
                                               const StoredShard& shard, int threads) {
    const std::string path = path_in(directory, shard.path);
    TRY(const auto file, storage.open(path));
    if (file->bytes() != shard.bytes)
        return Error(Code::kInvalid,
                     fmt::format("{} in {} has {} bytes, and had {} when it was written", path,
                                 storage.name(), file->bytes(), shard.bytes));
    if (shard.chunks.size() != chunks_of(shard.bytes))
        return Error(Code::kInvalid,
                     fmt::format("{} in {}: {} digests are said to be those of {} bytes", path,
                                 storage.name(), shard.chunks.size(), shard.bytes));
    std::mutex mutex;
    std::vector<DamagedRange> damaged;
    TRY_VOID(in_parallel(threads, shard.chunks.size(), [&]() -> PartWork {
        const auto buffer = std::make_shared<AlignedBuffer>(std::min(kChunk, shard.bytes));
        return [&, buffer](std::uint64_t chunk) -> Result<void> {
            const auto bytes = buffer->bytes().first(bytes_of_chunk(chunk, shard.bytes));
            TRY_VOID(file->read(chunk * kChunk, bytes));
            if (digest_of(bytes) == shard.chunks[chunk]) return {};
            const std::lock_guard lock(mutex);
            damaged.push_back({.begin = chunk * kChunk, .bytes = bytes.size()});
            return {};
        };
    }));
    std::ranges::sort(damaged, {}, &DamagedRange::begin);
    return damaged;
}

}  // namespace muster::checkpoint
