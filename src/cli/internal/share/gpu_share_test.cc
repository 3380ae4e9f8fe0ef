#include "cli/internal/share/gpu_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli::gpu_share_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

using enum GpuMemoryWish::Kind;

TEST(ReadGpuMemory, EachFormHasItsMeaning) {
    const auto read = [](const std::string& text) {
        GpuMemoryWish wish;
        EXPECT_EQ(read_gpu_memory(text, wish), std::nullopt) << text;
        return wish;
    };
    EXPECT_EQ(read(""), GpuMemoryWish{});
    EXPECT_EQ(read("auto").kind, kAuto);
    EXPECT_EQ(read("none").kind, kNone);
    EXPECT_EQ(read("0.4"), (GpuMemoryWish{.kind = kFraction, .fraction = 0.4}));
    EXPECT_EQ(read("1"), (GpuMemoryWish{.kind = kFraction, .fraction = 1}));
    EXPECT_EQ(read("8Gi"), (GpuMemoryWish{.kind = kBytes, .bytes = std::uint64_t{8} << 30}));
}

TEST(ReadGpuMemory, AnythingElseIsRefusedWithWhatIsWanted) {
    for (const char* text :
         {"0", "1.5", "-1", "half", "8GB!", "1Ki", "0.0001", "nan", "inf", "."}) {
        GpuMemoryWish wish;
        EXPECT_THAT(read_gpu_memory(text, wish).value_or(""), HasSubstr("--gpu-memory wants"))
            << text;
    }
}

TEST(GpuShare, FrameworksThatTakeAllMemoryGetAShare) {
    const GpuShare made = gpu_share({.processes = 2}, {});
    EXPECT_THAT(made.variables,
                UnorderedElementsAre(Pair("TF_FORCE_GPU_ALLOW_GROWTH", "true"),
                                     Pair("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.45")));
    EXPECT_THAT(made.notes, IsEmpty());
    EXPECT_THAT(gpu_share({.processes = 7}, {}).variables,
                testing::Contains(Pair("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.128")));
}

TEST(GpuShare, OneProcessHasAllOfIt) {
    EXPECT_THAT(gpu_share({.processes = 1}, {}).variables, IsEmpty());
}

TEST(GpuShare, PyTorchGetsALimitWhenAFractionWasAskedFor) {
    const GpuMemoryWish wish{.kind = kFraction, .fraction = 0.29};
    EXPECT_THAT(gpu_share({.memory = wish, .processes = 2}, {}).variables,
                testing::Contains(Pair("PYTORCH_ALLOC_CONF", "per_process_memory_fraction:0.29")));
}

TEST(GpuShare, WhatTheCallerSetStays) {
    const GpuMemoryWish wish{.kind = kFraction, .fraction = 0.3};
    const GpuShare made = gpu_share({.memory = wish, .processes = 3},
                                    {{"TF_FORCE_GPU_ALLOW_GROWTH", "false"},
                                     {"XLA_CLIENT_MEM_FRACTION", "0.2"},
                                     {"PYTORCH_CUDA_ALLOC_CONF", "backend:cudaMallocAsync"}});
    EXPECT_THAT(made.variables, IsEmpty()) << "JAX refuses to start with both of its names";
    EXPECT_THAT(made.notes,
                ElementsAre(HasSubstr("XLA_CLIENT_MEM_FRACTION is set already"),
                            HasSubstr("PYTORCH_CUDA_ALLOC_CONF is set already: PyTorch keeps")));
}

TEST(GpuShare, MoreThanAGpuHasIsTold) {
    const GpuMemoryWish wish{.kind = kFraction, .fraction = 0.7};
    EXPECT_THAT(gpu_share({.memory = wish, .processes = 2}, {}).notes,
                ElementsAre(HasSubstr("more than one GPU has")));
}

TEST(GpuShare, MpsGetsThreadsForManyAndSizesForEachGpu) {
    EXPECT_THAT(gpu_share({.memory = {.kind = kNone}, .processes = 2, .mps = true}, {}).variables,
                IsEmpty());
    const GpuMemoryWish size{.kind = kBytes, .bytes = std::uint64_t{8} << 30};
    EXPECT_THAT(gpu_share({.memory = size, .processes = 4, .mps = true, .gpus = 2}, {}).variables,
                UnorderedElementsAre(Pair("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "50"),
                                     Pair("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "0=8192M,1=8192M"),
                                     Pair("TF_FORCE_GPU_ALLOW_GROWTH", "true"),
                                     Pair("XLA_PYTHON_CLIENT_PREALLOCATE", "false")));
}

TEST(GpuShare, NoneSetsNothing) {
    EXPECT_THAT(gpu_share({.memory = {.kind = kNone}, .processes = 4}, {}).variables, IsEmpty());
}

}  // namespace
}  // namespace muster::cli::gpu_share_test
