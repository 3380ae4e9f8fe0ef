#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/image/segment_layout.h"
#include "checkpoint/storage/shard_writer.h"

namespace muster::checkpoint {

/// The formats in which a checkpoint is stored (`format`).
enum class Format : std::uint8_t { kSafetensors, kTorch, kTorchDistributed };
std::string_view name_of(Format format);  ///< "safetensors", "torch", "dcp"
std::optional<Format> format_named(std::string_view name);

/// Which part of a job's state each rank has.
struct ParallelLayout {
    std::uint32_t world_size = 1;
    std::uint32_t shards = 1;  ///< how many ranks save: one for DDP
    /// What else must be the same to load it, as the framework says it: {"tp": "2", "pp": "1"}.
    std::map<std::string, std::string> words = {};

    friend bool operator==(const ParallelLayout&, const ParallelLayout&) = default;
};
std::string describe(const ParallelLayout& layout);  ///< "4 ranks, 4 shards, tp=2"

/// The part that one rank saved.
struct ManifestShard {
    std::uint32_t rank = 0;
    std::vector<StoredShard> files = {};

    friend bool operator==(const ManifestShard&, const ManifestShard&) = default;
};

/// What a checkpoint consists of. In its directory, as `manifest.json`; a directory without one is no
/// checkpoint of ours. Others than it names may stand beside its files.
struct Manifest {
    std::string job = {};
    ImageFacts facts = {};
    Format format = Format::kSafetensors;
    ParallelLayout layout = {};
    std::int64_t made_unix_ms = 0;
    std::string data_position = {};  ///< JSON, as who shards the data says it; empty: unknown
    std::vector<ManifestShard> shards = {};  ///< by rank

    /// Else it is what some of the ranks have told.
    bool complete() const { return shards.size() == layout.shards; }
    friend bool operator==(const Manifest&, const Manifest&) = default;
};
/// Of all files.
std::uint64_t bytes_of(const Manifest& manifest);

inline constexpr std::string_view kManifestName = "manifest.json";
/// In the root: the name of the newest checkpoint's directory, and a line's end.
inline constexpr std::string_view kLatestName = "LATEST";
/// In the root: what is not committed yet is below it.
inline constexpr std::string_view kStagingName = ".muster";
inline constexpr std::uint64_t kMaxManifest = std::uint64_t{256} << 20;

/// JSON with a digest of all the rest as its last field, so that a torn one is told from a whole one.
std::string encode(const Manifest& manifest);
/// kInvalid, with the field: no manifest, damaged, with a path that leaves its directory, with a rank twice. kUnsupported: of
/// a later version.
Result<Manifest> decode_manifest(std::string_view text);

}  // namespace muster::checkpoint
