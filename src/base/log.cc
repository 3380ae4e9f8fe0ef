#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/utf8.h"
#include "base/visible_text.h"

namespace muster::log {

namespace {

std::atomic<Level> g_level{Level::kWarning};
std::atomic<Format> g_format{Format::kText};

Sink& sink() {
    static Sink instance;
    return instance;
}

spdlog::logger& stderr_logger() {
    static spdlog::logger logger = [] {
        spdlog::logger made("muster", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        made.set_pattern("%Y-%m-%dT%H:%M:%S.%fZ %l %v", spdlog::pattern_time_type::utc);
        made.set_level(spdlog::level::trace);
        return made;
    }();
    return logger;
}

spdlog::logger& json_logger() {
    static spdlog::logger logger = [] {
        spdlog::logger made("muster", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        made.set_pattern(R"({"ts":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l",%v)",
                         spdlog::pattern_time_type::utc);
        made.set_level(spdlog::level::trace);
        return made;
    }();
    return logger;
}

spdlog::level::level_enum to_spdlog(Level level) {
    switch (level) {
        case Level::kDebug:
            return spdlog::level::debug;
        case Level::kInfo:
            return spdlog::level::info;
        case Level::kWarning:
            return spdlog::level::warn;
        case Level::kError:
            return spdlog::level::err;
        case Level::kOff:
            return spdlog::level::off;
    }
    return spdlog::level::err;
}

/// Terminals obey some of these.
bool is_control(char c) { return (c >= 0 && c < ' ') || c == 0x7f; }

bool needs_quotes(std::string_view value) {
    return value.empty() || std::ranges::any_of(value, [](char c) {
               return c == ' ' || c == '"' || c == '=' || is_control(c);
           });
}

/// `control` writes a control character that is not a line end.
template <class Control>
void append_escaped(std::string& line, std::string_view text, Control control) {
    line += '"';
    for (const char c : text) {
        if (c == '\n') {
            line += "\\n";
        } else if (is_control(c)) {
            line += control(static_cast<unsigned>(c));
        } else {
            if (c == '"' || c == '\\') line += '\\';
            line += c;
        }
    }
    line += '"';
}

void append_quoted(std::string& line, std::string_view text) {
    append_escaped(line, text, [](unsigned c) { return fmt::format("\\x{:02x}", c); });
}

void append_json(std::string& line, std::string_view text) {
    append_escaped(line, text, [](unsigned c) { return fmt::format("\\u{:04x}", c); });
}

/// Everything after the time and the level.
std::string json_rest(std::string_view message, std::initializer_list<Field> fields) {
    std::string line = "\"msg\":";
    append_json(line, message);
    for (const Field& field : fields) {
        line += ',';
        append_json(line, field.key);
        line += ':';
        append_json(line, as_utf8(field.value));
    }
    line += '}';
    return line;
}

}  // namespace

void set_format(Format format) { g_format = format; }
void set_level(Level level) { g_level = level; }
bool enabled(Level level) { return level >= g_level.load() && level != Level::kOff; }
void set_sink(Sink replacement) { sink() = std::move(replacement); }

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
    if (!enabled(level)) return;
    if (g_format == Format::kJson && !sink()) {
        json_logger().log(to_spdlog(level), visible_line(json_rest(message, fields)));
        return;
    }
    std::string line(message);
    for (const Field& field : fields) {
        line += ' ';
        line += field.key;
        line += '=';
        const std::string value = as_utf8(field.value);
        if (needs_quotes(value))
            append_quoted(line, value);
        else
            line += value;
    }
    // What is left: characters beyond ASCII that terminals obey.
    line = visible_line(line);
    if (sink()) {
        // One line at a time: the store's threads log, too. A sink must not log.
        static std::mutex one_at_a_time;
        const std::lock_guard lock(one_at_a_time);
        sink()(level, line);
    } else {
        stderr_logger().log(to_spdlog(level), line);
    }
}

}  // namespace muster::log
