#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoint/image/dtype.h"
#include "checkpoint/pickle/pickle_tree.h"

namespace muster::checkpoint {

// What torch means by the calls in a pickle that torch.save wrote.

/// Memory that tensors are views of: the persistent id `('storage', type, key, 'cpu', elements)`.
struct TorchStorage {
    std::string key;
    std::string dtype;  ///< torch's name of its elements: "float32"; of UntypedStorage "uint8"
    bool is_untyped = false;          ///< its class is UntypedStorage
    std::uint64_t element_bytes = 0;  ///< 0: a type that is not known here
    std::uint64_t elements = 0;

    std::uint64_t bytes() const { return elements * element_bytes; }
};

struct TorchTensor {
    TorchStorage storage;
    std::string dtype;  ///< torch's name: "bfloat16"
    std::uint64_t element_bytes = 0;
    std::uint64_t offset = 0;  ///< in elements, from the storage's begin on
    std::vector<std::uint64_t> shape;
    std::vector<std::uint64_t> strides;  ///< in elements

    std::uint64_t elements() const;
    /// Its elements lie one after the other.
    bool is_contiguous() const;
};

/// How torch names the types that images have, and the class of its storage; nullopt: newer than those classes.
struct TorchDtype {
    std::string_view name;                    ///< "float32"
    std::optional<std::string_view> storage;  ///< "FloatStorage", in the module torch
    std::uint64_t bytes;
    std::optional<Dtype> dtype;  ///< in an image; nullopt: an image has it as something else
};
const TorchDtype& torch_dtype(Dtype dtype);
/// By torch's name; nullptr: it is not known here.
const TorchDtype* torch_dtype_named(std::string_view name);
/// Of a tensor whose elements lie one after the other, the last dimension closest.
std::vector<std::uint64_t> contiguous_strides(const std::vector<std::uint64_t>& shape);

/// kInvalid: the node of a persistent id that torch would not write.
Result<TorchStorage> torch_storage(const PickleTree& tree, NodeId id);
/// A tensor or a parameter; nullopt: it is something else. kInvalid: it is one, but reaches beyond its storage or is damaged.
Result<std::optional<TorchTensor>> torch_tensor(const PickleTree& tree, NodeId id);
/// Of the whole tree, each key once, by its first place. kInvalid: as above, or a key with two sizes.
Result<std::vector<TorchStorage>> torch_storages(const PickleTree& tree);

}  // namespace muster::checkpoint
