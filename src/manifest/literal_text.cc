#include "manifest/literal_text.h"

namespace muster::manifest {

std::string literal_text(std::string_view text) {
    std::string written;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char next = i + 1 < text.size() ? text[i + 1] : '\0';
        // Two stand for one; alone it stays as it is.
        if (text[i] == '$' && (next == '$' || next == '(')) written += '$';
        written += text[i];
    }
    return written;
}

}  // namespace muster::manifest
