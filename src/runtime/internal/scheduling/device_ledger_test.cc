#include "runtime/internal/scheduling/device_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::runtime::device_ledger_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kGpu = "nvidia.com/gpu";

kube::PodSpec spec(const std::vector<int>& inits, const std::vector<int>& containers) {
    kube::PodSpec made;
    auto add = [](std::vector<kube::Container>& list, int gpus) {
        list.emplace_back();
        if (gpus > 0) list.back().resources.limits[kGpu] = gpus;
    };
    for (const int gpus : inits) add(made.init_containers, gpus);
    for (const int gpus : containers) add(made.containers, gpus);
    return made;
}

TEST(DeviceLedger, NoTwoPodsHaveOneDevice) {
    DeviceLedger ledger({{kGpu, {"0", "1", "2"}}});
    const auto first = ledger.take("a", spec({}, {2}));
    ASSERT_TRUE(first);
    EXPECT_THAT(first->at(kGpu), ElementsAre("0", "1"));
    EXPECT_EQ(*ledger.take("a", spec({}, {2})), *first);
    const auto none = ledger.take("b", spec({}, {2}));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code(), Code::kConflict);
    EXPECT_THAT(none.error().message(), HasSubstr("1 of 3"));
    EXPECT_THAT(ledger.take("c", spec({}, {1}))->at(kGpu), ElementsAre("2"));
    EXPECT_THAT(*ledger.take("d", spec({}, {0})), IsEmpty());
    ledger.release("a");
    EXPECT_THAT(ledger.take("b", spec({}, {2}))->at(kGpu), ElementsAre("0", "1"));
    ledger.release("nobody");
}

TEST(DeviceLedger, APodThatIsThereAlreadyKeepsWhatItHas) {
    DeviceLedger ledger({{kGpu, {"0", "1"}}});
    ledger.restore("running", devices_in(text_of({{kGpu, {"1"}}})));
    EXPECT_THAT(ledger.take("new", spec({}, {1}))->at(kGpu), ElementsAre("0"));
    EXPECT_THAT(ledger.take("running", spec({}, {1}))->at(kGpu), ElementsAre("1"));
    EXPECT_EQ(text_of({}), "");
    for (const char* text : {"", "[]", "{", R"({"nvidia.com/gpu": 1})"})
        EXPECT_THAT(devices_in(text), IsEmpty()) << text;
}

TEST(DeviceLedger, ContainersShareThePodsDevicesOut) {
    const kube::PodSpec pod = spec({3, 1}, {1, 0, 2});
    DeviceLedger ledger({{kGpu, {"0", "1", "2", "3"}}});
    const auto devices = ledger.take("a", pod);
    ASSERT_TRUE(devices);
    ASSERT_THAT(devices->at(kGpu), ElementsAre("0", "1", "2"));
    const std::vector<std::string> expected[] = {{"0", "1", "2"}, {"0"}, {"0"}, {}, {"1", "2"}};
    for (std::size_t i = 0; i < std::size(expected); ++i) {
        const Devices own = devices_of_container(pod, i, *devices);
        EXPECT_EQ(own.contains(kGpu) ? own.at(kGpu) : std::vector<std::string>(), expected[i]) << i;
    }
}

TEST(DeviceLedger, TheEnvironmentShowsWhatIsOwnAndHidesTheRest) {
    const Devices machine = {
        {kGpu, {"0", "1"}}, {"amd.com/gpu", {"0", "1", "2"}}, {"gpu.intel.com/xe", {"0"}}};
    EXPECT_THAT(device_environment({}, {}), IsEmpty());
    EXPECT_THAT(device_environment(machine, {}),
                ElementsAre("ROCR_VISIBLE_DEVICES=-1", "HIP_VISIBLE_DEVICES=-1",
                            "CUDA_DEVICE_ORDER=PCI_BUS_ID",
                            "CUDA_VISIBLE_DEVICES=", "NVIDIA_VISIBLE_DEVICES=void"));
    EXPECT_THAT(
        device_environment(
            machine, {{kGpu, {"1"}}, {"amd.com/gpu", {"1", "2"}}, {"gpu.intel.com/xe", {"0"}}}),
        ElementsAre("ROCR_VISIBLE_DEVICES=1,2", "HIP_VISIBLE_DEVICES=0,1",
                    "CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES=1",
                    "NVIDIA_VISIBLE_DEVICES=1", "ZE_AFFINITY_MASK=0"));
}

}  // namespace
}  // namespace muster::runtime::device_ledger_test
