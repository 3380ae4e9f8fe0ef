#include "checkpoint/image/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstring>
#include <optional>
#include <tuple>

#include "base/utf8.h"
#include "base/visible_text.h"

namespace muster::checkpoint {

namespace json = boost::json;
static_assert(std::endian::native == std::endian::little, "images are little-endian");

namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::string_view kMetadata = "__metadata__";
constexpr std::size_t kMaxNameShown = 200;

std::string shown(std::string_view name) {
    return '"' + visible_line(name.substr(0, kMaxNameShown)) + '"';
}

/// nullopt: more than can be counted.
std::optional<std::uint64_t> bytes_of(Dtype dtype, const std::vector<std::uint64_t>& shape) {
    std::uint64_t bytes = facts_of(dtype).bytes;
    // A dimension of 0 makes the product 0, however large the others are.
    if (std::ranges::find(shape, 0u) != shape.end()) return 0;
    for (const std::uint64_t size : shape)
        if (__builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
    return bytes;
}

/// A whole number that is not negative.
std::optional<std::uint64_t> number(const json::value& value) {
    if (value.is_uint64()) return value.get_uint64();
    if (value.is_int64() && value.get_int64() >= 0)
        return static_cast<std::uint64_t>(value.get_int64());
    return std::nullopt;
}

std::optional<std::vector<std::uint64_t>> numbers(const json::value* value) {
    if (value == nullptr || !value->is_array()) return std::nullopt;
    std::vector<std::uint64_t> all;
    for (const json::value& one : value->get_array()) {
        const auto read = number(one);
        if (!read) return std::nullopt;
        all.push_back(*read);
    }
    return all;
}

Error wrong(std::string_view tensor, std::string_view what) {
    return Error(Code::kInvalid, fmt::format("tensor {}: {}", shown(tensor), what));
}

Result<Tensor> read_tensor(std::string_view name, const json::value& value) {
    const json::object* const fields = value.if_object();
    if (fields == nullptr || fields->size() != 3)
        return wrong(name, "must have dtype, shape and data_offsets, and nothing else");
    const json::value* const dtype = fields->if_contains("dtype");
    if (dtype == nullptr || !dtype->is_string()) return wrong(name, "has no dtype");
    const auto known = dtype_named(dtype->get_string());
    if (!known)
        return wrong(name,
                     fmt::format("unknown dtype {}", shown(std::string_view(dtype->get_string()))));
    auto shape = numbers(fields->if_contains("shape"));
    if (!shape) return wrong(name, "shape must be a list of whole numbers");
    const auto offsets = numbers(fields->if_contains("data_offsets"));
    if (!offsets || offsets->size() != 2)
        return wrong(name, "data_offsets must be two whole numbers");
    Tensor tensor{.name = std::string(name),
                  .dtype = *known,
                  .shape = *std::move(shape),
                  .begin = offsets->at(0),
                  .end = offsets->at(1)};
    const auto bytes = bytes_of(tensor.dtype, tensor.shape);
    if (tensor.begin > tensor.end || bytes != tensor.end - tensor.begin)
        return wrong(name, fmt::format("data_offsets {} to {} are not as long as its shape",
                                       tensor.begin, tensor.end));
    return tensor;
}

Result<std::map<std::string, std::string>> read_metadata(const json::value& value) {
    std::map<std::string, std::string> read;
    const json::object* const words = value.if_object();
    if (words == nullptr) return Error(Code::kInvalid, "__metadata__ must be an object");
    for (const auto& [key, word] : *words) {
        if (!word.is_string())
            return Error(Code::kInvalid,
                         fmt::format("__metadata__: {} must be a text", shown(key)));
        read.emplace(key, word.get_string());
    }
    return read;
}

/// One byte belongs to one tensor, and each byte to one.
Result<void> check_places(const Table& table, std::uint64_t payload) {
    std::uint64_t end = 0;
    for (const Tensor& tensor : table.tensors) {
        if (tensor.begin != end)
            return wrong(tensor.name, fmt::format("begins at {}, and the one before ends at {}",
                                                  tensor.begin, end));
        end = tensor.end;
    }
    if (end != payload)
        return Error(Code::kInvalid,
                     fmt::format("the tensors end at {}, and there are {} bytes", end, payload));
    return {};
}

/// Empty tensors come before the one that begins where they do.
void sort_by_place(std::vector<Tensor>& tensors) {
    std::ranges::sort(tensors, {}, [](const Tensor& tensor) {
        return std::tie(tensor.begin, tensor.end, tensor.name);
    });
}

bool lies_before(const Tensor& one, const Tensor& other) {
    const std::size_t width = facts_of(one.dtype).bytes;
    const std::size_t others = facts_of(other.dtype).bytes;
    return width != others ? width > others : one.name < other.name;
}

}  // namespace

Result<Table> lay_out(Table table) {
    std::ranges::sort(table.tensors, lies_before);
    std::uint64_t end = 0;
    std::vector<std::string_view> names;
    for (Tensor& tensor : table.tensors) {
        if (tensor.name == kMetadata || !is_utf8(tensor.name))
            return wrong(tensor.name, "is no name that a table can have");
        const auto bytes = bytes_of(tensor.dtype, tensor.shape);
        tensor.begin = end;
        if (!bytes || __builtin_add_overflow(end, *bytes, &end) || end > INT64_MAX)
            return wrong(tensor.name, "its shape has more bytes than can be counted");
        tensor.end = end;
        names.push_back(tensor.name);
    }
    std::ranges::sort(names);
    if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
        return wrong(*twice, "is there twice");
    sort_by_place(table.tensors);
    return table;
}

Result<std::string> encode(const Table& table) {
    json::object all;
    all.reserve(table.tensors.size() + 1);
    if (!table.metadata.empty()) {
        json::object words;
        for (const auto& [key, word] : table.metadata) words[key] = word;
        all[kMetadata] = std::move(words);
    }
    for (const Tensor& tensor : table.tensors)
        all[tensor.name] = {{"dtype", facts_of(tensor.dtype).name},
                            {"shape", json::array(tensor.shape.begin(), tensor.shape.end())},
                            {"data_offsets", {tensor.begin, tensor.end}}};
    std::string text(kLengthBytes, '\0');
    text += json::serialize(all);
    text.append((kPage - text.size() % kPage) % kPage, ' ');
    const std::uint64_t length = text.size() - kLengthBytes;
    if (length > kMaxTable)
        return Error(Code::kTooLarge,
                     fmt::format("the table of {} tensors has {} bytes, and a table has {} at most",
                                 table.tensors.size(), length, kMaxTable));
    std::memcpy(text.data(), &length, kLengthBytes);
    return text;
}

Result<std::uint64_t> table_bytes(std::string_view first_eight, std::uint64_t image_bytes) {
    std::uint64_t length = 0;
    if (first_eight.size() < kLengthBytes || image_bytes < kLengthBytes)
        return Error(Code::kInvalid, "an image has at least the length of its table");
    std::memcpy(&length, first_eight.data(), kLengthBytes);
    if (length > kMaxTable || length > image_bytes - kLengthBytes)
        return Error(Code::kInvalid,
                     fmt::format("a table of {} bytes in an image of {}", length, image_bytes));
    return kLengthBytes + length;
}

Result<Table> decode(std::string_view text, std::uint64_t image_bytes) {
    TRY(const std::uint64_t whole, table_bytes(text.substr(0, kLengthBytes), image_bytes));
    if (text.size() != whole) return Error(Code::kInvalid, "the text is not that of the table");
    boost::system::error_code failed;
    const json::value read = json::parse(text.substr(kLengthBytes), failed, {}, {.max_depth = 4});
    if (failed || !read.is_object()) return Error(Code::kInvalid, "the table is no JSON object");
    Table table;
    table.tensors.reserve(read.get_object().size());
    for (const auto& [name, value] : read.get_object()) {
        if (name == kMetadata) {
            TRY(table.metadata, read_metadata(value));
            continue;
        }
        TRY(Tensor tensor, read_tensor(name, value));
        table.tensors.push_back(std::move(tensor));
    }
    sort_by_place(table.tensors);
    TRY_VOID(check_places(table, image_bytes - whole));
    return table;
}

}  // namespace muster::checkpoint
