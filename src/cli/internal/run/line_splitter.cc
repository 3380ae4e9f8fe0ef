#include "cli/internal/run/line_splitter.h"

#include <algorithm>
#include <utility>

namespace muster::cli {

namespace {

/// The place of the first "\n" or "\r"; the size if there is none.
std::size_t line_end(std::string_view bytes) {
    const auto* const end =
        std::ranges::find_if(bytes, [](char c) { return c == '\n' || c == '\r'; });
    return static_cast<std::size_t>(end - bytes.begin());
}

}  // namespace

void LineSplitter::add(std::string_view bytes) {
    while (!bytes.empty()) {
        if (after_return_) {
            overwrites_ = bytes.front() != '\n';
            if (!overwrites_) bytes.remove_prefix(1);
        }
        after_return_ = false;
        const std::size_t end = line_end(bytes);
        if (partial_.empty() && end < bytes.size() && end <= kLongest) {
            const std::string_view line = bytes.substr(0, end);
            after_return_ = bytes[end] == '\r';
            bytes.remove_prefix(end + 1);
            emit_(line, std::exchange(overwrites_, false));
            continue;
        }
        std::size_t room = kLongest - partial_.size();
        std::size_t take = std::min(end, room);
        partial_.append(bytes.substr(0, take));
        bytes.remove_prefix(take);
        if (take == room && take != end) {
            // Do not cut a UTF-8 character in two: its start moves to the next piece.
            std::size_t cut = partial_.size();
            while (cut > partial_.size() - 3 &&
                   (static_cast<unsigned char>(partial_[cut - 1]) & 0xC0) == 0x80)
                --cut;
            if ((static_cast<unsigned char>(partial_[cut - 1]) & 0xC0) == 0xC0)
                --cut;
            else
                cut = partial_.size();
            std::string rest = partial_.substr(cut);
            partial_.resize(cut);
            flush();
            partial_ = std::move(rest);
            continue;
        }
        if (bytes.empty()) return;
        after_return_ = bytes.front() == '\r';
        bytes.remove_prefix(1);
        flush();
    }
}

void LineSplitter::finish() {
    if (!partial_.empty()) flush();
}

void LineSplitter::flush() {
    const std::string line = std::exchange(partial_, {});
    emit_(line, std::exchange(overwrites_, false));
}

}  // namespace muster::cli
