#include "checkpoint/format/torch_tree.h"

#include <gtest/gtest.h>

#include "checkpoint/format/torch_pickle.h"
#include "checkpoint/pickle/pickle_reader.h"

namespace muster::checkpoint::torch_tree_test {
namespace {

TEST(TorchTree, ATensorMustBeWithinItsStorage) {
    const TorchStorage storage{.key = "k", .dtype = "float32", .element_bytes = 4, .elements = 12};
    const struct {
        std::uint64_t offset;
        std::vector<std::uint64_t> shape;
        std::vector<std::uint64_t> strides;
        bool good;
        bool contiguous;
    } rows[] = {
        {0, {3, 4}, {4, 1}, true, true},
        {0, {4, 3}, {1, 4}, true, false},
        {1, {3, 4}, {4, 1}, false, true},
        {11, {}, {}, true, true},
        {12, {}, {}, false, true},
        {5, {1, 7}, {1000, 1}, true, true},
        {0, {1ULL << 40}, {0}, true, false},
        {0, {1ULL << 32, 1ULL << 32, 2}, {1ULL << 33, 2, 1}, false, true},
        {1ULL << 62, {0, 5}, {5, 1}, true, true},
        {0, {2}, {1ULL << 62}, false, false},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.offset);
        TorchTensor tensor{.storage = storage,
                           .dtype = "float32",
                           .element_bytes = 4,
                           .offset = row.offset,
                           .shape = row.shape,
                           .strides = row.strides};
        PickleWriter writer;
        write_torch_tensor(writer, tensor);
        const auto tree = read_pickle(writer.finish()).value();
        const auto read = torch_tensor(tree, tree.root);
        EXPECT_EQ(read.has_value(), row.good);
        EXPECT_EQ(tensor.is_contiguous(), row.contiguous);
        if (!row.good || !read) continue;
        ASSERT_TRUE(*read);
        EXPECT_EQ((*read)->shape, row.shape);
        EXPECT_EQ((*read)->strides, row.strides);
        EXPECT_EQ((*read)->storage.key, "k");
        EXPECT_EQ((*read)->storage.bytes(), 48u);
        EXPECT_EQ(torch_storages(tree).value().size(), 1u);
    }
}

}  // namespace
}  // namespace muster::checkpoint::torch_tree_test
