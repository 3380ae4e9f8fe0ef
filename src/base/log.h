#pragma once

#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace muster::log {

enum class Level { kDebug, kInfo, kWarning, kError, kOff };

/// One `key=value` of a line. It must never contain a secret.
struct Field {
    template <class T>
    Field(std::string_view k, const T& v) : key(k), value(fmt::format("{}", v)) {}

    std::string_view key;
    std::string value;
};

/// kJson: one object a line, with `ts` (RFC 3339), `level`, `msg` and each field under its key, all
/// of them strings.
enum class Format { kText, kJson };

void set_level(Level level);
bool enabled(Level level);
/// The format of lines on standard error; a sink set by set_sink() always gets text.
void set_format(Format format);

/// Replaces the sink (standard error by default); tests and the simulation capture lines with it.
/// An empty function restores the default.
using Sink = std::function<void(Level, std::string_view line)>;
void set_sink(Sink sink);

/// Writes "message key=value key=value". The message is constant and variable parts are in the
/// fields, so that lines can be searched and counted.
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
