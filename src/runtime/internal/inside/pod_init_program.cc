#include "runtime/internal/inside/pod_init_program.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

extern "C" {
extern const char muster_pod_init_begin[];
extern const char muster_pod_init_end[];
}

namespace muster::runtime {

namespace {

UniqueFd make_memory_file() {
    constexpr const char* kName = "muster-pod-init";
    UniqueFd file(::memfd_create(kName, MFD_CLOEXEC | MFD_EXEC));
    // Before Linux 6.3 every such file is a program, and the flag is unknown.
    if (!file && errno == EINVAL) file.reset(::memfd_create(kName, MFD_CLOEXEC));
    return file;
}

/// Its pages of this program are not needed again, and come back from the file if they are: two
/// megabytes less in memory. Advice, so that a refusal changes nothing else.
void forget_image() {
    // The image begins on a page of its own.
    ::madvise(const_cast<char*>(muster_pod_init_begin),
              static_cast<std::size_t>(muster_pod_init_end - muster_pod_init_begin), MADV_DONTNEED);
}

}  // namespace

Result<UniqueFd> open_pod_init_program() {
    UniqueFd file = make_memory_file();
    if (!file && errno == EACCES)
        return Error(Code::kUnsupported,
                     "this system runs no programs from memory, as a pod's init is one: set "
                     "vm.memfd_noexec to 0 or 1 (sysctl)");
    if (!file) return system_error("making a file in memory", errno);
    std::span<const char> rest(muster_pod_init_begin, muster_pod_init_end);
    while (!rest.empty()) {
        const ssize_t written = ::write(file.get(), rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return system_error("writing a pod's init into memory", errno);
        rest = rest.subspan(static_cast<std::size_t>(written));
    }
    forget_image();
    return file;
}

}  // namespace muster::runtime
