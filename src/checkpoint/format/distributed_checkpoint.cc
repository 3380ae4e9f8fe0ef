#include "checkpoint/format/distributed_checkpoint.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <utility>

#include "checkpoint/format/crc32.h"
#include "checkpoint/format/shown_name.h"
#include "checkpoint/format/torch_file.h"
#include "checkpoint/format/torch_pickle.h"
#include "checkpoint/format/torch_tree.h"
#include "checkpoint/format/zip_writer.h"
#include "checkpoint/pickle/pickle_reader.h"

namespace muster::checkpoint {
namespace {

/// An archive of one value: its pickle, and the storages that this names by their numbers.
struct Archive {
    DistributedEntry entry;
    std::string pickle = {};
    Pieces storages = {};
};

/// Makes the archives of an image, without their checksums.
class Archives {
  public:
    Archives(const ImageView& image, std::span<const Placement> placements) : image_(image) {
        for (const Tensor& tensor : image.table.tensors) tensors_.emplace(tensor.name, &tensor);
        for (const Placement& placement : placements)
            placements_.emplace(placement.name, &placement);
    }

    Result<std::vector<Archive>> of_tree(const PickleTree& tree) {
        TRY(auto leaves, flatten(tree));
        std::vector<Archive> all;
        for (TreeLeaf& leaf : leaves) {
            TRY(auto tensor, torch_tensor(tree, leaf.node));
            if (tensor) {
                TRY(all.emplace_back(), of_tensor(std::move(leaf.path), *std::move(tensor)));
            } else {
                TRY(all.emplace_back(), of_value(tree, leaf));
            }
        }
        return all;
    }
    Result<std::vector<Archive>> of_table() {
        std::vector<Archive> all;
        for (const Tensor& tensor : image_.table.tensors) {
            TRY(all.emplace_back(),
                of_tensor({{.key = tensor.name}}, torch_tensor_of(tensor, tensor.name)));
        }
        return all;
    }

  private:
    Result<Archive> of_tensor(std::vector<PathPart> path, TorchTensor tensor) {
        if (tensor.element_bytes == 0 || tensor.storage.element_bytes == 0)
            return Error(Code::kUnsupported,
                         fmt::format("the tensor {} is of the type {}, which is not known",
                                     shown_name(name_of(path)), shown_name(tensor.dtype)));
        Archive made{.entry = {.path = std::move(path),
                               .dtype = tensor.dtype,
                               .global_shape = tensor.shape,
                               .offsets = std::vector<std::uint64_t>(tensor.shape.size(), 0),
                               .sizes = tensor.shape}};
        TRY_VOID(place(made.entry, tensor.storage.key));
        std::span<const std::byte> bytes = image_.of(*tensors_.at(tensor.storage.key));
        // Of a tensor that is a part of its storage, only that part is needed.
        if (tensor.is_contiguous()) {
            bytes = tensor.elements() == 0
                        ? std::span<const std::byte>()
                        : bytes.subspan(tensor.offset * tensor.element_bytes,
                                        tensor.elements() * tensor.element_bytes);
            tensor.storage.elements = bytes.size() / tensor.storage.element_bytes;
            tensor.offset = 0;
        }
        tensor.storage.key = "0";
        PickleWriter writer;
        write_torch_tensor(writer, tensor);
        made.pickle = writer.finish();
        made.storages.push_back(bytes);
        return made;
    }

    Result<void> place(DistributedEntry& entry, const std::string& tensor) {
        const auto found = placements_.find(tensor);
        if (found == placements_.end()) return {};
        const Placement& placement = *found->second;
        bool fits = placement.global_shape.size() == entry.sizes.size() &&
                    placement.offsets.size() == entry.sizes.size();
        for (std::size_t i = 0; fits && i < entry.sizes.size(); ++i)
            fits = placement.offsets[i] <= placement.global_shape[i] &&
                   entry.sizes[i] <= placement.global_shape[i] - placement.offsets[i];
        if (!fits)
            return Error(Code::kInvalid, fmt::format("the tensor {} reaches beyond that of which "
                                                     "it is said to be a part",
                                                     shown_name(name_of(entry.path))));
        entry.global_shape = placement.global_shape;
        entry.offsets = placement.offsets;
        return {};
    }

    Result<Archive> of_value(const PickleTree& tree, TreeLeaf& leaf) {
        Archive made{.entry = {.path = std::move(leaf.path)}};
        PickleWriter writer;
        std::unordered_map<std::string, std::size_t> numbers;
        TRY_VOID(write_node(writer, tree, leaf.node, [&](const PickleNode& node) -> Result<void> {
            const PickleNode& id = tree[node.items[0]];
            const std::string& key = tree[id.items[2]].text;
            const auto [number, is_new] = numbers.emplace(key, made.storages.size());
            if (is_new) made.storages.push_back(image_.of(*tensors_.at(key)));
            writer.mark();
            writer.text("storage");
            writer.global_of(tree[id.items[1]]);
            writer.text(fmt::format("{}", number->second));
            writer.text("cpu");
            writer.integer(tree[id.items[4]].integer);
            writer.tuple();
            writer.persistent();
            return {};
        }));
        made.pickle = writer.finish();
        return made;
    }

    const ImageView& image_;
    std::unordered_map<std::string_view, const Tensor*> tensors_;
    std::unordered_map<std::string_view, const Placement*> placements_;
};

Result<void> write_archive(Composed& file, Archive& archive, std::span<const std::uint32_t> crcs) {
    // Tensors are aligned in the file as they are in their archive.
    file.add_owned(
        std::string((kZipAlignment - file.bytes() % kZipAlignment) % kZipAlignment, '\0'));
    archive.entry.begin = file.bytes();
    ZipWriter zip(file);
    TRY_VOID(zip.add_owned("archive/data.pkl", archive.pickle));
    TRY_VOID(zip.add_owned("archive/byteorder", "little"));
    for (std::size_t i = 0; i < archive.storages.size(); ++i)
        TRY_VOID(zip.add(fmt::format("archive/data/{}", i), archive.storages[i], crcs[i]));
    TRY_VOID(zip.add_owned("archive/version", "3\n"));
    zip.finish();
    archive.entry.bytes = file.bytes() - archive.entry.begin;
    return {};
}

}  // namespace

std::string distributed_file_name(std::uint32_t rank) { return fmt::format("__{}_0.distcp", rank); }

Result<DistributedFile> compose_distributed(const ImageView& image,
                                            std::span<const Placement> placements, int threads) {
    TRY(const std::string_view pickle, torch_pickle(image));
    Archives making(image, placements);
    std::vector<Archive> archives;
    if (pickle.empty()) {
        TRY(archives, making.of_table());
    } else {
        TRY(const PickleTree tree, read_pickle(pickle));
        TRY(archives, making.of_tree(tree));
    }
    Pieces contents;
    for (const Archive& archive : archives)
        contents.insert(contents.end(), archive.storages.begin(), archive.storages.end());
    const auto crcs = crc32_of(contents, threads);
    DistributedFile made;
    std::span<const std::uint32_t> rest = crcs;
    for (Archive& archive : archives) {
        TRY_VOID(write_archive(made.file, archive, rest));
        rest = rest.subspan(archive.storages.size());
        made.entries.push_back(std::move(archive.entry));
    }
    return made;
}

}  // namespace muster::checkpoint
