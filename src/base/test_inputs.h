#pragma once

#include <filesystem>
#include <string_view>

namespace muster {

/// A file or folder of the source tree, by its path there, that a test reads. The tree is found from the place of the
/// test program, which is built inside it. Throws std::runtime_error when it is not.
std::filesystem::path source_path(std::string_view relative);

/// Tells ./dev test that this program's outcome depends on something besides the program: appends a line to the file
/// that the program has in the folder $MUSTER_TEST_INPUTS, where there is one (scripts/unchanged.py reads it).
/// source_path() and seeds_of_this_run() do so by themselves.
void note_test_input(std::string_view kind, std::string_view what);

}  // namespace muster
