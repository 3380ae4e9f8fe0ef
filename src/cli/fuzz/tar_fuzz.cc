#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "cli/internal/archive/extraction.h"
#include "cli/internal/archive/tar_reader.h"

using namespace muster;

namespace {

/// What is read of the bytes when they arrive in pieces of that size: a text for each member.
std::vector<std::string> members_of(std::string_view bytes, std::size_t piece) {
    cli::TarReader reader;
    std::vector<std::string> members;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        reader.put(bytes.substr(at, piece));
        for (;;) {
            auto event = reader.next();
            if (!event) {
                members.push_back("error: " + event.error().message());
                return members;
            }
            if (!*event) break;
            if (const auto& entry = (*event)->entry)
                members.push_back(fmt::format("{} {} {} {} {}: ", static_cast<int>(entry->kind),
                                              entry->path, entry->link, entry->size, entry->mode));
            else
                members.back() += (*event)->data;
        }
    }
    return members;
}

}  // namespace

/// It makes no difference how the bytes are cut, and no name leads out of a target.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const std::vector<std::string> whole = members_of(bytes, size == 0 ? 1 : size);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{513}})
        CHECK(members_of(bytes, piece) == whole, "members depend on how they arrive");
    if (const auto names = cli::names_below("tree", bytes))
        for (const std::string& name : *names)
            CHECK(!name.empty() && name != "." && name != ".." && name.find('/') == name.npos,
                  "a name that is not one of a directory's");
    return 0;
}
