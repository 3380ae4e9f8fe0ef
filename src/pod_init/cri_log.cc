#include "pod_init/cri_log.h"

namespace muster::pod_init {

namespace {

void append_line(std::string& out, LogStream stream, std::string_view stamp, bool full,
                 std::string_view head, std::string_view tail) {
    out += stamp;
    out += stream == LogStream::kStdout ? " stdout " : " stderr ";
    out += full ? "F " : "P ";
    out += head;
    out += tail;
    out += '\n';
}

}  // namespace

void CriEncoder::feed(LogStream stream, std::string_view bytes, std::string_view stamp,
                      std::string& out) {
    std::string& waiting = waiting_[static_cast<std::size_t>(stream)];
    while (!bytes.empty()) {
        const std::size_t room = kPiece - waiting.size();
        const std::size_t newline = bytes.substr(0, room + 1).find('\n');
        if (newline != bytes.npos) {
            append_line(out, stream, stamp, true, waiting, bytes.substr(0, newline));
            waiting.clear();
            bytes.remove_prefix(newline + 1);
        } else if (bytes.size() > room) {
            append_line(out, stream, stamp, false, waiting, bytes.substr(0, room));
            waiting.clear();
            bytes.remove_prefix(room);
        } else {
            waiting += bytes;
            return;
        }
    }
}

void CriEncoder::finish(std::string_view stamp, std::string& out) {
    for (LogStream stream : {LogStream::kStdout, LogStream::kStderr}) {
        std::string& waiting = waiting_[static_cast<std::size_t>(stream)];
        if (!waiting.empty()) append_line(out, stream, stamp, false, waiting, {});
        waiting.clear();
    }
}

std::optional<CriLine> parse_cri_line(std::string_view line) {
    CriLine parsed;
    const std::size_t stamp_end = line.find(' ');
    if (stamp_end == line.npos) return std::nullopt;
    parsed.stamp = line.substr(0, stamp_end);
    line.remove_prefix(stamp_end + 1);
    if (line.starts_with("stderr "))
        parsed.stream = LogStream::kStderr;
    else if (!line.starts_with("stdout "))
        return std::nullopt;
    line.remove_prefix(7);
    if (line.size() < 2 || line[1] != ' ' || (line[0] != 'F' && line[0] != 'P'))
        return std::nullopt;
    parsed.full = line[0] == 'F';
    parsed.text = line.substr(2);
    return parsed;
}

std::string log_file_name(const std::string& name, std::uint32_t age) {
    return age == 0 ? name : fmt::format("{}.{}", name, age);
}

}  // namespace muster::pod_init
