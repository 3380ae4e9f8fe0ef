#include "launch/flag_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "base/fields.h"
#include "base/lower_case.h"
#include "base/nearest_name.h"
#include "base/parse_number.h"
#include "base/signal_name.h"
#include "base/trimmed.h"

namespace muster::launch {
namespace {

/// Numbers separated by commas, within limits.
Result<std::set<int>> numbers(const Given& given, int least, int most, std::string_view what) {
    std::set<int> found;
    std::string_view rest = given.text;
    while (!rest.empty()) {
        const std::string_view each = trimmed(take_field(rest, ','), " ");
        const std::optional<int> number = parse_number<int>(each);
        if (!number || *number < least || *number > most)
            return wrong(given, fmt::format("\"{}\" is not a valid {}", each, what));
        found.insert(*number);
    }
    if (found.empty())
        return wrong(given, fmt::format("is empty; expects {}s, such as \"1,3\"", what));
    return found;
}

constexpr int kLongest = 1'000'000'000;  // seconds: 31 years

}  // namespace

Result<NodeRange> read_nodes(const Given& given) {
    constexpr std::string_view kForm = "expects N or MIN:MAX, with 1 <= MIN <= MAX";
    std::string_view rest = given.text;
    const std::optional<int> least = parse_number<int>(take_field(rest, ':'));
    const bool range = given.text.find(':') != std::string::npos;
    const std::optional<int> most = range ? parse_number<int>(rest) : least;
    if (!least || !most) return wrong(given, kForm);
    if (*least < 1)
        return wrong(given, fmt::format("{} is not a number of nodes; {}", *least, kForm));
    if (*least > *most)
        return wrong(given,
                     fmt::format("at least {} nodes but at most {}; {}", *least, *most, kForm));
    return NodeRange{*least, *most};
}

Result<int> read_local_size(const Given& given, const Devices& devices) {
    constexpr std::string_view kForm = "expects a number above 0, auto, cpu, gpu or xpu";
    const int accelerators = devices.gpus > 0 ? devices.gpus : devices.xpus;
    if (given.text == "auto") return accelerators > 0 ? accelerators : devices.cpus;
    if (given.text == "cpu") return devices.cpus;
    if (given.text == "gpu" || given.text == "xpu") {
        const int there = given.text == "gpu" ? devices.gpus : devices.xpus;
        if (there > 0) return there;
        return wrong(given, fmt::format("this node has no {}; {}", given.text, kForm));
    }
    const std::optional<int> number = parse_number<int>(given.text);
    if (!number || *number < 1) return wrong(given, kForm);
    return *number;
}

Result<std::set<int>> read_exit_codes(const Given& given) {
    return numbers(given, 0, 255, "exit code (0 to 255)");
}

Result<std::set<int>> read_ranks(const Given& given) {
    return numbers(given, 0, kLongest, "local rank (0 or above)");
}

Result<std::vector<std::string>> read_error_texts(const Given& given) {
    const std::string& text = given.text;
    if (text.find('#') == std::string::npos) return std::vector{text};
    if (text.size() < 2 || !text.starts_with('#') || !text.ends_with('#'))
        return wrong(given,
                     "expects '#' before, between and after the texts: "
                     "\"#ECC error#NVLink#\"");
    std::vector<std::string> found;
    std::string_view rest = std::string_view(text).substr(1);
    while (!rest.empty())
        if (const std::string_view each = take_field(rest, '#'); !each.empty())
            found.emplace_back(each);
    if (found.empty()) return wrong(given, "there is no text between the '#'");
    return found;
}

Result<std::vector<int>> read_signals(const Given& given) {
    std::vector<int> found;
    std::string_view rest = given.text;
    while (!rest.empty()) {
        const std::string_view name = trimmed(take_field(rest, ','), " ");
        const std::optional<int> number = signal_by_name(
            name.starts_with("SIG") ? std::string(name) : fmt::format("SIG{}", name));
        if (!number)
            return wrong(
                given,
                fmt::format("\"{}\" is not a signal; expects names such as SIGTERM,SIGUSR1", name));
        if (number == SIGKILL || number == SIGSTOP)
            return wrong(
                given, fmt::format("{} ends or stops this program, and can't be forwarded", name));
        if (std::ranges::find(found, *number) == found.end()) found.push_back(*number);
    }
    return found;
}

Result<Duration> read_seconds(const Given& given) {
    const auto seconds = parse_number<double>(given.text);
    if (!seconds || !(*seconds >= 0) || *seconds > kLongest)
        return wrong(given, "expects a number of seconds, 0 or above");
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*seconds));
}

int read_count(const Given& given) { return parse_number<int>(given.text).value_or(0); }

namespace {

enum class Key : std::uint8_t {
    kJoin,
    kLastCall,
    kPend,
    kKeepAlive,
    kAttempts,
    kUnit,
    kIsHost,
    kStoreType,
    kNeedless,
};

struct KeyRow {
    std::string_view name;
    Key key;
    std::string_view note = {};
};

constexpr KeyRow kKv[] = {
    {"join_timeout", Key::kJoin},
    {"timeout", Key::kJoin},
    {"last_call_timeout", Key::kLastCall},
    {"lastcall_timeout", Key::kLastCall},
    {"pend_timeout", Key::kPend},
    {"keep_alive_interval", Key::kKeepAlive},
    {"keep_alive_max_attempt", Key::kAttempts},
    {"node_unit", Key::kUnit},
    {"is_host", Key::kIsHost},
    {"store_type", Key::kStoreType},
    {"close_timeout", Key::kNeedless, "the end of a job needs no rendezvous"},
    {"read_timeout", Key::kNeedless, "the rendezvous does not use a store"},
    {"heartbeat_timeout", Key::kNeedless, "nothing waits until a heartbeat is sent"},
    {"use_libuv", Key::kNeedless, "the store is this program's own"},
    {"rank", Key::kNeedless, "--node-rank sets it"},
};

std::optional<bool> yes_or_no(std::string_view written) {
    const std::string text = lower_case(written);
    for (const std::string_view yes : {"1", "true", "t", "yes", "y"})
        if (text == yes) return true;
    for (const std::string_view no : {"0", "false", "f", "no", "n"})
        if (text == no) return false;
    return std::nullopt;
}

LaunchNotice unknown_key(const Given& given, std::string_view key) {
    std::vector<std::string> names;
    for (const KeyRow& row : kKv) names.emplace_back(row.name);
    const std::string near = nearest_name(key, names);
    return {log::Level::kWarning,
            fmt::format("{}: there is no key {}{}", given.written(), key,
                        near.empty() ? "" : fmt::format("; did you mean {}?", near))};
}

/// One KEY=VALUE of it.
struct Entry {
    const KeyRow& row;
    std::string_view key;
    std::string_view value;
};

/// Reads entries one by one; a later one overrides an earlier one of the same key.
class ConfReader {
  public:
    explicit ConfReader(const Given& given) : given_(given) {}

    void take_unknown(std::string_view key) { conf_.notices.push_back(unknown_key(given_, key)); }
    Result<void> take(const Entry& entry);
    RendezvousConf finish() &&;

  private:
    Result<int> number(const Entry& entry, int least) const;
    Result<std::chrono::seconds> seconds(const Entry& entry, int least) const;
    Result<bool> truth(const Entry& entry) const;
    Result<void> check_store_type(const Entry& entry) const;
    Error wants(const Entry& entry, std::string_view what) const {
        return wrong(given_, fmt::format("{}={}: {}", entry.key, entry.value, what));
    }

    const Given& given_;
    RendezvousConf conf_;
    std::optional<int> interval_;
    std::optional<int> attempts_;
};

Result<int> ConfReader::number(const Entry& entry, int least) const {
    const std::optional<int> number = parse_number<int>(entry.value);
    if (number && *number >= least && *number <= kLongest) return *number;
    return wants(entry, fmt::format("expects a whole number, {} or above", least));
}

Result<std::chrono::seconds> ConfReader::seconds(const Entry& entry, int least) const {
    TRY(const int count, number(entry, least));
    return std::chrono::seconds(count);
}

Result<bool> ConfReader::truth(const Entry& entry) const {
    const std::optional<bool> known = yes_or_no(entry.value);
    if (!known) return wants(entry, "expects 1 or 0");
    return *known;
}

Result<void> ConfReader::check_store_type(const Entry& entry) const {
    if (entry.value == "tcp") return {};
    return wants(entry, "nodes meet over the network only; use --rdzv-endpoint HOST:PORT instead");
}

Result<void> ConfReader::take(const Entry& entry) {
    switch (entry.row.key) {
        case Key::kJoin: {
            TRY(conf_.join, seconds(entry, 1));
            return {};
        }
        case Key::kLastCall: {
            TRY(conf_.last_call, seconds(entry, 0));
            return {};
        }
        case Key::kPend: {
            TRY(conf_.pend, seconds(entry, 1));
            return {};
        }
        case Key::kKeepAlive: {
            TRY(interval_, number(entry, 1));
            return {};
        }
        case Key::kAttempts: {
            TRY(attempts_, number(entry, 1));
            return {};
        }
        case Key::kUnit: {
            TRY(conf_.node_unit, number(entry, 1));
            return {};
        }
        case Key::kIsHost: {
            TRY(conf_.is_host, truth(entry));
            return {};
        }
        case Key::kStoreType:
            return check_store_type(entry);
        case Key::kNeedless:
            conf_.notices.push_back(
                {log::Level::kDebug, fmt::format("{}: {} has no effect: {}", given_.written(),
                                                 entry.key, entry.row.note)});
            return {};
    }
    return {};
}

RendezvousConf ConfReader::finish() && {
    // Either of the two may have torch's default: 5 seconds, and 3 attempts.
    if (interval_ || attempts_)
        conf_.silence =
            std::chrono::seconds(std::int64_t{interval_.value_or(5)} * attempts_.value_or(3));
    return std::move(conf_);
}

}  // namespace

Result<RendezvousConf> read_rendezvous_conf(const Given& given) {
    ConfReader reader(given);
    std::string_view rest = trimmed(given.text, " ");
    while (!rest.empty()) {
        std::string_view value = take_field(rest, ',');
        const std::string_view key = trimmed(take_field(value, '='), " ");
        value = trimmed(value, " ");
        if (key.empty() || value.empty()) return wrong(given, "expects KEY=VALUE,KEY=VALUE,...");
        const KeyRow* const row = std::ranges::find(kKv, key, &KeyRow::name);
        if (row == std::end(kKv)) {
            reader.take_unknown(key);
            continue;
        }
        TRY_VOID(reader.take({.row = *row, .key = key, .value = value}));
    }
    return std::move(reader).finish();
}

}  // namespace muster::launch
