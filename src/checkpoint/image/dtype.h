#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::checkpoint {

/// The types of elements that safetensors knows (huggingface/safetensors, safetensors/src/tensor.rs).
enum class Dtype : std::uint8_t {
    kF64,
    kI64,
    kU64,
    kF32,
    kI32,
    kU32,
    kF16,
    kBf16,
    kI16,
    kU16,
    kF8E5m2,
    kF8E4m3,
    kI8,
    kU8,
    kBool,
};

struct DtypeFacts {
    Dtype dtype;
    std::string_view name;  ///< in a table: "BF16"
    std::size_t bytes;      ///< of one element, which is aligned to as many
};

inline constexpr std::array<DtypeFacts, 15> kDtypes{{
    {Dtype::kF64, "F64", 8},
    {Dtype::kI64, "I64", 8},
    {Dtype::kU64, "U64", 8},
    {Dtype::kF32, "F32", 4},
    {Dtype::kI32, "I32", 4},
    {Dtype::kU32, "U32", 4},
    {Dtype::kF16, "F16", 2},
    {Dtype::kBf16, "BF16", 2},
    {Dtype::kI16, "I16", 2},
    {Dtype::kU16, "U16", 2},
    {Dtype::kF8E5m2, "F8_E5M2", 1},
    {Dtype::kF8E4m3, "F8_E4M3", 1},
    {Dtype::kI8, "I8", 1},
    {Dtype::kU8, "U8", 1},
    {Dtype::kBool, "BOOL", 1},
}};

constexpr const DtypeFacts& facts_of(Dtype dtype) {
    return kDtypes[static_cast<std::size_t>(dtype)];
}
constexpr std::optional<Dtype> dtype_named(std::string_view name) {
    for (const DtypeFacts& facts : kDtypes)
        if (facts.name == name) return facts.dtype;
    return std::nullopt;
}

}  // namespace muster::checkpoint
