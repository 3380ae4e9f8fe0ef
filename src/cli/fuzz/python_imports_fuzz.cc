// Any text as a Python source: the names of modules in it, each once.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cli/internal/script/framework.h"
#include "cli/internal/script/python_imports.h"

using namespace muster;
using namespace muster::cli;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string source(reinterpret_cast<const char*>(data), size);
    const std::vector<std::string> modules = imported_modules(source);
    std::set<std::string_view> seen;
    for (const std::string& module : modules) {
        CHECK(!module.empty() && module.find_first_of(". \t\n") == module.npos,
              "a module has a name without dots and blanks");
        CHECK(source.contains(module), "it stands in the source");
        CHECK(seen.insert(module).second, "each is named once");
    }
    CHECK(imported_modules(source + "\n# import torch\n").size() == modules.size(),
          "a comment, or the rest of a string, imports nothing");
    for (const std::string& because : guess_framework(modules).because)
        CHECK(seen.contains(because), "a guess is because of what is imported");
    return 0;
}
