#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace muster {

void check_failed(const char* file, int line, const char* condition, const char* why) {
    std::fprintf(stderr, "muster: internal error at %s:%d: %s (%s)\n", file, line, why, condition);
    std::abort();
}

}  // namespace muster
