#include "cli/internal/operator/spare_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace muster::cli::spare_memory_test {
namespace {

/// Resident KiB of what is mapped of this program's file and can be executed.
int resident_code() {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    std::ifstream file("/proc/self/smaps");
    int sum = 0;
    bool counts = false;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string first;
        std::string second;
        words >> first >> second;
        if (first.find('-') != std::string::npos)
            counts = second == "r-xp" && line.ends_with(program);
        else if (counts && first == "Rss:")
            sum += std::stoi(second);
    }
    return sum;
}

TEST(SpareMemory, PagesThatOnlyTheStartNeededAreGivenBack) {
    const int before = resident_code();
    give_back_program_pages();
    const int after = resident_code();
    EXPECT_GT(before, 0);
    EXPECT_LT(after, before);
}

}  // namespace
}  // namespace muster::cli::spare_memory_test
