#include "runtime/native_resources.h"

#include <fmt/format.h>

#include "base/fields.h"
#include "base/parse_number.h"
#include "base/text_files.h"

namespace muster::runtime {

namespace {

namespace fs = std::filesystem;
using kube::Quantity;

/// "hugepages-2048kB", as the kernel names the size.
constexpr std::string_view kPrefix = "hugepages-";
constexpr std::string_view kUnit = "kB";

void add_huge_pages(const fs::path& of_size, NativeResources& found) {
    const std::string name = of_size.filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kUnit)) return;
    const auto size = parse_number<std::int64_t>(
        std::string_view(name).substr(kPrefix.size(), name.size() - kPrefix.size() - kUnit.size()));
    const Result<std::string> text = read_text(of_size / "nr_hugepages");
    if (!size || *size <= 0 || !text) return;
    std::string_view left = *text;
    const auto pages = parse_number<std::int64_t>(take_field(left, '\n'));
    if (!pages) return;
    const auto bytes = [](std::int64_t count) {
        return Quantity::from_units(count * 1024, Quantity::Format::kBinarySi);
    };
    found[std::string(kPrefix) + bytes(*size).to_string()] = bytes(*size * *pages);
}

}  // namespace

NativeResources find_native_resources(const fs::path& root, const fs::path& scratch) {
    NativeResources found;
    std::error_code unknown;
    const fs::space_info space = fs::space(scratch, unknown);
    if (!unknown)
        found["ephemeral-storage"] = Quantity::from_units(static_cast<std::int64_t>(space.capacity),
                                                          Quantity::Format::kBinarySi);
    for (const fs::directory_entry& entry :
         fs::directory_iterator(root / "sys/kernel/mm/hugepages", unknown))
        add_huge_pages(entry.path(), found);
    return found;
}

}  // namespace muster::runtime
