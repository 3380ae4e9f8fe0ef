#include "checkpoint/format/torch_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "checkpoint/format/shown_name.h"

namespace muster::checkpoint {
namespace {

constexpr std::size_t kMostDimensions = 64;  // torch's own limit
constexpr std::string_view kUntyped = "torch.storage UntypedStorage";

constexpr std::array<TorchDtype, 23> kTorchDtypes{{
    {"float64", "DoubleStorage", 8, Dtype::kF64},
    {"int64", "LongStorage", 8, Dtype::kI64},
    {"uint64", std::nullopt, 8, Dtype::kU64},
    {"float32", "FloatStorage", 4, Dtype::kF32},
    {"int32", "IntStorage", 4, Dtype::kI32},
    {"uint32", std::nullopt, 4, Dtype::kU32},
    {"float16", "HalfStorage", 2, Dtype::kF16},
    {"bfloat16", "BFloat16Storage", 2, Dtype::kBf16},
    {"int16", "ShortStorage", 2, Dtype::kI16},
    {"uint16", std::nullopt, 2, Dtype::kU16},
    {"float8_e5m2", std::nullopt, 1, Dtype::kF8E5m2},
    {"float8_e4m3fn", std::nullopt, 1, Dtype::kF8E4m3},
    {"int8", "CharStorage", 1, Dtype::kI8},
    {"uint8", "ByteStorage", 1, Dtype::kU8},
    {"bool", "BoolStorage", 1, Dtype::kBool},
    {"complex64", "ComplexFloatStorage", 8, std::nullopt},
    {"complex128", "ComplexDoubleStorage", 16, std::nullopt},
    {"quint8", "QUInt8Storage", 1, std::nullopt},
    {"qint8", "QInt8Storage", 1, std::nullopt},
    {"qint32", "QInt32Storage", 4, std::nullopt},
    {"quint4x2", "QUInt4x2Storage", 1, std::nullopt},
    {"quint2x4", "QUInt2x4Storage", 1, std::nullopt},
    {"complex32", std::nullopt, 4, std::nullopt},
}};

Error wrong_tensor(std::string_view what) {
    return Error(Code::kInvalid, fmt::format("a tensor's pickle: {}", what));
}

std::optional<std::uint64_t> whole_number(const PickleNode& node) {
    if (node.kind != PickleKind::kInteger || node.integer < 0) return std::nullopt;
    return static_cast<std::uint64_t>(node.integer);
}

std::optional<std::vector<std::uint64_t>> whole_numbers(const PickleTree& tree,
                                                        const PickleNode& node) {
    if (node.kind != PickleKind::kTuple || node.items.size() > kMostDimensions) return std::nullopt;
    std::vector<std::uint64_t> all;
    for (const NodeId item : node.items) {
        const auto one = whole_number(tree[item]);
        if (!one) return std::nullopt;
        all.push_back(*one);
    }
    return all;
}

bool calls(const PickleTree& tree, const PickleNode& node, std::string_view global) {
    return node.kind == PickleKind::kCall && tree[node.items[0]].kind == PickleKind::kGlobal &&
           tree[node.items[0]].text == global;
}

/// Whether all that it names lies within its storage.
bool is_within(const TorchTensor& tensor) {
    if (std::ranges::find(tensor.shape, 0u) != tensor.shape.end()) return true;
    std::uint64_t last = tensor.offset;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
        std::uint64_t reach = 0;
        if (__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &reach) ||
            __builtin_add_overflow(last, reach, &last))
            return false;
    }
    std::uint64_t bytes = 0;
    return !__builtin_add_overflow(last, 1, &last) &&
           !__builtin_mul_overflow(last, tensor.element_bytes, &bytes) &&
           bytes <= tensor.storage.bytes();
}

}  // namespace

const TorchDtype& torch_dtype(Dtype dtype) { return kTorchDtypes[static_cast<std::size_t>(dtype)]; }

const TorchDtype* torch_dtype_named(std::string_view name) {
    const auto* const found = std::ranges::find(kTorchDtypes, name, &TorchDtype::name);
    return found == kTorchDtypes.end() ? nullptr : found;
}

std::vector<std::uint64_t> contiguous_strides(const std::vector<std::uint64_t>& shape) {
    std::vector<std::uint64_t> strides(shape.size(), 1);
    // As torch has it, an empty dimension counts as one.
    for (std::size_t i = shape.size(); i-- > 1;)
        strides[i - 1] = strides[i] * std::max<std::uint64_t>(shape[i], 1);
    return strides;
}

std::uint64_t TorchTensor::elements() const {
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) count *= size;
    return count;
}

bool TorchTensor::is_contiguous() const {
    std::uint64_t expected = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        if (shape[i] != 1 && strides[i] != expected) return elements() == 0;
        expected *= shape[i];
    }
    return true;
}

Result<TorchStorage> torch_storage(const PickleTree& tree, NodeId id) {
    const PickleNode& node = tree[id];
    if (node.kind != PickleKind::kPersistent)
        return wrong_tensor("its storage is not outside of it");
    const PickleNode& parts = tree[node.items[0]];
    if (parts.kind != PickleKind::kTuple || parts.items.size() < 5)
        return wrong_tensor("a storage's id has five parts");
    const auto part = [&](std::size_t i) -> const PickleNode& { return tree[parts.items[i]]; };
    const auto elements = whole_number(part(4));
    if (part(0).kind != PickleKind::kText || part(0).text != "storage" ||
        part(1).kind != PickleKind::kGlobal || part(2).kind != PickleKind::kText || !elements)
        return wrong_tensor("a storage's id is ('storage', type, key, device, elements)");
    TorchStorage storage{.key = part(2).text, .dtype = {}, .elements = *elements};
    const std::string_view type = part(1).text;
    for (const TorchDtype& one : kTorchDtypes)
        if (one.storage && type.starts_with("torch ") && type.substr(6) == *one.storage) {
            storage.dtype = one.name;
            storage.element_bytes = one.bytes;
        }
    if (type == kUntyped) {
        storage.dtype = "uint8";
        storage.is_untyped = true;
        storage.element_bytes = 1;
    }
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(storage.elements, storage.element_bytes, &bytes) ||
        bytes > INT64_MAX)
        return wrong_tensor("a storage of more bytes than can be counted");
    return storage;
}

Result<std::optional<TorchTensor>> torch_tensor(const PickleTree& tree, NodeId id) {
    const PickleNode* node = &tree[id];
    if (calls(tree, *node, "torch._utils _rebuild_parameter")) {
        const PickleNode& arguments = tree[node->items[1]];
        if (arguments.items.empty()) return wrong_tensor("a parameter of nothing");
        node = &tree[arguments.items[0]];
    }
    const bool newer = calls(tree, *node, "torch._utils _rebuild_tensor_v3");
    if (!newer && !calls(tree, *node, "torch._utils _rebuild_tensor_v2"))
        return std::optional<TorchTensor>();
    const PickleNode& arguments = tree[node->items[1]];
    const auto argument = [&](std::size_t i) -> const PickleNode& {
        return tree[arguments.items[i]];
    };
    if (arguments.items.size() < (newer ? 7 : 4)) return wrong_tensor("too few of its parts");
    TorchTensor tensor;
    TRY(tensor.storage, torch_storage(tree, arguments.items[0]));
    const auto offset = whole_number(argument(1));
    auto shape = whole_numbers(tree, argument(2));
    auto strides = whole_numbers(tree, argument(3));
    if (!offset || !shape || !strides || shape->size() != strides->size())
        return wrong_tensor("offset, shape and strides are no whole numbers");
    tensor.offset = *offset;
    tensor.shape = *std::move(shape);
    tensor.strides = *std::move(strides);
    tensor.dtype = tensor.storage.dtype;
    tensor.element_bytes = tensor.storage.element_bytes;
    if (newer) {
        const PickleNode& type = argument(6);
        if (type.kind != PickleKind::kGlobal || !type.text.starts_with("torch "))
            return wrong_tensor("its type is none of torch's");
        tensor.dtype = type.text.substr(6);
        const TorchDtype* const known = torch_dtype_named(tensor.dtype);
        tensor.element_bytes = known == nullptr ? 0 : known->bytes;
    }
    if (!is_within(tensor)) return wrong_tensor("it reaches beyond its storage");
    return std::optional(std::move(tensor));
}

Result<std::vector<TorchStorage>> torch_storages(const PickleTree& tree) {
    std::vector<TorchStorage> all;
    std::unordered_map<std::string, std::size_t> by_key;
    for (NodeId id = 0; id < tree.nodes.size(); ++id) {
        if (tree[id].kind != PickleKind::kPersistent) continue;
        TRY(TorchStorage storage, torch_storage(tree, id));
        const auto [known, is_new] = by_key.emplace(storage.key, all.size());
        if (is_new) {
            all.push_back(std::move(storage));
        } else if (const TorchStorage& first = all[known->second];
                   first.bytes() != storage.bytes()) {
            return wrong_tensor(
                fmt::format("the storage {} has two sizes", shown_name(storage.key)));
        }
    }
    return all;
}

}  // namespace muster::checkpoint
