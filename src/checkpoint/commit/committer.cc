#include "checkpoint/commit/committer.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <tuple>

#include "checkpoint/storage/durable_text.h"
#include "checkpoint/storage/storage_path.h"

namespace muster::checkpoint {
namespace {

constexpr std::string_view kRemoved = "removed-";

auto age_of(const ImageFacts& facts) {
    return std::tuple(facts.epoch, facts.generation, facts.step);
}

/// What a directory below kStagingName is of. nullopt: it was not made by us.
std::optional<ImageFacts> staged_facts(std::string_view name) {
    ImageFacts facts;
    const char* at = name.data();
    const char* const end = at + name.size();
    for (std::uint64_t* const number : {&facts.step, &facts.epoch, &facts.generation}) {
        const auto [after, failed] = std::from_chars(at, end, *number);
        if (failed != std::errc()) return std::nullopt;
        at = after;
        if (number == &facts.generation) return at == end ? std::optional(facts) : std::nullopt;
        if (at == end || *at != '.') return std::nullopt;
        ++at;
    }
    return std::nullopt;
}

/// The text of a directory's manifest; nullopt: it has none.
Result<std::optional<std::string>> manifest_text(const Storage& storage,
                                                 std::string_view directory) {
    auto text = read_text(storage, path_in(directory, kManifestName), kMaxManifest);
    if (text) return std::optional(*std::move(text));
    if (text.error().code() == Code::kNotFound) return std::nullopt;
    return std::move(text).error();
}

/// Gives the staging directory its name.
Result<void> put_in_place(Storage& storage, const std::string& staging,
                          const std::string& directory) {
    const auto renamed = storage.rename(staging, directory);
    if (renamed || renamed.error().code() != Code::kConflict) return renamed;
    TRY(const auto there, manifest_text(storage, directory));
    if (!there)
        return Error(Code::kConflict,
                     fmt::format("{}/{} is there, and is no checkpoint of Muster: move it away, or "
                                 "save in another directory",
                                 storage.name(), directory));
    const auto exchanged = storage.exchange(staging, directory);
    if (exchanged || exchanged.error().code() != Code::kUnsupported) return exchanged;
    return Error(Code::kUnsupported,
                 fmt::format("{}/{} is there already, and this file system can't exchange it for a "
                             "newer one: remove it with muster ckpt rm, or save at another step",
                             storage.name(), directory));
}

/// That a directory has moved between the root and what is staged: a move is certain only once both are on the disk.
Result<void> sync_move(Storage& storage) {
    const auto staged = storage.sync_directory(kStagingName);
    if (!staged && staged.error().code() != Code::kNotFound) return staged;
    return storage.sync_directory("");
}

}  // namespace

std::string staging_directory(const ImageFacts& facts) {
    return path_in(kStagingName,
                   fmt::format("{}.{}.{}", facts.step, facts.epoch, facts.generation));
}

Result<void> commit(Storage& storage, const Manifest& manifest, const CommitOrder& order) {
    const std::string text = encode(manifest);
    TRY_VOID(decode_manifest(text));
    if (!manifest.complete())
        return Error(Code::kInvalid,
                     fmt::format("step {}: {} of {} shards are there", manifest.facts.step,
                                 manifest.shards.size(), manifest.layout.shards));
    const std::string staging = staging_directory(manifest.facts);
    TRY(const auto there, manifest_text(storage, order.directory));
    // Else an earlier attempt has come as far as that.
    if (there != text) {
        TRY_VOID(write_text_durably(storage, staging, kManifestName, text));
        TRY_VOID(put_in_place(storage, staging, order.directory));
    }
    TRY_VOID(sync_move(storage));
    TRY_VOID(write_text_durably(storage, "", kLatestName, order.directory + "\n"));
    for (const Tracker& tracker : order.trackers)
        TRY_VOID(write_text_durably(storage, "", tracker.name, tracker.text));
    return {};
}

Result<void> sweep_staging(Storage& storage, const ImageFacts& committed) {
    const auto entries = storage.list(kStagingName);
    if (!entries && entries.error().code() == Code::kNotFound) return {};
    if (!entries) return entries.error();
    for (const Storage::Entry& entry : *entries) {
        const auto facts = staged_facts(entry.name);
        const bool ours = facts || entry.name.starts_with(kRemoved);
        if (!ours || (facts && age_of(*facts) > age_of(committed))) continue;
        TRY_VOID(storage.remove(path_in(kStagingName, entry.name)));
    }
    return {};
}

Result<void> remove_checkpoint(Storage& storage, std::string_view directory) {
    TRY_VOID(storage.list(directory));
    TRY(const auto manifest, manifest_text(storage, directory));
    if (!manifest)
        return Error(Code::kConflict,
                     fmt::format("{}/{} is no checkpoint of Muster", storage.name(), directory));
    const std::string removed =
        path_in(kStagingName, fmt::format("{}{}", kRemoved, name_of_path(directory)));
    TRY_VOID(storage.make_directory(kStagingName));
    // One of the same name may be left of a removal that was cut off.
    TRY_VOID(storage.remove(removed));
    TRY_VOID(storage.rename(directory, removed));
    TRY_VOID(sync_move(storage));
    return storage.remove(removed);
}

}  // namespace muster::checkpoint
