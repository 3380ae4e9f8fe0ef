// Prints docs/states.md; run by ./dev docs.

#include <cstdio>
#include <string>

#include "operator/internal/planning/states.h"

int main() {
    const std::string text = muster::operators::states_document();
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
