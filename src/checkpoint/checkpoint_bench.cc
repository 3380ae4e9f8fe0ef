// How long training stands still while its state is copied into memory, beside a copy by two threads that do nothing
// else. Prints a JSON object; times in seconds.
//
//   checkpoint_bench FOLDER BYTES TENSORS ROUNDS

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/time/real_clock.h"
#include "checkpoint/copy/copier.h"
#include "checkpoint/shm/segment_writer.h"

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

/// Memory that is there.
std::span<std::byte> memory(std::size_t bytes) {
    void* const made = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    CHECK(made != MAP_FAILED, "there is not so much memory");
    std::memset(made, 1, bytes);
    return {static_cast<std::byte*>(made), bytes};
}

/// By two threads, half of it each.
void plain_copy(std::byte* to, std::span<const std::byte> from) {
    const std::size_t half = from.size() / 2;
    std::thread other([&] { std::memcpy(to, from.data(), half); });
    std::memcpy(to + half, from.data() + half, from.size() - half);
    other.join();
}

Table table_of(std::size_t bytes, std::size_t tensors) {
    Table table;
    for (std::size_t i = 0; i < tensors; ++i)
        table.tensors.push_back({.name = fmt::format("model.layers.{}.weight", i),
                                 .dtype = Dtype::kF32,
                                 .shape = {bytes / tensors / 4}});
    return table;
}

void save(SegmentWriter& writer, Copier& copier, const Table& table,
          std::span<const std::byte> state, std::uint64_t step) {
    auto saving = writer.begin(table, {.epoch = 1, .generation = 1, .step = step});
    CHECK(saving.has_value(), "a slot is free");
    std::vector<Copying> parts;
    const std::byte* from = state.data();
    for (std::size_t i = 0; i < table.tensors.size(); ++i) {
        const std::span<std::byte> to = saving->tensor(i);
        parts.push_back({to.data(), from, to.size()});
        from += to.size();
    }
    copier.copy(parts);
    saving->publish();
}

}  // namespace

int main(int argc, char** argv) {
    CHECK(argc == 5, "checkpoint_bench FOLDER BYTES TENSORS ROUNDS");
    const std::filesystem::path path = std::filesystem::path(argv[1]) / "checkpoint-bench";
    const std::size_t bytes = std::strtoull(argv[2], nullptr, 10);
    const std::size_t tensors = std::strtoull(argv[3], nullptr, 10);
    const int rounds = std::atoi(argv[4]);
    const Table table = table_of(bytes, tensors);
    const Table laid = lay_out(table).value();
    const std::uint64_t needed = needed_capacity(laid, encode(laid).value());
    const SegmentShape shape{.slots = 2, .capacity = (needed + kPage - 1) / kPage * kPage};
    const std::span<const std::byte> state = memory(bytes);
    std::filesystem::remove(path);
    std::optional<SegmentFile> file;
    const double made = seconds_of([&] {
        auto created = SegmentFile::create(path, {.job = "bench", .rank = 0}, shape);
        CHECK(created.has_value(), "the folder has room");
        file = *std::move(created);
    });
    ::unlink(path.c_str());
    const double touched = seconds_of([&] {
        for (std::uint32_t one = 0; one < shape.slots; ++one) file->touch(one);
    });
    const std::span<std::byte> slot = file->image(0);
    SegmentWriter writer = SegmentWriter::over(*std::move(file)).value();
    Copier copier(2);
    const double first = seconds_of([&] { save(writer, copier, table, state, 1); });
    save(writer, copier, table, state, 2);
    std::vector<double> saves;
    std::vector<double> copies;
    for (int round = 0; round < rounds; ++round) {
        saves.push_back(seconds_of(
            [&] { save(writer, copier, table, state, static_cast<std::uint64_t>(round) + 3); }));
        // The slots are not read meanwhile, and the next save overwrites this one.
        copies.push_back(seconds_of([&] { plain_copy(slot.data(), state.first(laid.payload())); }));
    }
    fmt::print(R"({{"made":{:.6f},"touched":{:.6f},"first":{:.6f},"save":{:.6f},"copy":{:.6f}}})"
               "\n",
               made, touched, first, median(saves), median(copies));
    return 0;
}
