#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atomic>

namespace muster::log {

namespace {

std::atomic<Level> g_level{Level::kWarning};

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

}  // namespace

void set_level(Level level) { g_level = level; }
bool enabled(Level level) { return level >= g_level.load() && level != Level::kOff; }
void set_sink(Sink replacement) { sink() = std::move(replacement); }

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
    if (!enabled(level)) return;
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
