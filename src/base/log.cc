#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atomic>

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

bool needs_quotes(std::string_view value) {
    return value.empty() || value.find_first_of(" \"=\n\t") != std::string_view::npos;
}

void append_quoted(std::string& line, std::string_view value) {
    line += '"';
    for (char c : value) {
        if (c == '\n') {
            line += "\\n";
        } else {
            if (c == '"' || c == '\\') line += '\\';
            line += c;
        }
    }
    line += '"';
}

void append_json(std::string& line, std::string_view text) {
    line += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            line += '\\';
            line += c;
        } else if (c == '\n') {
            line += "\\n";
        } else if (static_cast<unsigned char>(c) < 0x20) {
            line += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
            line += c;
        }
    }
    line += '"';
}

/// Everything after the time and the level.
std::string json_rest(std::string_view message, std::initializer_list<Field> fields) {
    std::string line = "\"msg\":";
    append_json(line, message);
    for (const Field& field : fields) {
        line += ',';
        append_json(line, field.key);
        line += ':';
        append_json(line, field.value);
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
        json_logger().log(to_spdlog(level), json_rest(message, fields));
        return;
    }
    std::string line(message);
    for (const Field& field : fields) {
        line += ' ';
        line += field.key;
        line += '=';
        if (needs_quotes(field.value))
            append_quoted(line, field.value);
        else
            line += field.value;
    }
    if (sink())
        sink()(level, line);
    else
        stderr_logger().log(to_spdlog(level), line);
}

}  // namespace muster::log
