#include "launch/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace muster::launch::placement_test {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using enum NumaBinding;

/// Nodes of so many cores, with `threads` each; the second threads are numbered after all the first
/// ones, as machines do. `per_cache` cores share a cache, `per_socket` nodes a socket.
Topology machine(std::uint32_t nodes, std::uint32_t cores, std::uint32_t threads = 1,
                 std::uint32_t per_cache = 1000, std::uint32_t per_socket = 1) {
    Topology made;
    const std::uint32_t all = nodes * cores;
    for (std::uint32_t thread = 0; thread < threads; ++thread)
        for (std::uint32_t core = 0; core < all; ++core) {
            const std::uint32_t node = core / cores;
            made.cpus.push_back({.id = thread * all + core,
                                 .node = node,
                                 .socket = node / per_socket,
                                 .core = core,
                                 .cache = node * cores + core % cores / per_cache * per_cache});
        }
    return made;
}

std::vector<Place> workers(int size, bool devices = false) {
    std::vector<Place> all;
    for (int rank = 0; rank < size; ++rank)
        all.push_back({.local_rank = rank,
                       .local_size = size,
                       .device = devices ? std::optional(rank) : std::nullopt});
    return all;
}

std::string cpus(NumaBinding binding, const Topology& on, const std::vector<Place>& all,
                 std::size_t which) {
    const auto placed = place({.binding = binding}, on, all, which);
    return placed ? to_cpu_list(placed->cpus) : placed.error().message();
}

TEST(Placement, FollowsTheBinding) {
    struct Case {
        const char* what;
        NumaBinding binding;
        Topology machine;
        int size;
        std::vector<std::string> expected;
    };
    const Case cases[] = {
        {"nothing asked", kNone, machine(2, 4), 2, {"", ""}},
        {"a node each", kNode, machine(2, 4), 2, {"0-3", "4-7"}},
        {"two on each node", kNode, machine(2, 4), 4, {"0-3", "0-3", "4-7", "4-7"}},
        {"three on two nodes", kNode, machine(2, 4), 3, {"0-3", "0-3", "4-7"}},
        {"one on four nodes", kNode, machine(4, 2), 1, {"0-1"}},
        {"threads belong to it", kNode, machine(2, 2, 2), 2, {"0-1,4-5", "2-3,6-7"}},
        {"a socket of two nodes", kSocket, machine(4, 2, 1, 1000, 2), 2, {"0-3", "4-7"}},
        {"its own cores", kExclusive, machine(1, 4), 2, {"0-1", "2-3"}},
        {"what is left goes to the first", kExclusive, machine(1, 5), 2, {"0-2", "3-4"}},
        {"cores with their threads", kExclusive, machine(1, 2, 2), 2, {"0,2", "1,3"}},
        {"its own cores on two nodes", kExclusive, machine(2, 4), 4, {"0-1", "2-3", "4-5", "6-7"}},
        {"a cache each", kCoreComplex, machine(1, 8, 1, 4), 2, {"0-3", "4-7"}},
        {"more than there are caches", kCoreComplex, machine(1, 4, 1, 2), 3, {"0-1", "2-3", "0-1"}},
    };
    for (const Case& c : cases)
        for (std::size_t i = 0; i < c.expected.size(); ++i)
            EXPECT_EQ(cpus(c.binding, c.machine, workers(c.size), i), c.expected[i])
                << c.what << ", worker " << i;
}

TEST(Placement, AWorkerIsNearItsAccelerator) {
    Topology crossed = machine(2, 4);
    crossed.devices = {1, 0};
    EXPECT_EQ(cpus(kNode, crossed, workers(2, true), 0), "4-7");
    EXPECT_EQ(cpus(kNode, crossed, workers(2, true), 1), "0-3");
    crossed.devices = {1, 1};
    EXPECT_EQ(cpus(kExclusive, crossed, workers(2, true), 0), "4-5");
    EXPECT_EQ(cpus(kExclusive, crossed, workers(2, true), 1), "6-7");
    crossed.devices = {std::nullopt, std::nullopt};
    const auto placed = place({.binding = kNode}, crossed, workers(2, true), 1);
    ASSERT_TRUE(placed);
    EXPECT_EQ(to_cpu_list(placed->cpus), "4-7");
    EXPECT_THAT(placed->note, HasSubstr("accelerator 1"));
}

TEST(Placement, DevicesAreNumberedAsTheyAreVisible) {
    Topology with = machine(1, 2);
    EXPECT_EQ(device_of(0, std::nullopt, with), std::nullopt);
    with.devices = {0, 0, 0, 0};
    EXPECT_EQ(device_of(1, std::nullopt, with), 1);
    EXPECT_EQ(device_of(1, std::string("3,2"), with), 2);
    EXPECT_EQ(device_of(2, "3,2", with), std::nullopt);
    EXPECT_EQ(device_of(0, "GPU-8932f937", with), std::nullopt);
}

TEST(Placement, TooFewCoresAreAnError) {
    EXPECT_THAT(cpus(kExclusive, machine(1, 2), workers(3), 0), HasSubstr("2 cores for 3 workers"));
}

TEST(Placement, MemoryFollows) {
    const auto bound =
        place({.binding = kNode, .memory = MemoryPolicy::kBind}, machine(2, 4), workers(2), 1);
    ASSERT_TRUE(bound);
    EXPECT_EQ(bound->memory, MemoryPolicy::kBind);
    EXPECT_EQ(bound->nodes, (std::vector<std::uint32_t>{1}));
    const auto socket = place({.binding = kSocket, .memory = MemoryPolicy::kPreferred},
                              machine(4, 2, 1, 1000, 2), workers(2), 1);
    EXPECT_EQ(socket->nodes, (std::vector<std::uint32_t>{2, 3}));
    const auto alone =
        place({.binding = kNode, .memory = MemoryPolicy::kBind}, machine(1, 4), workers(2), 1);
    EXPECT_EQ(alone->memory, MemoryPolicy::kNone);
    EXPECT_THAT(alone->note, HasSubstr("one NUMA node"));
}

TEST(Placement, FlagsAreRead) {
    EXPECT_EQ(*parse_placement({}), PlacementWish{});
    EXPECT_EQ(*parse_placement({.numa_binding = "core-complex"}),
              PlacementWish{.binding = kCoreComplex});
    EXPECT_EQ(*parse_placement({.numa_affinity = true}),
              (PlacementWish{.binding = kNode, .memory = MemoryPolicy::kPreferred}));
    EXPECT_EQ(*parse_placement({.numa_affinity = true, .membind_policy = "none"}),
              PlacementWish{.binding = kNode});
    EXPECT_THAT(parse_placement({.numa_binding = "numa"}).error().message(),
                HasSubstr("--numa-binding \"numa\""));
    EXPECT_THAT(parse_placement({.membind_policy = "near"}).error().message(),
                HasSubstr("--membind-policy \"near\""));
}

TEST(Topology, IsReadFromSysfs) {
    std::string name = ::testing::TempDir() + "muster-sysfs-XXXXXX";
    const fs::path root = ::mkdtemp(name.data());
    const auto put = [&](const std::string& path, const std::string& text) {
        fs::create_directories((root / path).parent_path());
        std::ofstream(root / path) << text << "\n";
    };
    put("devices/system/node/node0/cpulist", "0-1");
    put("devices/system/node/node1/cpulist", "2-3");
    for (int cpu = 0; cpu < 4; ++cpu) {
        const std::string at = fmt::format("devices/system/cpu/cpu{}/", cpu);
        put(at + "topology/physical_package_id", std::to_string(cpu / 2));
        put(at + "topology/thread_siblings_list", cpu < 2 ? "0-1" : "2-3");
        put(at + "cache/index0/level", "1");
        put(at + "cache/index0/shared_cpu_list", std::to_string(cpu));
        put(at + "cache/index3/level", "3");
        put(at + "cache/index3/shared_cpu_list", cpu < 2 ? "0-1" : "2-3");
    }
    for (const auto& [card, node] :
         {std::pair("0000:3b:00.0", "1"), std::pair("0000:af:00.0", "-1")}) {
        const std::string at = fmt::format("bus/pci/devices/{}/", card);
        put(at + "vendor", "0x10de");
        put(at + "class", "0x030200");
        put(at + "numa_node", node);
    }
    const auto read = read_topology(root, {0, 2, 3});
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->cpus,
              (std::vector<Cpu>{{.id = 0},
                                {.id = 2, .node = 1, .socket = 1, .core = 2, .cache = 2},
                                {.id = 3, .node = 1, .socket = 1, .core = 2, .cache = 2}}));
    EXPECT_EQ(read->devices,
              (std::vector<std::optional<std::uint32_t>>{std::uint32_t{1}, std::nullopt}));
    EXPECT_FALSE(read_topology(root, {}));
    fs::remove_all(root);
}

TEST(Topology, ThisMachineHasOne) {
    const auto read = read_topology("/sys", allowed_cpus());
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->cpus.size(), allowed_cpus().size());
}

TEST(Topology, ListsAreTheKernels) {
    EXPECT_EQ(parse_cpu_list("0-2,5\n"), (std::set<std::uint32_t>{0, 1, 2, 5}));
    EXPECT_EQ(parse_cpu_list(""), std::set<std::uint32_t>{});
    EXPECT_EQ(to_cpu_list({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

}  // namespace
}  // namespace muster::launch::placement_test
