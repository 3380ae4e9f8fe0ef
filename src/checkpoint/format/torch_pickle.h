#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "checkpoint/format/torch_tree.h"
#include "checkpoint/image/table.h"
#include "checkpoint/pickle/pickle_writer.h"

namespace muster::checkpoint {

/// A tensor as torch.save writes it: the call that makes it of its storage.
void write_torch_tensor(PickleWriter& writer, const TorchTensor& tensor);

/// The persistent id of a storage.
void write_torch_storage(PickleWriter& writer, const TorchStorage& storage);

/// A tensor of an image by itself, whose storage has the key. Its elements lie one after the other.
TorchTensor torch_tensor_of(const Tensor& tensor, std::string_view key);

/// A dictionary of all tensors of a table by name, each the storage of its own name: what an image without a tree is for torch.
std::string pickle_of_tensors(const Table& table);

}  // namespace muster::checkpoint
