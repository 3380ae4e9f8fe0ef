#include "cli/internal/step/gpu_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "cli/internal/step/entry_text.h"
#include "kube/values/name_syntax.h"
#include "kube/values/quantity.h"

namespace muster::cli {

namespace {

constexpr double kMostDevices = 1024;
constexpr std::int64_t kMebi = std::int64_t{1} << 20;
constexpr std::int64_t kTencentUnit = 256 * kMebi;  ///< of tencent.com/vcuda-memory

struct Vendor {
    std::string_view word;
    std::string_view resource;
};
constexpr Vendor kVendors[] = {
    {"gpu", "nvidia.com/gpu"},          {"nvidia", "nvidia.com/gpu"},
    {"vgpu", "nvidia.com/vgpu"},        {"amd", "amd.com/gpu"},
    {"intel", "gpu.intel.com/i915"},    {"npu", "huawei.com/Ascend910"},
    {"ascend", "huawei.com/Ascend910"}, {"huawei", "huawei.com/Ascend910"},
    {"dcu", "hygon.com/dcu"},           {"hygon", "hygon.com/dcu"},
    {"mlu", "cambricon.com/mlu"},       {"cambricon", "cambricon.com/mlu"},
};

/// Of a whole card, in units of 256 MiB.
struct CardMemory {
    std::string_view type;
    int units;
};
constexpr CardMemory kCards[] = {{"T4", 64}, {"V100", 128}, {"A100", 160}};

constexpr std::string_view kGrammar =
    "write a number of GPUs as in 2, 2(V100) or 1(nvidia,T4), a part of one as in 0.5 or 8G,0.5, "
    "0 for none, or -1 for all of the node's without reserving any";

Error refused_gpu(std::string_view what) {
    return {Code::kInvalid, fmt::format("{}: {}", what, kGrammar)};
}

std::string in_case(std::string_view text, int (*to)(int)) {
    std::string made(text);
    for (char& c : made) c = static_cast<char>(to(static_cast<unsigned char>(c)));
    return made;
}

/// Brackets and commas of Chinese keyboards are those of others.
std::string half_width(std::string_view text) {
    constexpr std::pair<std::string_view, char> kSame[] = {{"（", '('}, {"）", ')'}, {"，", ','}};
    std::string made;
    while (!text.empty()) {
        const auto* const same = std::ranges::find_if(
            kSame, [&](const auto& one) { return text.starts_with(one.first); });
        const bool found = same != std::end(kSame);
        made += found ? same->second : text.front();
        text.remove_prefix(found ? same->first.size() : 1);
    }
    return made;
}

const Vendor* vendor_named(std::string_view word) {
    const std::string lower = in_case(word, std::tolower);
    const auto* const found = std::ranges::find(kVendors, lower, &Vendor::word);
    return found == std::end(kVendors) ? nullptr : found;
}

std::optional<double> number_of(std::string_view text) {
    double value = 0;
    const auto [end, failed] =
        std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (failed != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

/// "(nvidia,T4)", "(T4)" or "(amd)".
struct Card {
    std::string type;
    std::string_view resource;  ///< of the vendor; empty: it is not said
};

Result<Card> read_card(std::string_view text) {
    Card card;
    const std::size_t comma = text.find(',');
    std::string_view type = trimmed(text);
    if (comma != text.npos) {
        const std::string_view word = trimmed(text.substr(0, comma));
        const Vendor* const vendor = vendor_named(word);
        if (vendor == nullptr && !word.empty())
            return refused_gpu(fmt::format("the vendor \"{}\" is not known", word));
        if (vendor != nullptr) card.resource = vendor->resource;
        type = trimmed(text.substr(comma + 1));
    } else if (const Vendor* const vendor = vendor_named(type)) {
        card.resource = vendor->resource;
        type = {};
    }
    if (const std::string problem = kube::label_value_problem(type); !problem.empty())
        return refused_gpu(fmt::format("\"{}\" is no type of a card", type));
    card.type = in_case(type, std::toupper);
    return card;
}

/// A part of one card.
struct Part {
    double share = 0;         ///< of its processors; 0: it is not said
    std::int64_t memory = 0;  ///< in bytes; 0: the same share of its memory
};

Result<Part> read_part(std::string_view text) {
    const std::size_t comma = text.find(',');
    if (comma == text.npos) return Part{.share = *number_of(text), .memory = 0};
    const std::optional<double> share = number_of(trimmed(text.substr(comma + 1)));
    if (!share || *share <= 0 || *share > 1)
        return refused_gpu(fmt::format("the part \"{}\" is not above 0 and up to 1",
                                       trimmed(text.substr(comma + 1))));
    std::string size(trimmed(text.substr(0, comma)));
    // G means GiB there, as in the sizes of volumes.
    if (size.ends_with('B') || size.ends_with('b')) size.pop_back();
    if (!size.empty() && std::isalpha(static_cast<unsigned char>(size.back())) != 0 &&
        size.back() != 'i')
        size = in_case(size, std::toupper) + "i";
    const Result<kube::Quantity> memory = kube::Quantity::parse(size);
    if (!memory || memory->ceil_units() < kMebi)
        return refused_gpu(
            fmt::format("\"{}\" is no size of memory", trimmed(text.substr(0, comma))));
    return Part{.share = *share, .memory = memory->ceil_units()};
}

Result<std::map<std::string, std::int64_t>> share_by_tencent(const Part& part,
                                                             const std::string& type) {
    std::int64_t units = part.memory / kTencentUnit;
    if (part.memory == 0) {
        const auto* const card = std::ranges::find(kCards, type, &CardMemory::type);
        if (card == std::end(kCards))
            return refused_gpu(
                "a part of a card of tencent.com/vcuda needs its type (T4, V100 or A100)");
        units = std::llround(part.share * card->units);
    }
    return std::map<std::string, std::int64_t>{
        {"tencent.com/vcuda-core", std::max<std::int64_t>(1, std::llround(part.share * 100))},
        {"tencent.com/vcuda-memory", std::max<std::int64_t>(1, units)}};
}

std::map<std::string, std::int64_t> share_by_percent(const Part& part, std::string resource) {
    const std::int64_t percent = std::max<std::int64_t>(1, std::llround(part.share * 100));
    std::map<std::string, std::int64_t> resources = {{std::move(resource), 1},
                                                     {"nvidia.com/gpucores", percent}};
    if (part.memory == 0)
        resources["nvidia.com/gpumem-percentage"] = percent;
    else
        resources["nvidia.com/gpumem"] = part.memory / kMebi;
    return resources;
}

Result<std::map<std::string, std::int64_t>> share(const Part& part, const std::string& type,
                                                  const GpuPlatform& platform) {
    const std::string driver = in_case(platform.driver, std::tolower);
    if (driver == "tencent") return share_by_tencent(part, type);
    if (driver == "vgpu" || driver == "4paradigm") return share_by_percent(part, "nvidia.com/vgpu");
    if (driver == "hami")
        return share_by_percent(part,
                                platform.resource.empty() ? "nvidia.com/gpu" : platform.resource);
    return refused_gpu(fmt::format(
        "a part of a GPU needs a driver that shares GPUs, and {}: say which one the cluster has "
        "with --gpu-driver or VGPU_DRIVE_TYPE (tencent, vgpu or hami), or ask for whole ones",
        driver.empty() ? "none is named" : fmt::format("\"{}\" is not known", platform.driver)));
}

}  // namespace

Result<GpuRequest> read_gpu_text(std::string_view written, const GpuPlatform& platform) {
    const std::string text = half_width(trimmed(written));
    std::string_view body = text;
    Card card;
    if (const std::size_t open = body.find('('); open != body.npos) {
        if (!body.ends_with(')'))
            return refused_gpu(fmt::format("\"{}\" has no closing bracket", text));
        TRY(card, read_card(body.substr(open + 1, body.size() - open - 2)));
        body = trimmed(body.substr(0, open));
    }
    GpuRequest request;
    request.type = card.type;
    const bool has_memory = body.contains(',');
    const std::optional<double> number = body.empty() ? std::optional(0.0) : number_of(body);
    if (!has_memory && (!number || (body.empty() && !text.empty())))
        return refused_gpu(fmt::format("\"{}\" is no number of GPUs", text));
    if (!has_memory && *number == -1) {
        request.mode = GpuRequest::Mode::kShared;
        request.devices = -1;
        return request;
    }
    if (!has_memory && *number == 0) return GpuRequest();
    if (has_memory || (*number > 0 && *number < 1)) {
        TRY(const Part part, read_part(body));
        TRY(request.resources, share(part, card.type, platform));
        request.mode = GpuRequest::Mode::kPart;
        request.devices = 1;
        return request;
    }
    if (*number < 0 || *number > kMostDevices || *number != std::floor(*number))
        return refused_gpu(fmt::format("{} GPUs can't be given to a pod", body));
    request.mode = GpuRequest::Mode::kWhole;
    request.devices = static_cast<int>(*number);
    std::string resource = platform.resource;
    if (resource.empty()) resource = card.resource.empty() ? kVendors[0].resource : card.resource;
    request.resources[resource] = request.devices;
    return request;
}

}  // namespace muster::cli
