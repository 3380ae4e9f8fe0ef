#include "kube/internal/schema/schema_formats.h"

#include <boost/json/serialize.hpp>

#include "kube/values/base64.h"
#include "kube/values/quantity.h"
#include "kube/values/time.h"

namespace muster::kube {
namespace {

bool is_uuid(std::string_view text) {
    if (text.size() != 36) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (dash ? c != '-' : !hex) return false;
    }
    return true;
}

bool is_micro_time(std::string_view text) {
    constexpr std::size_t kPoint = std::string_view("2026-01-02T03:04:05").size();
    constexpr std::size_t kDigits = 6;
    if (!parse_time(text) || text.size() <= kPoint + kDigits + 1 || text[kPoint] != '.')
        return false;
    const std::size_t end = text.find_first_not_of("0123456789", kPoint + 1);
    return end == kPoint + 1 + kDigits;
}

}  // namespace

const std::string_view kQuantityPattern =
    R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";

std::string format_problem(std::string_view format, const json::value& value) {
    if (format == "quantity") {
        Result<Quantity> parsed = Quantity::parse(value);
        if (parsed) return {};
        return "must be a quantity such as 500m, 2 or 1.5Gi: " + parsed.error().message();
    }
    const json::string* string = value.if_string();
    if (string == nullptr) return {};
    const std::string_view text(string->data(), string->size());
    const bool good = format == "date-time"        ? parse_time(text).has_value()
                      : format == kMicroTimeFormat ? is_micro_time(text)
                      : format == "byte"           ? base64_decode(text).has_value()
                      : format == "uuid"           ? is_uuid(text)
                                                   : true;
    if (good) return {};
    if (format == kMicroTimeFormat)
        return "must be a time with six digits after the point, such as "
               "2026-01-02T03:04:05.000000Z";
    if (format == "date-time") return "must be of type date-time, such as 2026-01-02T03:04:05Z";
    return "must be of type " + std::string(format);
}

}  // namespace muster::kube
