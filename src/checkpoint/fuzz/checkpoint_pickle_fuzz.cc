// A pickle of an unknown origin: whatever it is, it is read within the limits, what torch would make of it is told or
// refused, and what is written of it is read again.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "checkpoint/format/torch_tree.h"
#include "checkpoint/pickle/pickle_reader.h"
#include "checkpoint/pickle/pickle_writer.h"

using namespace muster::checkpoint;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const auto tree = read_pickle(all, {.bytes = 1 << 20, .nodes = 100'000});
    if (!tree) return 0;
    CHECK(tree->bytes <= size, "it ends within its bytes");
    CHECK(tree->root < tree->nodes.size(), "it has a value");
    for (NodeId id = 0; id < tree->nodes.size(); ++id) {
        for (const NodeId item : (*tree)[id].items)
            CHECK(item < tree->nodes.size(), "each item is a node");
        const auto tensor = torch_tensor(*tree, id);
        if (tensor && *tensor && (*tensor)->element_bytes != 0 && (*tensor)->is_contiguous())
            CHECK((*tensor)->elements() <= (*tensor)->storage.bytes() / (*tensor)->element_bytes,
                  "it is within its storage");
    }
    (void)torch_storages(*tree);
    PickleWriter writer;
    const auto written =
        write_node(writer, *tree, tree->root, [&](const PickleNode&) -> muster::Result<void> {
            writer.none();
            return {};
        });
    if (!written) return 0;
    const std::string text = writer.finish();
    const auto again = read_pickle(text);
    CHECK(again && again->bytes == text.size(), "what is written is read");
    return 0;
}
