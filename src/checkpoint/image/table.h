#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/image/dtype.h"

namespace muster::checkpoint {

// The table of an image, which is a safetensors file: eight bytes with the length of the table, the
// table as JSON, the tensors. (huggingface/safetensors, README "Format".) Pure.

/// An image, and what is in front of its tensors, is a multiple of it: direct I/O wants that.
inline constexpr std::uint64_t kPage = 4096;
/// Of a table, as safetensors has it.
inline constexpr std::uint64_t kMaxTable = 100'000'000;

struct Tensor {
    std::string name;
    Dtype dtype = Dtype::kU8;
    std::vector<std::uint64_t> shape;  ///< none: one element
    std::uint64_t begin = 0;           ///< in bytes, from the first tensor on
    std::uint64_t end = 0;

    std::uint64_t bytes() const { return end - begin; }
    friend bool operator==(const Tensor&, const Tensor&) = default;
};

struct Table {
    std::vector<Tensor> tensors = {};                  ///< as they lie, without gaps
    std::map<std::string, std::string> metadata = {};  ///< words about them: `__metadata__`

    /// Of all tensors together.
    std::uint64_t payload() const { return tensors.empty() ? 0 : tensors.back().end; }
    friend bool operator==(const Table&, const Table&) = default;
};

/// Gives each tensor its place: those of the widest elements first, then by name, so that each is
/// aligned to its elements. kInvalid: a name twice, one that is not UTF-8 or is `__metadata__`, a shape of
/// more bytes than can be counted.
Result<Table> lay_out(Table table);

/// What is in front of the tensors: the length, the table, and spaces up to a multiple of kPage.
/// kTooLarge: more than kMaxTable.
Result<std::string> encode(const Table& table);

/// How many bytes the text of an image's table has, from the first eight bytes of the image. kInvalid: that
/// is no image of `image_bytes`.
Result<std::uint64_t> table_bytes(std::string_view first_eight, std::uint64_t image_bytes);

/// The table of an image of `image_bytes`. `text` is the image's begin, of table_bytes(). kInvalid, with the
/// tensor's name: what is not a table whose tensors fill the rest of the image.
Result<Table> decode(std::string_view text, std::uint64_t image_bytes);

}  // namespace muster::checkpoint
