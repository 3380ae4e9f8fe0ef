#include "checkpoint/format/torch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/lower_case.h"
#include "checkpoint/format/crc32.h"
#include "checkpoint/format/shown_name.h"
#include "checkpoint/format/torch_pickle.h"
#include "checkpoint/format/torch_tree.h"
#include "checkpoint/format/zip_writer.h"
#include "checkpoint/pickle/pickle_reader.h"

namespace muster::checkpoint {
namespace {

/// What torch calls the archive when it writes one that has no name.
constexpr std::string_view kArchive = "archive/";

std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Torch finds an entry whatever the case of its letters, and takes what ends with a slash for a directory.
Result<void> check_names(const Table& table) {
    std::unordered_map<std::string, std::string_view> seen;
    for (const Tensor& tensor : table.tensors) {
        if (tensor.name.ends_with('/'))
            return Error(Code::kInvalid, fmt::format("the tensor {}: torch would take its name "
                                                     "for that of a directory",
                                                     shown_name(tensor.name)));
        const auto [before, is_new] = seen.emplace(lower_case(tensor.name), tensor.name);
        if (!is_new)
            return Error(Code::kInvalid,
                         fmt::format("the tensors {} and {}: torch takes names that differ by the "
                                     "case of letters for one",
                                     shown_name(before->second), shown_name(tensor.name)));
    }
    return {};
}

/// Each storage that the tree names is a tensor of the table.
Result<void> check_storages(const PickleTree& tree, const Table& table) {
    TRY(const auto storages, torch_storages(tree));
    std::unordered_map<std::string_view, std::uint64_t> bytes;
    for (const Tensor& tensor : table.tensors) bytes.emplace(tensor.name, tensor.bytes());
    for (const TorchStorage& storage : storages) {
        const auto found = bytes.find(storage.key);
        if (found == bytes.end() || storage.key == kTreeTensor)
            return Error(Code::kInvalid, fmt::format("the tree names the tensor {}, which is not "
                                                     "in the image",
                                                     shown_name(storage.key)));
        if (storage.element_bytes != 0 && storage.bytes() != found->second)
            return Error(Code::kInvalid,
                         fmt::format("the tensor {} has {} bytes, and the tree "
                                     "says {}",
                                     shown_name(storage.key), found->second, storage.bytes()));
    }
    return {};
}

}  // namespace

Result<std::string_view> torch_pickle(const ImageView& image) {
    TRY_VOID(image.check());
    const Tensor* const tensor = image.find(kTreeTensor);
    if (tensor == nullptr) return std::string_view();
    const std::string_view text = as_text(image.of(*tensor));
    TRY(const PickleTree tree, read_pickle(text));
    TRY_VOID(check_storages(tree, image.table));
    return text.substr(0, tree.bytes);
}

Result<Composed> compose_torch(const ImageView& image, int threads) {
    TRY(const std::string_view tree, torch_pickle(image));
    TRY_VOID(check_names(image.table));
    std::vector<const Tensor*> tensors;
    Pieces contents;
    for (const Tensor& tensor : image.table.tensors) {
        if (tensor.name == kTreeTensor) continue;
        tensors.push_back(&tensor);
        contents.push_back(image.of(tensor));
    }
    const auto crcs = crc32_of(contents, threads);
    Composed file;
    ZipWriter zip(file);
    const auto name = [](std::string_view entry) { return fmt::format("{}{}", kArchive, entry); };
    // First, since torch takes the archive's name from the first entry and looks for this one before all others.
    TRY_VOID(zip.add_owned(name("data.pkl"),
                           tree.empty() ? pickle_of_tensors(image.table) : std::string(tree)));
    TRY_VOID(zip.add_owned(name("byteorder"), "little"));
    for (std::size_t i = 0; i < tensors.size(); ++i)
        TRY_VOID(zip.add(name("data/" + tensors[i]->name), contents[i], crcs[i]));
    TRY_VOID(zip.add_owned(name("version"), "3\n"));
    zip.finish();
    return file;
}

}  // namespace muster::checkpoint
