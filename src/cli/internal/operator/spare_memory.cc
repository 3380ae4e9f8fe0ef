#include "cli/internal/operator/spare_memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

namespace muster::cli {
namespace {

/// Less than this is soon used again.
constexpr std::size_t kWorthIt = std::size_t{2} << 20;
constexpr Duration kPeriod = std::chrono::minutes(1);

/// Pages that can't be written are as in the file, so nothing is lost: what the loader changed is
/// in segments that could be written then.
int give_back_clean_segments(dl_phdr_info* object, std::size_t /*size*/, void* /*unused*/) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    for (const ElfW(Phdr) & segment : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
        const std::uintptr_t begin = (object->dlpi_addr + segment.p_vaddr) & ~(page - 1);
        const std::uintptr_t end = object->dlpi_addr + segment.p_vaddr + segment.p_memsz;
        // The kernel's own object (vdso) refuses, and has nothing to return.
        std::ignore = madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
    return 0;
}

}  // namespace

void give_back_program_pages() { dl_iterate_phdr(give_back_clean_segments, nullptr); }

void give_back_spare_memory() {
    if (mallinfo2().fordblks >= kWorthIt) malloc_trim(0);
}

Task<void> keep_giving_back_spare_memory(Clock& clock) {
    for (;;) {
        co_await clock.sleep_for(kPeriod);
        give_back_spare_memory();
    }
}

}  // namespace muster::cli
