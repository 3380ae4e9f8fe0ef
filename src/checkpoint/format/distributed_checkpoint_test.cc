#include "checkpoint/format/distributed_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/format/distributed_metadata.h"
#include "checkpoint/format/python_fixture.h"
#include "checkpoint/format/torch_pickle.h"
#include "checkpoint/pickle/pickle_reader.h"
#include "checkpoint/pickle/pickle_writer.h"

namespace muster::checkpoint::distributed_checkpoint_test {
namespace {

using ::testing::HasSubstr;
using namespace std::literals;

Tensor tensor(std::string name, Dtype dtype, std::vector<std::uint64_t> shape) {
    return {.name = std::move(name), .dtype = dtype, .shape = std::move(shape)};
}
std::string floats(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// {"model": {"w": 2 x 3 of it, "v": a column of w}, "opt": {"state": {0: {"step": 3.0}}, "groups": [{"lr": 0.5, "params": [0]}],
/// "moments": [w]}, "words": ("a", b"\xff", w), "epoch": `epoch`}
TestImage image_of(const std::vector<float>& w, std::int64_t epoch) {
    TorchTensor whole = torch_tensor_of(
        lay_out({.tensors = {tensor("", Dtype::kF32, {w.size() / 3, 3})}}).value().tensors[0],
        "a/W");
    TorchTensor column = whole;
    column.shape = {w.size() / 3};
    column.strides = {3};
    column.offset = 1;
    PickleWriter tree;
    const auto dict = [&] { tree.empty_dict(), tree.mark(); };
    dict();
    tree.text("model");
    dict();
    tree.text("w"), write_torch_tensor(tree, whole);
    tree.text("v"), write_torch_tensor(tree, column);
    tree.set_items();
    tree.text("opt");
    dict();
    tree.text("state"), dict();
    tree.integer(0), dict(), tree.text("step"), tree.real(3), tree.set_items();
    tree.set_items();
    tree.text("groups"), tree.empty_list(), tree.mark(), dict();
    tree.text("lr"), tree.real(0.5);
    tree.text("params"), tree.empty_list(), tree.mark(), tree.integer(0), tree.append();
    tree.set_items(), tree.append();
    tree.text("moments"), tree.empty_list(), tree.mark(), write_torch_tensor(tree, whole);
    tree.append();
    tree.set_items();
    tree.text("words"), tree.mark(), tree.text("a"), tree.bytes("\xff");
    write_torch_tensor(tree, whole), tree.tuple();
    tree.text("epoch"), tree.integer(epoch);
    tree.set_items();
    const std::string text = tree.finish() + std::string(7, '\0');
    return TestImage::of(
        {tensor("a/W", Dtype::kF32, {w.size()}), tensor("muster.tree", Dtype::kU8, {text.size()})},
        {floats(w), text});
}

class DistributedCheckpointTest : public PythonTest {
  protected:
    DistributedCheckpointTest() : PythonTest("torch.distributed.checkpoint.filesystem") {}

    std::vector<DistributedEntry> compose(std::uint32_t rank, const TestImage& image,
                                          const std::vector<Placement>& placements = {}) {
        auto made = compose_distributed(image.view(), placements, 2);
        EXPECT_TRUE(made) << made.error().message();
        if (!made) return {};
        write("made/" + distributed_file_name(rank), text_of(made->file));
        return std::move(made->entries);
    }
    void commit(const std::vector<RankEntries>& ranks) {
        const auto metadata = compose_metadata(ranks);
        ASSERT_TRUE(metadata) << metadata.error().message();
        write("made/.metadata", *metadata);
    }
};

/// load(state): as each version has it, in one process.
constexpr std::string_view kLoad = R"py(
import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint import FileSystemReader
version = tuple(int(number) for number in torch.__version__.split(".")[:2])
def load(state):
    if version >= (2, 3):
        dcp.load(state, checkpoint_id="made")
    else:
        from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner
        words = {"planner": DefaultLoadPlanner(flatten_state_dict=True)} if version >= (2, 0) else {}
        dcp.load_state_dict(state, FileSystemReader("made"), no_dist=True, **words)
    return state
)py";

TEST_F(DistributedCheckpointTest, TorchLoadsOneRank) {
    commit({{.rank = 0, .entries = compose(0, image_of({1, 2, 3, 4, 5, 6}, 7))}});
    python(std::string(kLoad) + R"py(
if version < (2, 4):
    # It takes dictionaries without tensors for one value.
    state = load({"model": {"w": torch.zeros(2, 3), "v": torch.zeros(2)}, "epoch": 0})
    assert state["model"]["w"].tolist() == [[1, 2, 3], [4, 5, 6]] and state["model"]["v"].tolist() == [2, 5] and state["epoch"] == 7
    raise SystemExit
w = torch.tensor([[1., 2, 3], [4, 5, 6]])
def state(w, number, words):
    return {"model": {"w": w.clone(), "v": w[:, 1].clone()}, "epoch": number, "words": words,
            "opt": {"state": {0: {"step": number - 4.0}}, "groups": [{"lr": number - 6.5, "params": [0]}], "moments": [w.clone()]}}
dcp.save(state(w, 7, ("a", b"\xff", w)), checkpoint_id="theirs")
ours = load(state(0 * w, 0, None))
theirs = state(0 * w, 0, None)
dcp.load(theirs, checkpoint_id="theirs")
assert str(ours) == str(theirs), (ours, theirs)
assert ours["model"]["v"].equal(w[:, 1]) and ours["words"][2].equal(w) and ours["opt"]["groups"] == [{"lr": 0.5, "params": [0]}]
planned = [FileSystemReader(name).read_metadata().planner_data for name in ("made", "theirs")]
assert planned[0] == planned[1], planned

# What others make of it: a file for torch.load.
from torch.distributed.checkpoint.format_utils import dcp_to_torch_save
dcp_to_torch_save("made", "all.pt")
all = torch.load("all.pt", weights_only=False)
assert all["opt"]["groups"] == [{"lr": 0.5, "params": [0]}] and all["model"]["w"].equal(w) and all["epoch"] == 7
)py");
}

TEST_F(DistributedCheckpointTest, TorchPutsTheShardsOfRanksTogether) {
    const std::vector<Placement> upper = {
        {.name = "a/W", .global_shape = {3, 3}, .offsets = {0, 0}}};
    const std::vector<Placement> lower = {
        {.name = "a/W", .global_shape = {3, 3}, .offsets = {2, 0}}};
    const auto only_w = [](std::vector<DistributedEntry> entries) {
        // The other tensors of the tree have other shapes than the shards of w.
        std::erase_if(entries,
                      [](const DistributedEntry& entry) { return entry.sizes.size() == 1; });
        return entries;
    };
    TestImage first =
        TestImage::of({tensor("a/W", Dtype::kF32, {2, 3})}, {floats({1, 2, 3, 4, 5, 6})});
    TestImage second =
        TestImage::of({tensor("a/W", Dtype::kF32, {1, 3}), tensor("both", Dtype::kBf16, {1})},
                      {floats({7, 8, 9}), std::string("\x80\x3f", 2)});
    const auto first_entries = only_w(compose(0, first, upper));
    commit({{.rank = 0, .entries = first_entries},
            {.rank = 4, .entries = compose(4, second, lower)},
            {.rank = 5, .entries = compose(5, second, lower)}});
    python(std::string(kLoad) + R"py(
state = load({"a/W": torch.zeros(3, 3), "both": torch.zeros(1, dtype=torch.bfloat16)})
assert state["a/W"].tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]], state
assert state["both"].tolist() == [1]
metadata = FileSystemReader("made").read_metadata()
assert {info.relative_path for info in metadata.storage_data.values()} == {"__0_0.distcp", "__4_0.distcp"}
)py");
}

TEST_F(DistributedCheckpointTest, AWorldOfAnotherSizeLoadsItsOwnShards) {
    const std::vector<float> numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    std::vector<RankEntries> ranks;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        const TestImage image =
            TestImage::of({tensor("w", Dtype::kF32, {3, 2})},
                          {floats({numbers.begin() + rank * 6, numbers.begin() + rank * 6 + 6})});
        ranks.push_back(
            {.rank = rank,
             .entries = compose(
                 rank, image, {{.name = "w", .global_shape = {6, 2}, .offsets = {rank * 3, 0}}})});
    }
    commit(ranks);
    python(std::string(kLoad) + R"py(
if version < (2, 4):
    raise SystemExit
import datetime, os
import torch.multiprocessing as mp
import torch.distributed as dist
def work(rank, world):
    dist.init_process_group("gloo", init_method="file://" + os.path.abspath("store%d" % world), timeout=datetime.timedelta(seconds=60), rank=rank, world_size=world)
    from torch.distributed.device_mesh import init_device_mesh
    try:
        from torch.distributed.tensor import Shard, distribute_tensor
    except ImportError:
        from torch.distributed._tensor import Shard, distribute_tensor
    w = distribute_tensor(torch.zeros(6, 2), init_device_mesh("cpu", (world,)), [Shard(0)])
    load({"w": w})
    expected = torch.arange(12.).reshape(6, 2).chunk(world)[rank]
    assert w.to_local().equal(expected), (rank, w.to_local())
    # Without taking the group down, in which torch 2.6 hangs now and then.
    dist.barrier()
    os._exit(0)
if __name__ == "__main__":
    for world in (1, 3):
        mp.spawn(work, (world,), nprocs=world)
)py");
}

TEST(DistributedMetadata, RanksMustAgreeAndHaveAllOfIt) {
    const DistributedEntry whole{.path = {{.key = "w"}},
                                 .dtype = "float32",
                                 .global_shape = {4, 2},
                                 .offsets = {0, 0},
                                 .sizes = {4, 2}};
    DistributedEntry upper = whole, lower = whole, other_type = whole, other_shape = whole;
    upper.sizes = {3, 2};
    lower.sizes = {1, 2};
    lower.offsets = {3, 0};
    other_type.dtype = "float16";
    other_shape.global_shape = {8, 1};
    const DistributedEntry value{.path = {{.key = "w"}}};
    const struct {
        std::vector<DistributedEntry> first;
        std::vector<DistributedEntry> second;
        const char* said;  ///< nullptr: they fit
    } rows[] = {
        {{whole}, {whole}, nullptr},
        {{upper}, {lower}, nullptr},
        {{value}, {value}, nullptr},
        {{}, {}, nullptr},
        {{upper}, {}, "\"w\" has 8 elements, and the ranks together have 6"},
        {{upper}, {whole}, "together have 14"},
        {{whole}, {other_type}, "the ranks 0 and 1 have another type or shape of \"w\""},
        {{whole}, {other_shape}, "another type or shape"},
        {{whole}, {value}, "another type or shape"},
    };
    for (const auto& row : rows) {
        const auto made = compose_metadata(std::vector<RankEntries>{
            {.rank = 0, .entries = row.first}, {.rank = 1, .entries = row.second}});
        EXPECT_EQ(made.has_value(), row.said == nullptr);
        if (row.said != nullptr && !made) {
            EXPECT_THAT(made.error().message(), HasSubstr(row.said));
        }
    }
}

TEST(DistributedCheckpoint, APlacementMustFitItsTensor) {
    const TestImage image =
        TestImage::of({tensor("w", Dtype::kF32, {2, 3})}, {std::string(24, '\0')});
    const struct {
        std::vector<std::uint64_t> global_shape;
        std::vector<std::uint64_t> offsets;
        bool good;
    } rows[] = {
        {{2, 3}, {0, 0}, true},           {{4, 3}, {2, 0}, true}, {{4, 3}, {3, 0}, false},
        {{4, 3}, {0, 1}, false},          {{6}, {0}, false},      {{4, 3}, {2}, false},
        {{4, 3}, {UINT64_MAX, 0}, false},
    };
    for (const auto& row : rows) {
        const std::vector<Placement> placements = {
            {.name = "w", .global_shape = row.global_shape, .offsets = row.offsets}};
        const auto made = compose_distributed(image.view(), placements, 1);
        EXPECT_EQ(made.has_value(), row.good);
        if (!made) continue;
        EXPECT_EQ(made->entries[0].offsets, row.offsets);
        EXPECT_EQ(made->entries[0].begin % 64, 0u);
        EXPECT_EQ(made->entries[0].begin + made->entries[0].bytes, made->file.bytes());
    }
}

TEST(DistributedCheckpoint, OnlyWhatATensorNeedsOfItsStorageIsWritten) {
    PickleWriter tree;
    TorchTensor part{
        .storage = {.key = "base", .dtype = "float32", .element_bytes = 4, .elements = 1000},
        .dtype = "float32",
        .element_bytes = 4,
        .offset = 10,
        .shape = {2, 5},
        .strides = {5, 1}};
    tree.empty_dict();
    tree.mark();
    tree.text("part");
    write_torch_tensor(tree, part);
    tree.set_items();
    const std::string text = tree.finish();
    const TestImage image = TestImage::of(
        {tensor("base", Dtype::kF32, {1000}), tensor("muster.tree", Dtype::kU8, {text.size()})},
        {std::string(4000, '~'), text});
    const auto made = compose_distributed(image.view(), {}, 1);
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(std::ranges::count(text_of(made->file), '~'), 40);
}

TEST(FlattenedTree, NamesThatTwoHaveAndKeysThatAreNoneAreRefused) {
    const struct {
        std::string_view pickle;
        const char* said;
    } rows[] = {
        {"]."sv, "is of a dictionary"},
        {"}NNs."sv, "a key in the state"},
        {"}(X\1\0\0\0a}X\1\0\0\0bNsX\3\0\0\0a.bNu."sv, "two values have the name \"a.b\""},
        {"}q\0K\1h\0s."sv, "nested too deeply"},
        {"}K\1]q\0h\0as."sv, nullptr},
    };
    for (const auto& row : rows) {
        const auto leaves = flatten(read_pickle(row.pickle).value());
        EXPECT_EQ(leaves.has_value(), row.said == nullptr) << row.said;
        if (row.said != nullptr && !leaves) {
            EXPECT_THAT(leaves.error().message(), HasSubstr(row.said));
        }
    }
}

}  // namespace
}  // namespace muster::checkpoint::distributed_checkpoint_test
