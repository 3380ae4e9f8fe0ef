#include "cli/internal/step/gpu_text.h"

#include <gmock/gmock.h>

namespace muster::cli::gpu_text_test {
namespace {

using testing::HasSubstr;
using Mode = GpuRequest::Mode;
using Resources = std::map<std::string, std::int64_t>;

TEST(GpuText, WhatItRequests) {
    struct Case {
        const char* text;
        GpuPlatform platform;
        GpuRequest request;
    };
    const GpuPlatform plain;
    const Case cases[] = {
        {"", plain, {}},
        {"0", plain, {}},
        {"0(V100)", plain, {}},
        {" 2 ", plain, {Mode::kWhole, 2, "", {{"nvidia.com/gpu", 2}}}},
        {"2.0", plain, {Mode::kWhole, 2, "", {{"nvidia.com/gpu", 2}}}},
        {"2(v100)", plain, {Mode::kWhole, 2, "V100", {{"nvidia.com/gpu", 2}}}},
        {"2（V100）", plain, {Mode::kWhole, 2, "V100", {{"nvidia.com/gpu", 2}}}},
        {"1(nvidia,T4)", plain, {Mode::kWhole, 1, "T4", {{"nvidia.com/gpu", 1}}}},
        {"1（amd，mi300）", plain, {Mode::kWhole, 1, "MI300", {{"amd.com/gpu", 1}}}},
        {"8(npu)", plain, {Mode::kWhole, 8, "", {{"huawei.com/Ascend910", 8}}}},
        {"8(npu)", {"npu.example/x", ""}, {Mode::kWhole, 8, "", {{"npu.example/x", 8}}}},
        {"-1", plain, {Mode::kShared, -1, "", {}}},
        {"-1(T4)", plain, {Mode::kShared, -1, "T4", {}}},
        {"0.5(T4)",
         {"", "TENCENT"},
         {Mode::kPart,
          1,
          "T4",
          {{"tencent.com/vcuda-core", 50}, {"tencent.com/vcuda-memory", 32}}}},
        {"0.5(A100)",
         {"", "tencent"},
         {Mode::kPart,
          1,
          "A100",
          {{"tencent.com/vcuda-core", 50}, {"tencent.com/vcuda-memory", 80}}}},
        {"4G,0.1",
         {"", "tencent"},
         {Mode::kPart, 1, "", {{"tencent.com/vcuda-core", 10}, {"tencent.com/vcuda-memory", 16}}}},
        {"0.25",
         {"", "vgpu"},
         {Mode::kPart,
          1,
          "",
          {{"nvidia.com/vgpu", 1},
           {"nvidia.com/gpucores", 25},
           {"nvidia.com/gpumem-percentage", 25}}}},
        {"1G,0.1",
         {"", "hami"},
         {Mode::kPart,
          1,
          "",
          {{"nvidia.com/gpu", 1}, {"nvidia.com/gpucores", 10}, {"nvidia.com/gpumem", 1024}}}},
    };
    for (const Case& one : cases) {
        const Result<GpuRequest> request = read_gpu_text(one.text, one.platform);
        ASSERT_TRUE(request) << one.text << ": " << request.error().message();
        EXPECT_EQ(request->mode, one.request.mode) << one.text;
        EXPECT_EQ(request->devices, one.request.devices) << one.text;
        EXPECT_EQ(request->type, one.request.type) << one.text;
        EXPECT_EQ(request->resources, one.request.resources) << one.text;
    }
}

TEST(GpuText, WhatIsWrongIsNamedAndNothingIsDisabledInSilence) {
    struct Case {
        const char* text;
        GpuPlatform platform;
        const char* message;
    };
    const Case cases[] = {
        {"two", {}, "\"two\" is no number of GPUs"},
        {"(V100)", {}, "is no number of GPUs"},
        {"2(V100", {}, "has no closing bracket"},
        {"2(acme,X1)", {}, "the vendor \"acme\" is not known"},
        {"2(a b)", {}, "is no type of a card"},
        {"-2", {}, "-2 GPUs can't be given to a pod"},
        {"1.5", {}, "1.5 GPUs can't be given to a pod"},
        {"99999999999999999999", {}, "can't be given to a pod"},
        {"1e3", {}, "is no number of GPUs"},
        {"inf", {}, "is no number of GPUs"},
        {"0.5", {}, "say which one the cluster has with --gpu-driver or VGPU_DRIVE_TYPE"},
        {"0.5", {"", "acme"}, "\"acme\" is not known"},
        {"1G,0.1", {}, "needs a driver"},
        {"0.5", {"", "tencent"}, "needs its type (T4, V100 or A100)"},
        {"1G,", {"", "hami"}, "the part \"\" is not above 0"},
        {"1G,2", {"", "hami"}, "the part \"2\" is not above 0 and up to 1"},
        {",0.5", {"", "hami"}, "\"\" is no size of memory"},
        {"many,0.5", {"", "hami"}, "\"many\" is no size of memory"},
    };
    for (const Case& one : cases) {
        const Result<GpuRequest> request = read_gpu_text(one.text, one.platform);
        ASSERT_FALSE(request) << one.text;
        EXPECT_THAT(request.error().message(), HasSubstr(one.message)) << one.text;
    }
}

}  // namespace
}  // namespace muster::cli::gpu_text_test
