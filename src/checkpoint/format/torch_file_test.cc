#include "checkpoint/format/torch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/format/python_fixture.h"
#include "checkpoint/pickle/pickle_writer.h"

namespace muster::checkpoint::torch_file_test {
namespace {

using ::testing::HasSubstr;

Tensor tensor(std::string name, Dtype dtype, std::vector<std::uint64_t> shape) {
    return {.name = std::move(name), .dtype = dtype, .shape = std::move(shape)};
}

/// Saves `state` as the Python side does: the storages as tensors of bytes, the tree beside them.
constexpr std::string_view kSave = R"py(
import collections, io, pickle, struct, torch
storages = {}
class Saver(pickle.Pickler):
    def persistent_id(self, one):
        typed = isinstance(one, (torch.TypedStorage if hasattr(torch, "TypedStorage") else torch._TypedStorage))
        if not typed and not torch.is_storage(one):
            return None
        untyped = one.untyped() if hasattr(one, "untyped") else one._untyped_storage if typed else one
        if typed:
            kind, numel = getattr(torch, one.pickle_storage_type()), one._size() if hasattr(one, "_size") else one.size()
        else:
            kind, numel = torch.UntypedStorage, one.nbytes()
        name = next((name for name, known in storages.items() if known.data_ptr() == untyped.data_ptr() and untyped.nbytes()), None)
        if name is None:
            name = "layer.%d/é weight" % len(storages)
            storages[name] = untyped
        return ("storage", kind, name, "cpu", numel)
def save(state):
    tree = io.BytesIO()
    Saver(tree, protocol=2).dump(state)
    with open("image", "wb") as image:
        for name, content in [("muster.tree", tree.getvalue() + bytes(5))] + [
                (name, bytes(torch.tensor([], dtype=torch.uint8).set_(one).tolist()) if one.nbytes() else b"") for name, one in storages.items()]:
            image.write(struct.pack("<II", len(name.encode()), len(content)) + name.encode() + content)
    torch.save(state, "expected.pt")
)py";

constexpr std::string_view kState = R"py(
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
model(torch.ones(2, 3)).sum().backward()
optimizer.step()
base = torch.arange(100, dtype=torch.int16)
odd = {"views": [base[10:20], base[::3], base.reshape(10, 10).t()], "empty": torch.empty(0, 3), "scalar": torch.tensor(2.5),
       "half": torch.ones(3, dtype=torch.bfloat16), "complex": torch.full((2,), 1 + 2j), "bool": torch.tensor([True, False]),
       "parameter": torch.nn.Parameter(torch.ones(2)), "words": ("a", b"\xff", 1 << 70, -1, None, True, {1, 2}), 7: collections.OrderedDict(a=1)}
if hasattr(torch, "uint16"):
    odd["uint16"] = torch.tensor([1, 65535], dtype=torch.uint16)
    # Older versions have it, but can't save it.
    odd["float8"] = torch.ones(3).to(torch.float8_e5m2)
save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "odd": odd, "tied": odd["views"][0]})
)py";

constexpr std::string_view kSame = R"py(
import inspect, torch, zipfile
def same(a, b):
    assert type(a) is type(b), (a, b)
    if isinstance(a, torch.Tensor):
        assert (a.dtype, a.shape, a.stride(), a.requires_grad) == (b.dtype, b.shape, b.stride(), b.requires_grad), (a, b)
        assert a.contiguous().view(-1).view(torch.uint8).equal(b.contiguous().view(-1).view(torch.uint8)) if a.numel() and a.dtype != torch.bool and not a.is_complex() else a.equal(b), (a, b)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a: same(a[key], b[key])
        assert getattr(a, "_metadata", None) == getattr(b, "_metadata", None)
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for one, other in zip(a, b): same(one, other)
    else:
        assert a == b
def check(expected):
    assert zipfile.ZipFile("made.pt").testzip() is None
    ways = [{}, {"weights_only": True}] + ([{"mmap": True}, {"mmap": True, "weights_only": True}] if "mmap" in inspect.signature(torch.load).parameters else [])
    try:
        torch.load("expected.pt", weights_only=True)
    except Exception:  # torch 1.13 can't read a float so
        ways = [way for way in ways if not way.get("weights_only")]
    for way in ways:
        if not way.get("weights_only"): way["weights_only"] = False
        same(torch.load("made.pt", **way), expected)
    same(torch.load(open("made.pt", "rb")), expected) if torch.__version__.startswith("1.") else None
    reader = torch._C.PyTorchFileReader("made.pt")
    for name in reader.get_all_records():
        assert not hasattr(reader, "get_record_offset") or reader.get_record_offset(name) % 64 == 0, name
)py";

class TorchFileTest : public PythonTest {
  protected:
    TorchFileTest() : PythonTest("torch") {}

    /// What kSave has written.
    TestImage image() const {
        std::vector<Tensor> tensors;
        std::vector<std::string> contents;
        const std::string all = read("image");
        for (std::size_t at = 0; at < all.size();) {
            std::uint32_t lengths[2];
            std::memcpy(lengths, all.data() + at, sizeof lengths);
            tensors.push_back(tensor(all.substr(at + 8, lengths[0]), Dtype::kU8, {lengths[1]}));
            contents.push_back(all.substr(at + 8 + lengths[0], lengths[1]));
            at += 8 + lengths[0] + lengths[1];
        }
        return TestImage::of(tensors, contents);
    }
    void compose(const TestImage& made) {
        const auto file = compose_torch(made.view(), 2);
        ASSERT_TRUE(file) << file.error().message();
        write("made.pt", text_of(*file));
    }
};

std::string operator+(std::string_view one, std::string_view other) {
    return std::string(one) + std::string(other);
}

TEST_F(TorchFileTest, TorchReadsWhatItWouldHaveWritten) {
    python(kSave + kState);
    if (HasFailure()) return;
    compose(image());
    python(kSame + R"py(
check(torch.load("expected.pt", weights_only=False))
loaded = torch.load("made.pt", weights_only=False)
assert loaded["odd"]["views"][0].storage().data_ptr() == loaded["tied"].storage().data_ptr()
)py");
}

TEST_F(TorchFileTest, TheStateOfAModelIsReadAsNothingButWeights) {
    python(kSave + R"py(
save(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)).state_dict())
)py");
    if (HasFailure()) return;
    compose(image());
    python(kSame + R"py(
check(torch.load("expected.pt", weights_only=True))
)py");
}

TEST_F(TorchFileTest, AnImageWithoutATreeIsADictionaryOfItsTensors) {
    std::vector<Tensor> tensors = {tensor("empty", Dtype::kI64, {0, 2}),
                                   tensor("scalar", Dtype::kF64, {})};
    std::vector<std::string> contents = {"", std::string("\0\0\0\0\0\0\xf8\x3f", 8)};
    for (const DtypeFacts& facts : kDtypes) {
        tensors.push_back(tensor(std::string(facts.name), facts.dtype, {2, 3}));
        std::string content(6 * facts.bytes, '\0');
        for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i % 2);
        contents.push_back(content);
    }
    const TestImage made = TestImage::of(tensors, contents);
    const auto file = compose_torch(made.view(), 1);
    ASSERT_TRUE(file) << file.error().message();
    write("made.pt", text_of(*file));
    python(R"py(
import torch, zipfile
archive = zipfile.ZipFile("made.pt")
assert archive.testzip() is None
if not hasattr(torch, "uint16"):
    # It has not all of these types.
    raise SystemExit
for words in ({}, {"mmap": True}):
    all = torch.load("made.pt", weights_only=True, **words)
    names = dict(F64="float64", I64="int64", U64="uint64", F32="float32", I32="int32", U32="uint32", F16="float16", BF16="bfloat16",
                 I16="int16", U16="uint16", F8_E5M2="float8_e5m2", F8_E4M3="float8_e4m3fn", I8="int8", U8="uint8", BOOL="bool")
    for name, dtype in names.items():
        one = all[name]
        assert (one.dtype, one.shape, one.stride()) == (getattr(torch, dtype), (2, 3), (3, 1)), name
        assert bytes(one.view(torch.uint8).flatten().tolist()) == archive.read("archive/data/" + name), name
    assert all["empty"].shape == (0, 2) and all["scalar"] == 1.5 and len(all) == 17
)py");
}

TestImage with_tree(std::string tree, std::vector<Tensor> tensors) {
    std::vector<std::string> contents;
    for (const Tensor& one : tensors)
        contents.emplace_back(lay_out({.tensors = {one}}).value().payload(), '\0');
    tensors.push_back(tensor("muster.tree", Dtype::kU8, {tree.size()}));
    contents.push_back(std::move(tree));
    return TestImage::of(tensors, contents);
}
std::string storage_named(std::string_view name, std::int64_t elements) {
    PickleWriter tree;
    tree.mark();
    tree.text("storage");
    tree.global("torch", "FloatStorage");
    tree.text(name);
    tree.text("cpu");
    tree.integer(elements);
    tree.tuple();
    tree.persistent();
    return tree.finish();
}

TEST(TorchFile, WhatTorchCouldNotReadIsRefusedWithItsName) {
    const std::string none("\x80\x02N.", 4);
    const struct {
        TestImage image;
        const char* said;
    } rows[] = {
        {with_tree("", {}), "ends too early"},
        {with_tree(std::string(100, '\0'), {}), "not read"},
        {with_tree(storage_named("a", 1), {tensor("b", Dtype::kF32, {1})}),
         "the tree names the tensor \"a\", which is not"},
        {with_tree(storage_named("muster.tree", 1), {}), "which is not in the image"},
        {with_tree(storage_named("a", 2), {tensor("a", Dtype::kF32, {1})}),
         "\"a\" has 4 bytes, and the tree says 8"},
        {with_tree(storage_named("a", INT64_MAX), {tensor("a", Dtype::kF32, {1})}),
         "more bytes than can be counted"},
        {with_tree(none, {tensor("lora_A", Dtype::kF32, {1}), tensor("lora_a", Dtype::kF32, {1})}),
         "differ by the case"},
        {with_tree(none, {tensor("a/", Dtype::kF32, {1})}), "a directory"},
        {with_tree(none, {tensor(std::string("a\0b", 3), Dtype::kF32, {1})}), "a\\x00b"},
        {with_tree(none, {tensor(std::string(70'000, 'x'), Dtype::kF32, {1})}), "the name"},
    };
    for (const auto& row : rows) {
        const auto file = compose_torch(row.image.view(), 1);
        ASSERT_FALSE(file) << row.said;
        EXPECT_THAT(file.error().message(), HasSubstr(row.said));
    }
    const TestImage good = with_tree(storage_named("a", 1), {tensor("a", Dtype::kF32, {1})});
    EXPECT_TRUE(compose_torch(good.view(), 1));
    ImageView cut = good.view();
    cut.bytes = cut.bytes.last(good.table.payload() - 1);
    EXPECT_FALSE(compose_torch(cut, 1));
}

TEST(TorchFile, NoTensorIsCopied) {
    const TestImage image = with_tree(storage_named("a", 1000), {tensor("a", Dtype::kF32, {1000})});
    const auto file = compose_torch(image.view(), 1);
    ASSERT_TRUE(file);
    const auto* const begin = image.view().of(*image.view().find("a")).data();
    EXPECT_TRUE(std::ranges::any_of(file->pieces(), [&](const auto& piece) {
        return piece.data() == begin && piece.size() == 4000;
    }));
    EXPECT_EQ(file->bytes(), bytes_of(file->pieces()));
}

}  // namespace
}  // namespace muster::checkpoint::torch_file_test
