#include "checkpoint/commit/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <set>
#include <span>
#include <utility>

#include "base/visible_text.h"
#include "checkpoint/image/digest.h"
#include "checkpoint/storage/storage_path.h"

namespace muster::checkpoint {

namespace json = boost::json;

namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::uint32_t kMostRanks = 1u << 20;
constexpr std::size_t kHexDigits = 16;
constexpr std::string_view kDigestBegin = R"(,"digest":")";
constexpr std::string_view kDigestEnd = "\"}\n";
constexpr std::size_t kDigestBytes = kDigestBegin.size() + kHexDigits + kDigestEnd.size();

constexpr std::array<std::pair<Format, std::string_view>, 3> kFormats{{
    {Format::kSafetensors, "safetensors"},
    {Format::kTorch, "torch"},
    {Format::kTorchDistributed, "dcp"},
}};

std::string hex(std::uint64_t value) { return fmt::format("{:016x}", value); }

std::optional<std::uint64_t> from_hex(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (failed != std::errc() || end != text.data() + text.size() || text.size() != kHexDigits)
        return std::nullopt;
    return value;
}

std::uint64_t digest_of_text(std::string_view text) {
    return digest_of(std::as_bytes(std::span(text)));
}

Error wrong(std::string_view field, std::string_view what) {
    return Error(Code::kInvalid, fmt::format("{}: {}", field, what));
}

/// Reads the fields of an object, and says where each is.
class Fields {
  public:
    Fields(const json::object& object, std::string where)
        : object_(object), where_(std::move(where)) {}

    std::string at(std::string_view name) const {
        return where_.empty() ? std::string(name) : fmt::format("{}.{}", where_, name);
    }
    Result<std::uint64_t> number(std::string_view name, std::uint64_t most = UINT64_MAX) const {
        const json::value* const value = object_.if_contains(name);
        std::optional<std::uint64_t> read;
        if (value != nullptr && value->is_uint64()) read = value->get_uint64();
        if (value != nullptr && value->is_int64() && value->get_int64() >= 0)
            read = static_cast<std::uint64_t>(value->get_int64());
        if (!read || *read > most)
            return wrong(at(name), fmt::format("must be a whole number from 0 to {}", most));
        return *read;
    }
    Result<std::string> text(std::string_view name) const {
        const json::value* const value = object_.if_contains(name);
        if (value == nullptr || !value->is_string()) return wrong(at(name), "must be a text");
        return std::string(value->get_string());
    }
    Result<const json::object*> object(std::string_view name) const {
        const json::value* const value = object_.if_contains(name);
        if (value == nullptr || !value->is_object()) return wrong(at(name), "must be an object");
        return &value->get_object();
    }
    Result<const json::array*> list(std::string_view name) const {
        const json::value* const value = object_.if_contains(name);
        if (value == nullptr || !value->is_array()) return wrong(at(name), "must be a list");
        return &value->get_array();
    }

  private:
    const json::object& object_;
    std::string where_;
};

Result<Fields> fields_of(const json::value& value, std::string where) {
    if (!value.is_object()) return wrong(where, "must be an object");
    return Fields(value.get_object(), std::move(where));
}

Result<ParallelLayout> read_layout(const Fields& fields) {
    ParallelLayout layout;
    TRY(const std::uint64_t world, fields.number("world_size", kMostRanks));
    TRY(const std::uint64_t shards, fields.number("shards", kMostRanks));
    if (shards == 0 || shards > world)
        return wrong(fields.at("shards"), fmt::format("{} of {} ranks can't save", shards, world));
    layout.world_size = static_cast<std::uint32_t>(world);
    layout.shards = static_cast<std::uint32_t>(shards);
    TRY(const json::object* const words, fields.object("words"));
    for (const auto& [key, word] : *words) {
        if (!word.is_string()) return wrong(fields.at("words"), "must have texts alone");
        layout.words.emplace(key, word.get_string());
    }
    return layout;
}

Result<StoredShard> read_file(const Fields& fields) {
    StoredShard file;
    TRY(file.path, fields.text("path"));
    const auto parts = parts_of(file.path);
    if (!parts || parts->empty())
        return wrong(fields.at("path"),
                     fmt::format("\"{}\" is no path in a directory", visible_line(file.path)));
    TRY(file.bytes, fields.number("bytes", INT64_MAX));
    TRY(const std::string chunks, fields.text("chunks"));
    const std::uint64_t count = file.bytes / kChunk + (file.bytes % kChunk != 0);
    if (chunks.size() % kHexDigits != 0 || chunks.size() / kHexDigits != count)
        return wrong(fields.at("chunks"),
                     fmt::format("must be the {} digests of {} bytes", count, file.bytes));
    for (std::size_t begin = 0; begin < chunks.size(); begin += kHexDigits) {
        const auto digest = from_hex(std::string_view(chunks).substr(begin, kHexDigits));
        if (!digest) return wrong(fields.at("chunks"), "must be hexadecimal");
        file.chunks.push_back(*digest);
    }
    return file;
}

Result<ManifestShard> read_shard(const Fields& fields, const ParallelLayout& layout) {
    ManifestShard shard;
    TRY(const std::uint64_t rank, fields.number("rank", layout.world_size - 1));
    shard.rank = static_cast<std::uint32_t>(rank);
    TRY(const json::array* const files, fields.list("files"));
    if (files->empty()) return wrong(fields.at("files"), "must have a file");
    for (std::size_t i = 0; i < files->size(); ++i) {
        TRY(const Fields file,
            fields_of((*files)[i], fmt::format("{}[{}]", fields.at("files"), i)));
        TRY(StoredShard read, read_file(file));
        shard.files.push_back(std::move(read));
    }
    return shard;
}

/// Each rank and each file once, ranks in their order, not more than the layout has.
Result<void> check_shards(const Manifest& manifest) {
    if (manifest.shards.size() > manifest.layout.shards)
        return wrong("shards", fmt::format("there are {}, and the layout has {}",
                                           manifest.shards.size(), manifest.layout.shards));
    std::set<std::string_view> paths;
    std::optional<std::uint32_t> last;
    for (const ManifestShard& shard : manifest.shards) {
        if (last && shard.rank <= *last)
            return wrong("shards", fmt::format("rank {} comes after rank {}", shard.rank, *last));
        last = shard.rank;
        for (const StoredShard& file : shard.files)
            if (file.path == kManifestName || !paths.insert(file.path).second)
                return wrong("shards", fmt::format("the file {} is there twice", file.path));
    }
    return {};
}

Result<Manifest> read_manifest(const json::object& object) {
    const Fields fields(object, "");
    TRY(const std::uint64_t version, fields.number("version"));
    if (version != kVersion)
        return Error(
            Code::kUnsupported,
            fmt::format("version: {} is of a later Muster; this one knows {}", version, kVersion));
    TRY(const std::uint64_t chunk, fields.number("chunk_bytes"));
    if (chunk != kChunk) return wrong("chunk_bytes", fmt::format("must be {}", kChunk));
    Manifest manifest;
    TRY(manifest.job, fields.text("job"));
    TRY(manifest.facts.epoch, fields.number("epoch"));
    TRY(manifest.facts.generation, fields.number("generation"));
    TRY(manifest.facts.step, fields.number("step"));
    TRY(const std::string format, fields.text("format"));
    const auto known = format_named(format);
    if (!known) return wrong("format", fmt::format("\"{}\" is unknown", visible_line(format)));
    manifest.format = *known;
    TRY(const std::uint64_t made, fields.number("made_unix_ms", INT64_MAX));
    manifest.made_unix_ms = static_cast<std::int64_t>(made);
    TRY(manifest.data_position, fields.text("data_position"));
    TRY(const json::object* const layout, fields.object("layout"));
    TRY(manifest.layout, read_layout(Fields(*layout, "layout")));
    TRY(const json::array* const shards, fields.list("shards"));
    for (std::size_t i = 0; i < shards->size(); ++i) {
        TRY(const Fields shard, fields_of((*shards)[i], fmt::format("shards[{}]", i)));
        TRY(ManifestShard read, read_shard(shard, manifest.layout));
        manifest.shards.push_back(std::move(read));
    }
    TRY_VOID(check_shards(manifest));
    return manifest;
}

json::object written(const StoredShard& file) {
    std::string chunks;
    for (const std::uint64_t digest : file.chunks) chunks += hex(digest);
    return {{"path", file.path}, {"bytes", file.bytes}, {"chunks", chunks}};
}

}  // namespace

std::string_view name_of(Format format) {
    return std::ranges::find(kFormats, format, &std::pair<Format, std::string_view>::first)->second;
}

std::optional<Format> format_named(std::string_view name) {
    for (const auto& [format, known] : kFormats)
        if (known == name) return format;
    return std::nullopt;
}

std::string describe(const ParallelLayout& layout) {
    std::string text =
        fmt::format("{} rank{}, {} shard{}", layout.world_size, layout.world_size == 1 ? "" : "s",
                    layout.shards, layout.shards == 1 ? "" : "s");
    for (const auto& [key, word] : layout.words) text += fmt::format(", {}={}", key, word);
    return text;
}

std::uint64_t bytes_of(const Manifest& manifest) {
    std::uint64_t bytes = 0;
    for (const ManifestShard& shard : manifest.shards)
        for (const StoredShard& file : shard.files) bytes += file.bytes;
    return bytes;
}

std::string encode(const Manifest& manifest) {
    json::object words;
    for (const auto& [key, word] : manifest.layout.words) words[key] = word;
    json::array shards;
    for (const ManifestShard& shard : manifest.shards) {
        json::array files;
        for (const StoredShard& file : shard.files) files.push_back(written(file));
        shards.push_back({{"rank", shard.rank}, {"files", std::move(files)}});
    }
    const json::object all{{"version", kVersion},
                           {"job", manifest.job},
                           {"step", manifest.facts.step},
                           {"epoch", manifest.facts.epoch},
                           {"generation", manifest.facts.generation},
                           {"format", name_of(manifest.format)},
                           {"made_unix_ms", manifest.made_unix_ms},
                           {"layout",
                            {{"world_size", manifest.layout.world_size},
                             {"shards", manifest.layout.shards},
                             {"words", std::move(words)}}},
                           {"data_position", manifest.data_position},
                           {"chunk_bytes", kChunk},
                           {"shards", std::move(shards)}};
    std::string text = json::serialize(all);
    text.pop_back();
    const std::uint64_t digest = digest_of_text(text);
    return fmt::format("{}{}{}{}", text, kDigestBegin, hex(digest), kDigestEnd);
}

Result<Manifest> decode_manifest(std::string_view text) {
    const Error torn(Code::kInvalid,
                     "it is no manifest of Muster, or damaged: its digest is wrong");
    if (text.size() > kMaxManifest) return wrong("manifest", "is too large");
    if (text.size() < kDigestBytes) return torn;
    const std::string_view content = text.substr(0, text.size() - kDigestBytes);
    std::string_view rest = text.substr(content.size());
    if (!rest.starts_with(kDigestBegin) || !rest.ends_with(kDigestEnd)) return torn;
    const auto digest = from_hex(rest.substr(kDigestBegin.size(), kHexDigits));
    if (!digest || *digest != digest_of_text(content)) return torn;
    boost::system::error_code failed;
    const json::value read = json::parse(text, failed, {}, {.max_depth = 6});
    if (failed || !read.is_object()) return Error(Code::kInvalid, "it is no JSON object");
    return read_manifest(read.get_object());
}

}  // namespace muster::checkpoint
