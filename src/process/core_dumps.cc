#include "process/core_dumps.h"

#include <algorithm>

namespace muster::process {

rlim_t forbid_core_dumps() {
    // Of a program that collects dumps the kernel asks no limit, except that one byte means none.
    constexpr rlim_t kNone = 1;
    rlimit limit{};
    if (::getrlimit(RLIMIT_CORE, &limit) < 0) return 0;
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = std::min(kNone, limit.rlim_max);
    ::setrlimit(RLIMIT_CORE, &limit);
    return before;
}

}  // namespace muster::process
