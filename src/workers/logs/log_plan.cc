#include "workers/logs/log_plan.h"

#include <fmt/format.h>

#include "base/fields.h"
#include "base/parse_number.h"
#include "base/trimmed.h"

namespace muster::workers {

namespace {

Error wrong(std::string_view flag, std::string_view text, std::string_view wanted) {
    return {Code::kInvalid, fmt::format("{} \"{}\": {}", flag, text, wanted)};
}

std::optional<int> local_rank(std::string_view text) {
    const auto value = parse_number<std::uint64_t>(trimmed(text, " "));
    if (!value || *value > 100'000) return std::nullopt;
    return static_cast<int>(*value);
}

/// "10", "10K", "10Ki", "10M", "1G", ...; also "10MB" and "10MiB".
std::optional<std::uint64_t> bytes(std::string_view text) {
    text = trimmed(text, " ");
    const std::size_t digits = text.find_first_not_of("0123456789");
    const auto value = parse_number<std::uint64_t>(text.substr(0, digits));
    if (!value || *value > (std::uint64_t{1} << 40)) return std::nullopt;
    std::string_view unit = digits == text.npos ? "" : text.substr(digits);
    if (unit.ends_with('B')) unit.remove_suffix(1);
    if (unit.empty()) return value;
    const std::uint64_t base = unit.size() == 2 && unit[1] == 'i' ? 1024 : 1000;
    if (unit.size() > 2 || (unit.size() == 2 && base != 1024)) return std::nullopt;
    switch (unit[0]) {
        case 'k':
        case 'K':
            return *value * base;
        case 'M':
            return *value * base * base;
        case 'G':
            return *value * base * base * base;
        default:
            return std::nullopt;
    }
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

/// Texts separated by commas; two commas stand for one within a text.
std::vector<std::string> texts(std::string_view list) {
    std::vector<std::string> found;
    if (list.empty()) return found;
    found.emplace_back();
    for (std::size_t at = 0; at < list.size(); ++at) {
        if (list[at] != ',') {
            found.back() += list[at];
        } else if (list.substr(at).starts_with(",,")) {
            found.back() += ',';
            ++at;
        } else {
            found.emplace_back();
        }
    }
    return found;
}

}  // namespace

int LogPlan::Streams::of(int local_rank) const {
    const auto found = ranks.find(local_rank);
    return found == ranks.end() ? all : found->second;
}

bool LogPlan::Streams::any(int streams) const {
    if ((all & streams) != 0) return true;
    for (const auto& [rank, chosen] : ranks)
        if ((chosen & streams) != 0) return true;
    return false;
}

Result<LogPlan::Streams> LogPlan::parse_streams(const std::string& flag, const std::string& text) {
    constexpr std::string_view kWanted =
        "expects 0 (nothing), 1 (standard output), 2 (standard error) or 3 (both), for all workers "
        "or for each local rank, as in 0:3,1:2";
    const auto streams = [](std::string_view digit) -> std::optional<int> {
        if (digit.size() != 1 || digit[0] < '0' || digit[0] > '3') return std::nullopt;
        return digit[0] - '0';
    };
    Streams result;
    if (text.empty()) return result;
    if (text.find(':') == text.npos) {
        const auto all = streams(text);
        if (!all) return wrong(flag, text, kWanted);
        result.all = *all;
        return result;
    }
    for (std::string_view rest = text; !rest.empty();) {
        std::string_view item = take_field(rest, ',');
        const std::optional<int> rank = local_rank(take_field(item, ':'));
        const std::optional<int> chosen = streams(item);
        if (!rank || !chosen) return wrong(flag, text, kWanted);
        if (!result.ranks.emplace(*rank, *chosen).second)
            return wrong(flag, text, fmt::format("local rank {} is listed twice", *rank));
    }
    return result;
}

Result<LogPlan> LogPlan::parse(const LogFlags& flags) {
    LogPlan plan;
    plan.no_files_ = flags.log_dir == "/dev/null";
    if (!flags.log_dir.empty() && !plan.no_files_) plan.directory_ = flags.log_dir;
    TRY(plan.redirects_, parse_streams("--redirects", flags.redirects));
    TRY(plan.tee_, parse_streams("--tee", flags.tee));
    for (std::string_view rest = flags.local_ranks_filter; !rest.empty();) {
        const auto rank = local_rank(take_field(rest, ','));
        if (!rank)
            return wrong("--local-ranks-filter", flags.local_ranks_filter,
                         "expects local ranks separated by commas, as in 0,2");
        plan.shown_.insert(*rank);
    }
    if (!flags.max_bytes.empty()) {
        const auto most = bytes(flags.max_bytes);
        if (!most || *most < 4096)
            return wrong("--log-max-size", flags.max_bytes,
                         "expects a size of 4096 bytes or more, as in 100Mi");
        plan.max_bytes_ = *most;
    }
    if (!flags.max_files.empty()) {
        const auto most = parse_number<std::uint64_t>(flags.max_files);
        if (!most || *most < 1 || *most > 1000)
            return wrong("--log-max-files", flags.max_files, "expects a number from 1 to 1000");
        plan.max_files_ = static_cast<std::uint32_t>(*most);
    }
    plan.out_texts_ = texts(flags.out_filters);
    plan.error_texts_ = texts(flags.error_filters);
    plan.line_prefix_ = flags.line_prefix;
    return plan;
}

RankLogPlan LogPlan::of(int local_rank) const {
    const bool shown = shown_.empty() || shown_.contains(local_rank);
    const int tee = tee_.of(local_rank);
    const int file = no_files_ ? 0 : redirects_.of(local_rank) | tee;
    const auto stream = [&](int bit) {
        using enum StreamPlan::Console;
        StreamPlan plan;
        plan.file = (file & bit) != 0;
        if (!shown)
            plan.console = kNo;
        else if ((tee & bit) != 0)
            plan.console = kPrefixed;
        else
            plan.console = plan.file ? kNo : kDirect;
        const bool sorted = !(bit == 1 ? out_texts_ : error_texts_).empty();
        plan.filtered = sorted && plan.file && plan.console == kPrefixed;
        return plan;
    };
    return {.out = stream(1), .error = stream(2)};
}

std::string LogPlan::prefix(const LineAuthor& author) const {
    std::string text = line_prefix_.empty() ? "[${role_name}${local_rank}]:" : line_prefix_;
    replace_all(text, "${role_name}", author.role);
    replace_all(text, "${local_rank}", std::to_string(author.local_rank));
    replace_all(text, "${rank}", std::to_string(author.rank));
    return text;
}

bool LogPlan::wants_files() const { return !no_files_ && (redirects_.any() || tee_.any()); }

std::vector<std::string> LogPlan::notes() const {
    std::vector<std::string> notes;
    const auto look = [&](const char* flag, const std::vector<std::string>& wanted, int stream) {
        if (wanted.empty()) return;
        if (no_files_)
            notes.push_back(
                fmt::format("{} has no effect: --log-dir /dev/null turns log files off", flag));
        else if (!tee_.any(stream))
            notes.push_back(fmt::format(
                "{} has no effect: it filters what --tee shows; add --tee {}", flag, stream));
    };
    look("--duplicate-stdout-filters", out_texts_, 1);
    look("--duplicate-stderr-filters", error_texts_, 2);
    return notes;
}

std::string attempt_directory(int restarts) { return fmt::format("attempt_{}", restarts); }

std::string directory_name(const std::string& run_id) {
    std::string name;
    for (const char letter : run_id)
        name += letter == '/' || static_cast<unsigned char>(letter) < 0x21 ? '_' : letter;
    if (name.size() > 100) name.resize(100);
    if (name.empty() || name.front() == '.') name.insert(0, "run");
    return name;
}

}  // namespace muster::workers
