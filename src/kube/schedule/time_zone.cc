#include "kube/schedule/time_zone.h"

#include <algorithm>
#include <fstream>
#include <span>

#include "base/parse_number.h"

namespace muster::kube {

using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

/// Reads the last line of a zone's file: "CET-1CEST,M3.5.0,M10.5.0/3".
class PosixRuleReader {
  public:
    explicit PosixRuleReader(std::string_view text) : text_(text) {}

    std::optional<TimeZone::Rule> read() {
        TimeZone::Rule rule;
        const auto standard = name() ? time(24) : std::nullopt;
        if (!standard) return std::nullopt;
        rule.standard = -*standard;
        rule.summer = rule.standard + std::chrono::hours(1);
        if (text_.empty()) return rule;
        if (!name()) return std::nullopt;
        if (!text_.empty() && text_.front() != ',') {
            const auto summer = time(24);
            if (!summer) return std::nullopt;
            rule.summer = -*summer;
        }
        rule.begins = change();
        rule.ends = change();
        if (!rule.begins || !rule.ends || !text_.empty()) return std::nullopt;
        return rule;
    }

  private:
    bool skip(char c) {
        if (text_.empty() || text_.front() != c) return false;
        text_.remove_prefix(1);
        return true;
    }
    bool name() {
        const bool quoted = skip('<');
        const std::size_t end = quoted ? text_.find('>') : text_.find_first_of("+-0123456789,");
        if (end == 0 || (quoted && end == text_.npos)) return false;
        text_.remove_prefix(std::min(end, text_.size()));
        return !quoted || skip('>');
    }
    std::optional<int> number(int most) {
        const std::size_t end = std::min(text_.find_first_not_of("0123456789"), text_.size());
        const auto read = parse_number<int>(text_.substr(0, end));
        text_.remove_prefix(end);
        if (!read || *read > most) return std::nullopt;
        return read;
    }
    /// "2", "-1:30", "02:00:00".
    std::optional<seconds> time(int most_hours) {
        const bool negative = skip('-');
        if (!negative) skip('+');
        const auto hours = number(most_hours);
        if (!hours) return std::nullopt;
        seconds read = std::chrono::hours(*hours);
        for (const int unit : {60, 1}) {
            if (!skip(':')) break;
            const auto part = number(59);
            if (!part) return std::nullopt;
            read += seconds(*part * unit);
        }
        return negative ? -read : read;
    }
    std::optional<TimeZone::YearlyChange> change() {
        using Kind = TimeZone::YearlyChange::Kind;
        if (!skip(',')) return std::nullopt;
        TimeZone::YearlyChange read;
        read.time = std::chrono::hours(2);
        if (skip('M')) {
            const auto month = number(12);
            const auto week = skip('.') ? number(5) : std::nullopt;
            const auto day = skip('.') ? number(6) : std::nullopt;
            if (!month || !week || !day || *month == 0 || *week == 0) return std::nullopt;
            read.month = static_cast<unsigned>(*month);
            read.week = static_cast<unsigned>(*week);
            read.day = static_cast<unsigned>(*day);
        } else {
            read.kind = skip('J') ? Kind::kDayWithoutLeap : Kind::kDay;
            const auto day = number(365);
            if (!day) return std::nullopt;
            read.day = static_cast<unsigned>(*day);
        }
        if (skip('/')) {
            const auto at = time(167);
            if (!at) return std::nullopt;
            read.time = *at;
        }
        return read;
    }

    std::string_view text_;
};

seconds TimeZone::YearlyChange::in_year(int year) const {
    const std::chrono::year in(year);
    sys_days date = in / std::chrono::January / 1;
    if (kind == Kind::kWeekday) {
        const std::chrono::month of(month);
        const std::chrono::weekday weekday(day);
        date = week == 5 ? sys_days(in / of / weekday[std::chrono::last])
                         : sys_days(in / of / weekday[week]);
    } else {
        date += std::chrono::days(day);
        // The days of these are counted from 1, and February has 28.
        if (kind == Kind::kDayWithoutLeap && (!in.is_leap() || day < 60))
            date -= std::chrono::days(1);
    }
    return date.time_since_epoch() + time;
}

seconds TimeZone::Rule::offset(sys_seconds at) const {
    if (!begins || !ends) return standard;
    const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(at + standard));
    const int year = static_cast<int>(date.year());
    const seconds begin = begins->in_year(year) - standard;
    const seconds end = ends->in_year(year) - summer;
    const seconds now = at.time_since_epoch();
    const bool is_summer = begin < end ? now >= begin && now < end : now >= begin || now < end;
    return is_summer ? summer : standard;
}

seconds TimeZone::offset(sys_seconds at) const {
    const std::int64_t now = at.time_since_epoch().count();
    const auto next = std::ranges::upper_bound(changes_, now, {}, &Change::at);
    if (next == changes_.end() && rule_) return rule_->offset(at);
    return seconds(next == changes_.begin() ? first_offset_ : std::prev(next)->offset);
}

namespace {

constexpr std::size_t kLongestFile = 64 * 1024;
constexpr std::size_t kHeader = 44;

std::int64_t big_endian(std::string_view bytes, std::size_t at, std::size_t width) {
    std::uint64_t value = static_cast<unsigned char>(bytes[at]) >= 0x80 ? ~std::uint64_t{0} : 0;
    for (std::size_t i = 0; i < width; ++i)
        value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return static_cast<std::int64_t>(value);
}

/// How many there are of each part of a block.
struct BlockCounts {
    std::size_t ut = 0;
    std::size_t standard = 0;
    std::size_t leaps = 0;
    std::size_t times = 0;
    std::size_t types = 0;
    std::size_t letters = 0;

    std::size_t bytes(std::size_t width) const {
        return times * (width + 1) + types * 6 + letters + leaps * (width + 4) + standard + ut;
    }
};

std::optional<BlockCounts> block_at(std::string_view file, std::size_t at) {
    if (file.size() < at + kHeader || file.substr(at, 4) != "TZif") return std::nullopt;
    const auto count = [&](std::size_t part) {
        return static_cast<std::size_t>(big_endian(file, at + 20 + part * 4, 4));
    };
    const BlockCounts counts{count(0), count(1), count(2), count(3), count(4), count(5)};
    for (const std::size_t each :
         {counts.ut, counts.standard, counts.leaps, counts.times, counts.types, counts.letters})
        if (each > kLongestFile) return std::nullopt;
    return counts;
}

std::optional<TimeZone> read_zone_file(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    std::string file(kLongestFile, '\0');
    stream.read(file.data(), static_cast<std::streamsize>(file.size()));
    file.resize(static_cast<std::size_t>(stream.gcount()));
    return TimeZone::parse(file);
}

bool is_zone_name(std::string_view name) {
    const bool letters = std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '/' || c == '_' || c == '-' || c == '+';
    });
    return letters && !name.empty() && name.front() != '/' && name.size() < 64;
}

}  // namespace

std::optional<TimeZone> TimeZone::parse(std::string_view file) {
    // The second block has times of 64 bits.
    const std::optional<BlockCounts> first = block_at(file, 0);
    if (!first) return std::nullopt;
    const std::size_t second_at = kHeader + first->bytes(4);
    const std::optional<BlockCounts> counts = block_at(file, second_at);
    if (!counts || counts->types == 0) return std::nullopt;
    const std::size_t times = second_at + kHeader;
    const std::size_t end = times + counts->bytes(8);
    if (file.size() < end) return std::nullopt;
    const std::size_t kinds = times + counts->times * 8;
    const auto offset_of = [&](std::size_t kind) {
        return big_endian(file, kinds + counts->times + kind * 6, 4);
    };
    TimeZone zone;
    zone.first_offset_ = offset_of(0);
    for (std::size_t i = 0; i < counts->times; ++i) {
        const std::size_t kind = static_cast<unsigned char>(file[kinds + i]);
        if (kind >= counts->types) return std::nullopt;
        zone.changes_.push_back({big_endian(file, times + i * 8, 8), offset_of(kind)});
    }
    if (!std::ranges::is_sorted(zone.changes_, {}, &Change::at)) return std::nullopt;
    std::string_view rest = file.substr(end);
    if (!rest.empty() && rest.front() == '\n') rest.remove_prefix(1);
    zone.rule_ = PosixRuleReader(rest.substr(0, rest.find('\n'))).read();
    return zone;
}

std::optional<TimeZone> find_time_zone(std::string_view name) {
    if (name == "UTC" || name == "Etc/UTC") return TimeZone();
    if (!is_zone_name(name)) return std::nullopt;
    return read_zone_file("/usr/share/zoneinfo/" + std::string(name));
}

TimeZone local_time_zone() { return read_zone_file("/etc/localtime").value_or(TimeZone()); }

}  // namespace muster::kube
