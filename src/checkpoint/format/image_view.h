#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "checkpoint/image/table.h"

namespace muster::checkpoint {

/// The tensor that has what is no tensor, in the form of the framework that saved it: of torch, a pickle as
/// torch.save writes it, in which the key of each storage is the name of a tensor of this table. Zero bytes may follow it.
inline constexpr std::string_view kTreeTensor = "muster.tree";

/// An image in memory with its table, which both stay as they are while this is used.
struct ImageView {
    const Table& table;
    std::span<const std::byte> bytes;  ///< of the whole image

    /// kInvalid: the bytes are fewer than the table says.
    Result<void> check() const {
        if (bytes.size() >= table.payload()) return {};
        return Error(Code::kInvalid, "an image is shorter than its tensors");
    }
    std::span<const std::byte> of(const Tensor& tensor) const {
        return bytes.subspan(bytes.size() - table.payload() + tensor.begin, tensor.bytes());
    }
    /// nullptr: there is no such tensor.
    const Tensor* find(std::string_view name) const {
        for (const Tensor& tensor : table.tensors)
            if (tensor.name == name) return &tensor;
        return nullptr;
    }
};

}  // namespace muster::checkpoint
