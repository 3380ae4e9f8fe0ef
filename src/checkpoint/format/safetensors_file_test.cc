#include "checkpoint/format/safetensors_file.h"

#include <gtest/gtest.h>

#include "checkpoint/format/python_fixture.h"

namespace muster::checkpoint::safetensors_file_test {
namespace {

/// Each type, an empty tensor, a scalar, a name that is no ASCII; each byte of one is told from its neighbours.
TestImage every_dtype() {
    std::vector<Tensor> tensors = {{.name = "empty", .dtype = Dtype::kI64, .shape = {0, 2}},
                                   {.name = "scalar é\n", .dtype = Dtype::kF64, .shape = {}}};
    std::vector<std::string> contents = {"", std::string("\0\0\0\0\0\0\xf8\x3f", 8)};
    for (const DtypeFacts& facts : kDtypes) {
        tensors.push_back({.name = std::string(facts.name), .dtype = facts.dtype, .shape = {2, 3}});
        std::string content(6 * facts.bytes, '\0');
        for (std::size_t i = 0; i < content.size(); ++i)
            content[i] = static_cast<char>(facts.dtype == Dtype::kBool ? i % 2 : i + 1);
        contents.push_back(content);
    }
    return TestImage::of(tensors, contents);
}

TEST(SafetensorsFile, IsTheImage) {
    const TestImage image = every_dtype();
    const auto file = compose_safetensors(image.view());
    ASSERT_TRUE(file);
    ASSERT_EQ(file->pieces().size(), 1u);
    EXPECT_EQ(file->pieces()[0].data(), image.view().bytes.data());
    EXPECT_EQ(file->bytes(), image.bytes.size());
    ImageView cut = image.view();
    cut.bytes = cut.bytes.first(10);
    EXPECT_FALSE(compose_safetensors(cut));
}

class SafetensorsFileTest : public PythonTest {
  protected:
    SafetensorsFileTest() : PythonTest("safetensors.numpy") {}
};

TEST_F(SafetensorsFileTest, TheirOwnReaderHasEachBit) {
    const TestImage image = every_dtype();
    write("made.safetensors", text_of(compose_safetensors(image.view()).value()));
    python(R"py(
import json, numpy, safetensors
raw = open("made.safetensors", "rb").read()
table = json.loads(raw[8:8 + int.from_bytes(raw[:8], "little")])
payload = raw[8 + int.from_bytes(raw[:8], "little"):]
names = dict(F64="float64", I64="int64", U64="uint64", F32="float32", I32="int32", U32="uint32", F16="float16",
             I16="int16", U16="uint16", I8="int8", U8="uint8", BOOL="bool")
with safetensors.safe_open("made.safetensors", framework="np") as file:
    assert set(file.keys()) == set(table) and len(table) == 17
    for name in table:
        assert file.get_slice(name).get_shape() == table[name]["shape"], name
        if name in names:
            one = file.get_tensor(name)
            begin, end = table[name]["data_offsets"]
            assert (one.dtype, one.shape) == (numpy.dtype(names[name]), (2, 3)), name
            assert one.tobytes() == payload[begin:end], name
    assert file.get_tensor("scalar é\n") == 1.5 and file.get_tensor("empty").shape == (0, 2)
try:
    import torch
    from safetensors.torch import load_file
    torch.uint16
except (ImportError, AttributeError):
    raise SystemExit  # without torch, or with one that has not all types
for name, one in load_file("made.safetensors").items():
    begin, end = table[name]["data_offsets"]
    assert bytes(one.reshape(-1).view(torch.uint8).tolist()) == payload[begin:end], name
)py");
}

}  // namespace
}  // namespace muster::checkpoint::safetensors_file_test
