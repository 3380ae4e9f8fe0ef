#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/test_growth.h"
#include "kube/objects/codec_impl.h"
#include "runtime/internal/files/volume_files.h"

// What the files of a pod's volumes cost: ten times as many are ten times the work.

namespace muster::runtime::volume_growth_test {
namespace {

/// `one` for each number, as items of a list.
template <class One>
std::string items(std::size_t size, One one) {
    return "[" + repeated(size, [&](std::size_t i) { return (i == 0 ? "" : ",") + one(i); }) + "]";
}

std::string many_keys(std::size_t size) {
    return R"({"projected":{"sources":[{"configMap":{"name":"large","items":)" +
           items(size,
                 [](std::size_t i) {
                     return fmt::format(R"({{"key":"k{}","path":"d{}/f{}"}})", i, i % 7, i);
                 }) +
           "}}]}}";
}
std::string many_sources(std::size_t size) {
    return R"({"projected":{"sources":)" +
           items(
               size,
               [](std::size_t i) {
                   return fmt::format(
                       R"({{"configMap":{{"name":"large","items":[{{"key":"k{}","path":"f{}"}}]}}}})",
                       i, i);
               }) +
           "}}";
}
std::string same_path(std::size_t size) {
    return R"({"projected":{"sources":)" +
           items(size,
                 [](std::size_t i) {
                     return fmt::format(
                         R"({{"secret":{{"name":"large","items":[{{"key":"k{}","path":"f"}}]}}}})",
                         i);
                 }) +
           "}}";
}
std::string fields_of_the_pod(std::size_t size) {
    return R"({"projected":{"sources":[{"downwardAPI":{"items":)" +
           items(size,
                 [](std::size_t i) {
                     return fmt::format(
                         R"({{"path":"f{}","fieldRef":{{"fieldPath":"metadata.labels['l{}']"}}}})",
                         i, i);
                 }) +
           "}}]}}";
}

struct VolumeCase {
    const char* name;
    std::string (*volume)(std::size_t size);
    std::size_t size;
};

void PrintTo(const VolumeCase& of, std::ostream* out) { *out << of.name; }

class VolumeGrowth : public ::testing::TestWithParam<VolumeCase> {
  protected:
    static constexpr std::size_t kMost = 50'000;

    VolumeGrowth() {
        auto& map = config_maps_["large"];
        for (std::size_t i = 0; i < kMost; ++i) map[fmt::format("k{}", i)] = "v";
        secrets_ = config_maps_;
        pod_.metadata.name = "p";
        for (std::size_t i = 0; i < kMost; ++i) pod_.metadata.labels[fmt::format("l{}", i)] = "v";
    }
    std::size_t files_of(const kube::Volume& volume) const {
        const EnvironmentInput input{.pod = pod_,
                                     .config_maps = config_maps_,
                                     .secrets = secrets_,
                                     .base = {},
                                     .hostname = "p",
                                     .pod_ip = "10.0.0.1",
                                     .host_ip = "127.0.0.1",
                                     .node_name = "n",
                                     .node_cpu = {},
                                     .node_memory = {},
                                     .addresses = {}};
        const auto files = files_of_volume(volume, input, {});
        EXPECT_TRUE(files && *files) << (files ? "no files" : files.error().message());
        return files && *files ? (*files)->size() : 0;
    }

  private:
    KeyValueObjects config_maps_;
    KeyValueObjects secrets_;
    kube::Pod pod_;
};

TEST_P(VolumeGrowth, IsLinear) {
    const VolumeCase& of = GetParam();
    const auto volume = [&](std::size_t size) {
        return *kube::decode<kube::Volume>(json::parse(of.volume(size)));
    };
    const kube::Volume small = volume(of.size);
    const kube::Volume large = volume(10 * of.size);
    EXPECT_GT(files_of(small), 0u);
    EXPECT_LE(growth_by_ten(of.size,
                            [&](std::size_t size) { files_of(size == of.size ? small : large); }),
              kLinearGrowth);
}

INSTANTIATE_TEST_SUITE_P(Projections, VolumeGrowth,
                         ::testing::Values(VolumeCase{"many_keys", many_keys, 1'000},
                                           VolumeCase{"many_sources", many_sources, 500},
                                           VolumeCase{"same_path", same_path, 500},
                                           VolumeCase{"fields_of_the_pod", fields_of_the_pod, 500}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace muster::runtime::volume_growth_test
