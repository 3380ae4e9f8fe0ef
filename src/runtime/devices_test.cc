#include "runtime/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace muster::runtime::devices_test {
namespace {

using ::testing::IsEmpty;
namespace fs = std::filesystem;

/// A machine's file system as far as accelerators show in it.
class DevicesTest : public ::testing::Test {
  protected:
    DevicesTest() {
        std::string pattern = "/tmp/muster-devices-XXXXXX";
        root = ::mkdtemp(pattern.data());
    }
    ~DevicesTest() override { fs::remove_all(root); }

    void file(const fs::path& path, const std::string& text = {}) {
        fs::create_directories((root / path).parent_path());
        std::ofstream(root / path) << text;
    }
    void nvidia(const std::string& bus, const std::string& minor) {
        file("proc/driver/nvidia/gpus/" + bus + "/information",
             "Model: \t\t A100\nGPU UUID: \t GPU-1\nDevice Minor: \t " + minor + "\n");
    }
    void intel(const std::string& node, const std::string& driver, const std::string& vendor) {
        const fs::path device = "sys/class/drm/" + node + "/device";
        file(device / "vendor", vendor + "\n");
        fs::create_symlink("../../../bus/pci/drivers/" + driver, root / device / "driver");
    }

    fs::path root;
};

TEST_F(DevicesTest, AMachineWithoutAny) {
    file("dev/null");
    file("dev/nvidiactl");
    file("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 8\nsimd_count 0\n");
    intel("renderD128", "amdgpu", "0x1002");
    EXPECT_THAT(find_devices(root), IsEmpty());
    EXPECT_THAT(find_devices(root / "missing"), IsEmpty());
}

TEST_F(DevicesTest, NvidiaByItsDriver) {
    nvidia("0000:3b:00.0", "1");
    nvidia("0000:18:00.0", "0");
    nvidia("0000:af:00.0", "2");
    file("dev/nvidia0");
    file("dev/nvidia1");
    file("dev/nvidia-uvm");
    // The third can't be opened here.
    EXPECT_EQ(find_devices(root), (Devices{{"nvidia.com/gpu", {"0", "1"}}}));
}

TEST_F(DevicesTest, NvidiaByItsFiles) {
    file("dev/nvidia3");
    file("dev/nvidia0");
    file("dev/nvidia-modeset");
    EXPECT_EQ(find_devices(root), (Devices{{"nvidia.com/gpu", {"0", "1"}}}));
}

TEST_F(DevicesTest, AmdAndIntel) {
    file("sys/class/kfd/kfd/topology/nodes/0/properties", "simd_count 0\n");
    file("sys/class/kfd/kfd/topology/nodes/1/properties", "cpu_cores_count 0\nsimd_count 440\n");
    file("sys/class/kfd/kfd/topology/nodes/2/properties", "simd_count 440\n");
    intel("renderD129", "xe", "0x8086");
    intel("renderD128", "i915", "0x8086");
    intel("renderD130", "xe", "0x8086");
    intel("card0", "xe", "0x8086");
    EXPECT_EQ(find_devices(root), (Devices{{"amd.com/gpu", {"0", "1"}},
                                           {"gpu.intel.com/i915", {"0"}},
                                           {"gpu.intel.com/xe", {"1", "2"}}}));
}

TEST_F(DevicesTest, WhatTheCallerHidesIsNotThere) {
    const Devices all = {{"nvidia.com/gpu", {"0", "1", "2", "3"}}, {"amd.com/gpu", {"0", "1"}}};
    struct Case {
        std::vector<std::string> environment;
        Devices expected;
    };
    const Case cases[] = {
        {{"CUDA_VISIBLE=1"}, all},
        {{"CUDA_VISIBLE_DEVICES=3,1"},
         {{"nvidia.com/gpu", {"3", "1"}}, {"amd.com/gpu", {"0", "1"}}}},
        {{"CUDA_VISIBLE_DEVICES=1,9,2", "ROCR_VISIBLE_DEVICES="}, {{"nvidia.com/gpu", {"1"}}}},
        {{"CUDA_VISIBLE_DEVICES=-1", "ROCR_VISIBLE_DEVICES=1"}, {{"amd.com/gpu", {"1"}}}},
        {{"CUDA_VISIBLE_DEVICES=GPU-8f,MIG-2", "ROCR_VISIBLE_DEVICES=1"},
         {{"nvidia.com/gpu", {"GPU-8f", "MIG-2"}}, {"amd.com/gpu", {"1"}}}},
    };
    for (const Case& c : cases)
        EXPECT_EQ(visible_devices(all, c.environment), c.expected) << c.environment[0];
}

}  // namespace
}  // namespace muster::runtime::devices_test
