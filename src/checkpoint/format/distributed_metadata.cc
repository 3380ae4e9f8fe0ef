#include "checkpoint/format/distributed_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "checkpoint/format/shown_name.h"
#include "checkpoint/pickle/pickle_writer.h"

namespace muster::checkpoint {
namespace {

constexpr std::string_view kMetadataModule = "torch.distributed.checkpoint.metadata";
constexpr std::string_view kFilesModule = "torch.distributed.checkpoint.filesystem";

/// nullopt: more than can be counted.
std::optional<std::uint64_t> elements_of(const std::vector<std::uint64_t>& shape) {
    if (std::ranges::find(shape, 0u) != shape.end()) return 0;
    std::uint64_t elements = 1;
    for (const std::uint64_t size : shape)
        if (__builtin_mul_overflow(elements, size, &elements)) return std::nullopt;
    return elements;
}

/// A part of a value, and which rank's file has it.
struct StoredPart {
    std::uint32_t rank;
    const DistributedEntry* entry;
};
/// A value of the checkpoint: a tensor of parts, or one thing.
struct StoredValue {
    std::string name;
    std::vector<StoredPart> parts;

    const DistributedEntry& first() const { return *parts.front().entry; }
    bool is_tensor() const { return !first().dtype.empty(); }
};

Result<void> check_whole(const StoredValue& value) {
    if (!value.is_tensor()) return {};
    std::uint64_t parts = 0;
    for (const StoredPart& part : value.parts) {
        const auto elements = elements_of(part.entry->sizes);
        if (!elements || __builtin_add_overflow(parts, *elements, &parts))
            return Error(Code::kInvalid,
                         fmt::format("the tensor {} has more elements than can be counted",
                                     shown_name(value.name)));
    }
    const auto whole = elements_of(value.first().global_shape);
    if (whole == parts) return {};
    return Error(Code::kInvalid,
                 fmt::format("the tensor {} has {} elements, and the ranks together have {}",
                             shown_name(value.name), whole.value_or(UINT64_MAX), parts));
}

/// By name, in the order in which they are first there.
Result<std::vector<StoredValue>> values_of(std::span<const RankEntries> ranks) {
    std::vector<StoredValue> values;
    std::unordered_map<std::string, std::size_t> by_name;
    for (const RankEntries& rank : ranks)
        for (const DistributedEntry& entry : rank.entries) {
            std::string name = name_of(entry.path);
            const auto [known, is_new] = by_name.emplace(name, values.size());
            const StoredPart part{.rank = rank.rank, .entry = &entry};
            if (is_new) {
                values.push_back({.name = std::move(name), .parts = {part}});
                continue;
            }
            StoredValue& value = values[known->second];
            if (value.first().dtype != entry.dtype ||
                value.first().global_shape != entry.global_shape ||
                value.first().path != entry.path)
                return Error(Code::kInvalid,
                             fmt::format("the ranks {} and {} have another type or shape of {}",
                                         value.parts.front().rank, rank.rank, shown_name(name)));
            const bool is_there = std::ranges::any_of(value.parts, [&](const StoredPart& other) {
                return other.entry->offsets == entry.offsets && other.entry->sizes == entry.sizes;
            });
            if (!is_there) value.parts.push_back(part);
        }
    for (const StoredValue& value : values) TRY_VOID(check_whole(value));
    return values;
}

/// Each object is made by a call of its class with what all versions of torch have as its first fields; what a version
/// has besides gets that version's defaults.
class MetadataWriter {
  public:
    std::string write(const std::vector<StoredValue>& values) {
        writer_.global(kMetadataModule, "Metadata");
        writer_.mark();
        write_dict(values, [&](const StoredValue& value) { write_storage_metadata(value); });
        write_dict(values, [&](const StoredValue& value) { write_path(value.first().path); });
        writer_.empty_dict();
        writer_.mark();
        for (const StoredValue& value : values)
            for (std::size_t i = 0; i < value.parts.size(); ++i) write_place(value, i);
        writer_.set_items();
        writer_.tuple();
        writer_.call();
        return writer_.finish();
    }

  private:
    template <class Write>
    void write_dict(const std::vector<StoredValue>& values, Write write) {
        writer_.empty_dict();
        writer_.mark();
        for (const StoredValue& value : values) {
            write_name(value.name);
            write(value);
        }
        writer_.set_items();
    }
    /// Names are in it three times.
    void write_name(const std::string& name) {
        if (const auto known = names_.find(name); known != names_.end()) {
            writer_.recall(known->second);
            return;
        }
        writer_.text(name);
        names_.emplace(name, writer_.remember());
    }
    void write_size(const std::vector<std::uint64_t>& shape) {
        writer_.global("torch", "Size");
        writer_.mark();
        writer_.integers(shape);
        writer_.tuple();
        writer_.call();
    }
    void write_storage_metadata(const StoredValue& value) {
        if (!value.is_tensor()) {
            writer_.global(kMetadataModule, "BytesStorageMetadata");
            writer_.empty_tuple();
            writer_.call();
            return;
        }
        writer_.global(kMetadataModule, "TensorStorageMetadata");
        writer_.mark();
        writer_.global(kMetadataModule, "TensorProperties");
        writer_.mark();
        writer_.global("torch", value.first().dtype);
        writer_.tuple();
        writer_.call();
        write_size(value.first().global_shape);
        writer_.empty_list();
        writer_.mark();
        for (const StoredPart& part : value.parts) {
            writer_.global(kMetadataModule, "ChunkStorageMetadata");
            writer_.mark();
            write_size(part.entry->offsets);
            write_size(part.entry->sizes);
            writer_.tuple();
            writer_.call();
        }
        writer_.append();
        writer_.tuple();
        writer_.call();
    }
    void write_path(const std::vector<PathPart>& path) {
        writer_.mark();
        for (const PathPart& part : path)
            part.key ? writer_.text(*part.key)
                     : writer_.integer(static_cast<std::int64_t>(part.index));
        writer_.tuple();
    }
    /// Which bytes of which file have the part.
    void write_place(const StoredValue& value, std::size_t index) {
        const StoredPart& part = value.parts[index];
        writer_.global(kMetadataModule, "MetadataIndex");
        writer_.mark();
        write_name(value.name);
        if (value.is_tensor()) {
            write_size(part.entry->offsets);
            writer_.integer(static_cast<std::int64_t>(index));
        }
        writer_.tuple();
        writer_.call();
        writer_.global(kFilesModule, "_StorageInfo");
        writer_.mark();
        write_name(distributed_file_name(part.rank));
        writer_.integer(static_cast<std::int64_t>(part.entry->begin));
        writer_.integer(static_cast<std::int64_t>(part.entry->bytes));
        writer_.tuple();
        writer_.call();
    }

    PickleWriter writer_;
    std::unordered_map<std::string, std::uint32_t> names_;
};

}  // namespace

Result<std::string> compose_metadata(std::span<const RankEntries> ranks) {
    TRY(const auto values, values_of(ranks));
    return MetadataWriter().write(values);
}

}  // namespace muster::checkpoint
