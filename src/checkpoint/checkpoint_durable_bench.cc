// How long it takes until an image in a segment is on the disk as a file, whole, with its digests, beside the direct write
// of as many bytes from the same memory. Prints a JSON object; times in seconds.
//
//   checkpoint_durable_bench MEMORY_FOLDER DIRECTORY BYTES THREADS ROUNDS

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "base/time/real_clock.h"
#include "base/unique_fd.h"
#include "checkpoint/shm/segment_reader.h"
#include "checkpoint/shm/segment_writer.h"
#include "checkpoint/storage/directory_storage.h"
#include "checkpoint/storage/shard_writer.h"

using namespace muster;
using namespace muster::checkpoint;

namespace {

template <class F>
double seconds_of(F f) {
    RealClock clock;
    const Instant begin = clock.now();
    f();
    return std::chrono::duration<double>(clock.now() - begin).count();
}

double median(std::vector<double> all) {
    std::ranges::sort(all);
    return all[all.size() / 2];
}

/// The value, or the end of the program with what is wrong.
template <class T>
T must(Result<T> result) {
    if (!result) {
        fmt::print(stderr, "{}\n", result.error().message());
        std::exit(1);
    }
    if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// An image of one tensor, in a segment whose file is removed already.
HeldImage image_of(const std::filesystem::path& folder, std::size_t bytes) {
    const Table table{.tensors = {{.name = "model", .dtype = Dtype::kU8, .shape = {bytes}}}};
    const Table laid = must(lay_out(table));
    const std::uint64_t needed = needed_capacity(laid, must(encode(laid)));
    const SegmentShape shape{.slots = 1, .capacity = (needed + kPage - 1) / kPage * kPage};
    const std::filesystem::path path = folder / "checkpoint-durable-bench";
    std::filesystem::remove(path);
    SegmentWriter writer = must(
        SegmentWriter::over(must(SegmentFile::create(path, {.job = "bench", .rank = 0}, shape))));
    auto save = must(writer.begin(table, {.epoch = 1, .generation = 1, .step = 1}));
    const std::span<std::byte> tensor = save.tensor(0);
    Rng rng(1);
    for (std::size_t at = 0; at + 8 <= tensor.size(); at += 8) {
        const std::uint64_t word = rng.next();
        std::memcpy(tensor.data() + at, &word, sizeof word);
    }
    save.publish();
    auto image = must(SegmentReader(must(SegmentFile::open(path))).newest());
    std::filesystem::remove(path);
    CHECK(image.has_value(), "it was published");
    return *std::move(image);
}

/// The disk's own speed: whole pages by direct I/O, with so many threads, and nothing else.
void write_directly(const std::filesystem::path& path, std::span<const std::byte> bytes,
                    int threads) {
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_DIRECT, 0600));
    CHECK(static_cast<bool>(file), "the directory's file system has direct I/O");
    CHECK(::fallocate(file.get(), 0, 0, static_cast<off_t>(bytes.size())) == 0, "there is room");
    std::atomic<std::size_t> next = 0;
    const auto write = [&] {
        for (;;) {
            const std::size_t at = next.fetch_add(kChunk);
            if (at >= bytes.size()) return;
            const std::size_t count = std::min<std::size_t>(kChunk, bytes.size() - at);
            CHECK(::pwrite(file.get(), bytes.data() + at, count, static_cast<off_t>(at)) ==
                      static_cast<ssize_t>(count),
                  "the disk takes it");
        }
    };
    {
        std::vector<std::jthread> others;
        for (int i = 1; i < threads; ++i) others.emplace_back(write);
        write();
    }
    CHECK(::fsync(file.get()) == 0, "it is on the disk");
}

}  // namespace

int main(int argc, char** argv) {
    CHECK(argc == 6, "checkpoint_durable_bench MEMORY_FOLDER DIRECTORY BYTES THREADS ROUNDS");
    const std::filesystem::path directory = argv[2];
    const std::size_t bytes = std::strtoull(argv[3], nullptr, 10);
    const int threads = std::atoi(argv[4]);
    const int rounds = std::atoi(argv[5]);
    const HeldImage image = image_of(argv[1], bytes);
    const std::span<const std::byte> whole_pages =
        image.bytes().first(image.bytes().size() / kPage * kPage);
    const auto storage = must(DirectoryStorage::make(directory));
    const std::filesystem::path plain = directory / "plain";
    std::filesystem::remove(plain);
    std::vector<double> writes;
    std::vector<double> disks;
    std::vector<double> reads;
    std::vector<double> ratios;
    for (int round = 0; round < rounds; ++round) {
        disks.push_back(seconds_of([&] { write_directly(plain, whole_pages, threads); }));
        std::filesystem::remove(plain);
        must(storage->sync_directory(""));
        StoredShard shard;
        writes.push_back(seconds_of([&] {
            shard = must(write_shard(*storage, "", "shard", {image.bytes()}, threads));
            must(storage->sync_directory(""));
        }));
        reads.push_back(seconds_of([&] {
            CHECK(must(verify_shard(*storage, "", shard, threads)).empty(), "it is whole");
        }));
        must(storage->remove("shard"));
        must(storage->sync_directory(""));
        ratios.push_back(writes.back() / disks.back());
    }
    fmt::print(R"({{"write":{:.6f},"disk":{:.6f},"ratio":{:.6f},"verify":{:.6f}}})"
               "\n",
               median(writes), median(disks), median(ratios), median(reads));
    return 0;
}
