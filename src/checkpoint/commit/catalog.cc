#include "checkpoint/commit/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "checkpoint/storage/durable_text.h"
#include "checkpoint/storage/storage_path.h"

namespace muster::checkpoint {
namespace {

constexpr std::uint64_t kMostOfLatest = 4096;

/// That each file is there, whole by its length.
Result<void> check_files(const Storage& storage, const FoundCheckpoint& found) {
    for (const ManifestShard& shard : found.manifest.shards)
        for (const StoredShard& file : shard.files) {
            const std::string path = path_in(found.directory, file.path);
            TRY(const auto opened, storage.open(path));
            if (opened->bytes() != file.bytes)
                return Error(Code::kInvalid,
                             fmt::format("{} has {} bytes, and had {} when it was written", path,
                                         opened->bytes(), file.bytes));
        }
    return {};
}

Result<FoundCheckpoint> read_checkpoint(const Storage& storage, const std::string& directory,
                                        std::string_view text) {
    auto manifest = decode_manifest(text);
    if (!manifest)
        return std::move(manifest).error().prefix(path_in(directory, std::string(kManifestName)));
    if (!manifest->complete())
        return Error(Code::kInvalid, fmt::format("its manifest has {} of {} shards",
                                                 manifest->shards.size(), manifest->layout.shards));
    FoundCheckpoint found{.directory = directory, .manifest = *std::move(manifest)};
    TRY_VOID(check_files(storage, found));
    return found;
}

void look_at(const Storage& storage, const std::string& directory, Catalog& catalog) {
    const auto text = read_text(storage, path_in(directory, kManifestName), kMaxManifest);
    if (!text && text.error().code() == Code::kNotFound) {
        catalog.others.push_back(directory);
        return;
    }
    auto found =
        text ? read_checkpoint(storage, directory, *text) : Result<FoundCheckpoint>(text.error());
    if (found)
        catalog.checkpoints.push_back(*std::move(found));
    else
        catalog.unusable.push_back({.directory = directory, .why = found.error().message()});
}

auto age_of(const FoundCheckpoint& found) {
    const ImageFacts& facts = found.manifest.facts;
    return std::tuple(facts.epoch, facts.generation, facts.step);
}

}  // namespace

Result<Catalog> read_catalog(const Storage& storage) {
    TRY(const auto entries, storage.list(""));
    Catalog catalog;
    for (const Storage::Entry& entry : entries)
        if (entry.directory && entry.name != kStagingName) look_at(storage, entry.name, catalog);
    std::ranges::sort(catalog.checkpoints, std::greater<>(), age_of);
    const auto latest = read_text(storage, kLatestName, kMostOfLatest);
    if (latest)
        catalog.latest = latest->substr(0, latest->find('\n'));
    else if (latest.error().code() != Code::kNotFound)
        catalog.unusable.push_back(
            {.directory = std::string(kLatestName), .why = latest.error().message()});
    return catalog;
}

Result<FoundCheckpoint> checkpoint_to_load(const Catalog& catalog, const std::string& root,
                                           std::optional<std::uint64_t> step) {
    for (const FoundCheckpoint& found : catalog.checkpoints)
        if (!step || found.manifest.facts.step == *step) return found;
    std::string why;
    for (const UnusableDirectory& directory : catalog.unusable)
        why += fmt::format("; {} can't be loaded: {}", directory.directory, directory.why);
    if (step && !catalog.checkpoints.empty())
        why += fmt::format("; the newest that is there is of step {}",
                           catalog.checkpoints.front().manifest.facts.step);
    return Error(Code::kNotFound,
                 step ? fmt::format("there is no checkpoint of step {} in {}{}", *step, root, why)
                      : fmt::format("there is no checkpoint in {}{}", root, why));
}

}  // namespace muster::checkpoint
