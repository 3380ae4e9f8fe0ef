#include "net/http/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/lower_case.h"
#include "base/trimmed.h"
#include "net/internal/tls/openssl.h"

namespace muster::net {

namespace {

bool is_token_character(char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= 'a' && letter <= 'z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(letter) != std::string_view::npos;
}

}  // namespace

bool is_valid_header(std::string_view name, std::string_view value) {
    if (name.empty() || !std::ranges::all_of(name, is_token_character)) return false;
    return std::ranges::none_of(value, [](char letter) {
        const auto byte = static_cast<unsigned char>(letter);
        return (byte < 0x20 && letter != '\t') || byte == 0x7f;
    });
}

void HttpHeaders::add(std::string_view name, std::string_view value) {
    const auto at = [&] { return static_cast<std::uint32_t>(text_.size()); };
    Field field{};
    field.name_at = at();
    field.name_size = static_cast<std::uint32_t>(name.size());
    text_ += name;
    field.value_at = at();
    field.value_size = static_cast<std::uint32_t>(value.size());
    text_ += value;
    fields_.push_back(field);
}

void HttpHeaders::set(std::string_view name, std::string_view value) {
    const std::string kept_name(name);  // either may be a view into this
    const std::string kept_value(value);
    erase(kept_name);
    add(kept_name, kept_value);
}

void HttpHeaders::erase(std::string_view name) {
    const std::string kept(name);
    HttpHeaders rest;
    for (const HttpHeader field : *this)
        if (!equal_without_case(field.name, kept)) rest.add(field.name, field.value);
    *this = std::move(rest);
}

void HttpHeaders::clear() {
    text_.clear();
    fields_.clear();
}

std::optional<std::string_view> HttpHeaders::find(std::string_view name) const {
    for (const HttpHeader field : *this)
        if (equal_without_case(field.name, name)) return field.value;
    return std::nullopt;
}

std::size_t HttpHeaders::count(std::string_view name) const {
    return static_cast<std::size_t>(std::count_if(begin(), end(), [&](const HttpHeader& field) {
        return equal_without_case(field.name, name);
    }));
}

bool HttpHeaders::has_token(std::string_view name, std::string_view token) const {
    for (const HttpHeader field : *this) {
        if (!equal_without_case(field.name, name)) continue;
        std::string_view rest = field.value;
        while (!rest.empty()) {
            const std::size_t comma = rest.find(',');
            if (equal_without_case(trimmed(rest.substr(0, comma), " \t"), token)) return true;
            rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
        }
    }
    return false;
}

HttpHeader HttpHeaders::operator[](std::size_t index) const {
    const Field& field = fields_[index];
    const std::string_view text = text_;
    return {.name = text.substr(field.name_at, field.name_size),
            .value = text.substr(field.value_at, field.value_size)};
}

std::string_view HttpRequest::path() const {
    return std::string_view(target).substr(0, target.find('?'));
}

std::string_view HttpRequest::query() const {
    const std::size_t mark = target.find('?');
    return mark == std::string::npos ? std::string_view()
                                     : std::string_view(target).substr(mark + 1);
}

std::string_view reason_phrase(unsigned status) {
    struct Phrase {
        unsigned status;
        std::string_view words;
    };
    static constexpr Phrase kPhrases[] = {
        {100, "Continue"},
        {101, "Switching Protocols"},
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {411, "Length Required"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {422, "Unprocessable Content"},
        {426, "Upgrade Required"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
    };
    for (const Phrase& phrase : kPhrases)
        if (phrase.status == status) return phrase.words;
    return "";
}

std::string basic_authorization(std::string_view user, std::string_view password) {
    return "Basic " + base64(std::string(user).append(":").append(password));
}

std::string http_date(WallTime time) {
    using namespace std::chrono;
    static constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                         "Thu", "Fri", "Sat"};
    static constexpr std::array<const char*, 12> kMonths = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(floor<seconds>(time - day));
    return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[weekday(day).c_encoding()],
                       static_cast<unsigned>(date.day()),
                       kMonths[static_cast<unsigned>(date.month()) - 1],
                       static_cast<int>(date.year()), clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count());
}

}  // namespace muster::net
