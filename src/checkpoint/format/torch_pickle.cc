#include "checkpoint/format/torch_pickle.h"

#include "checkpoint/format/image_view.h"

namespace muster::checkpoint {
namespace {

/// The class of a storage of elements of this type; empty: it has none, and its storage is one of bytes.
std::string_view storage_class(std::string_view dtype) {
    const TorchDtype* const known = torch_dtype_named(dtype);
    return known != nullptr && known->storage ? *known->storage : std::string_view();
}

}  // namespace

void write_torch_tensor(PickleWriter& writer, const TorchTensor& tensor) {
    const std::string_view type = storage_class(tensor.dtype);
    // The newer call takes a storage of bytes and a type, the older one a storage that has a type.
    const bool newer =
        type.empty() || tensor.storage.is_untyped || tensor.dtype != tensor.storage.dtype;
    writer.global("torch._utils", newer ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
    writer.mark();
    write_torch_storage(writer, tensor.storage);
    writer.integer(static_cast<std::int64_t>(tensor.offset));
    writer.integers(tensor.shape);
    writer.integers(tensor.strides);
    writer.boolean(false);  // needs no gradient
    writer.global("collections", "OrderedDict");
    writer.empty_tuple();
    writer.call();
    if (newer) writer.global("torch", tensor.dtype);
    writer.tuple();
    writer.call();
}

void write_torch_storage(PickleWriter& writer, const TorchStorage& storage) {
    const bool untyped = storage.is_untyped;
    writer.mark();
    writer.text("storage");
    untyped ? writer.global("torch.storage", "UntypedStorage")
            : writer.global("torch", storage_class(storage.dtype));
    writer.text(storage.key);
    writer.text("cpu");
    writer.integer(static_cast<std::int64_t>(storage.elements));
    writer.tuple();
    writer.persistent();
}

TorchTensor torch_tensor_of(const Tensor& tensor, std::string_view key) {
    const TorchDtype& dtype = torch_dtype(tensor.dtype);
    const bool untyped = !dtype.storage;
    TorchTensor made{
        .storage = {.key = std::string(key),
                    .dtype = std::string(untyped ? "uint8" : dtype.name),
                    .is_untyped = untyped,
                    .element_bytes = untyped ? 1 : dtype.bytes,
                    .elements = untyped ? tensor.bytes() : tensor.bytes() / dtype.bytes},
        .dtype = std::string(dtype.name),
        .element_bytes = dtype.bytes,
        .offset = 0,
        .shape = tensor.shape,
        .strides = contiguous_strides(tensor.shape)};
    return made;
}

std::string pickle_of_tensors(const Table& table) {
    PickleWriter writer;
    writer.empty_dict();
    writer.mark();
    for (const Tensor& tensor : table.tensors) {
        if (tensor.name == kTreeTensor) continue;
        writer.text(tensor.name);
        write_torch_tensor(writer, torch_tensor_of(tensor, tensor.name));
    }
    writer.set_items();
    return writer.finish();
}

}  // namespace muster::checkpoint
