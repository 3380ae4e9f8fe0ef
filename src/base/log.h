#pragma once

#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace muster::log {

enum class Level { kDebug, kInfo, kWarning, kError, kOff };

/// One `key=value` of a line. Secrets never go into one.
struct Field {
    template <class T>
    Field(std::string_view k, const T& v) : key(k), value(fmt::format("{}", v)) {}

    std::string_view key;
    std::string value;
};

/// kJson: one object a line, with `ts` (RFC 3339), `level`, `msg` and each field by its key, all of
/// them texts.
enum class Format { kText, kJson };

void set_level(Level level);
bool enabled(Level level);
/// Of lines to standard error; a sink of one's own gets text.
void set_format(Format format);

/// Replaces the sink (standard error by default); tests and the simulation capture lines with it.
/// An empty function restores the default.
using Sink = std::function<void(Level, std::string_view line)>;
void set_sink(Sink sink);

/// Writes "message key=value key=value". The message is a constant; what varies is in the fields,
/// so that lines can be searched and counted.
void write(Level level, std::string_view message, std::initializer_list<Field> fields);

inline void debug(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::kDebug, message, fields);
}
inline void info(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::kInfo, message, fields);
}
inline void warning(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::kWarning, message, fields);
}
inline void error(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::kError, message, fields);
}

}  // namespace muster::log
