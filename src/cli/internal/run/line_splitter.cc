#include "cli/internal/run/line_splitter.h"

#include <algorithm>

namespace muster::cli {

void LineSplitter::add(std::string_view bytes) {
    while (!bytes.empty()) {
        if (after_return_) {
            overwrites_ = bytes.front() != '\n';
            if (!overwrites_) bytes.remove_prefix(1);
        }
        after_return_ = false;
        std::size_t end = std::min(bytes.find_first_of("\r\n"), bytes.size());
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
