#include "process/memory_program.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/text_files.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

namespace muster::process {

namespace {

UniqueFd make_memory_file(const char* name) {
    UniqueFd file(::memfd_create(name, MFD_CLOEXEC | MFD_EXEC));
    // Before Linux 6.3 every such file is a program, and the flag is unknown.
    if (!file && errno == EINVAL) file.reset(::memfd_create(name, MFD_CLOEXEC));
    return file;
}

}  // namespace

Result<UniqueFd> open_memory_program(const char* name, std::span<const char> image,
                                     std::string_view what) {
    UniqueFd file = make_memory_file(name);
    if (!file && errno == EACCES)
        return Error(Code::kUnsupported,
                     fmt::format("this system does not run programs from memory, as {} is one: set "
                                 "vm.memfd_noexec to 0 or 1 (sysctl)",
                                 what));
    if (!file) return system_error("making a file in memory", errno);
    if (const int failed = write_all(file.get(), {image.data(), image.size()}); failed != 0)
        return system_error(fmt::format("writing {} into memory", what), failed);
    // The pages of this program with the image are not needed again, and can be read from the file
    // if they are. This is advice, so a refusal changes nothing else.
    ::madvise(const_cast<char*>(image.data()), image.size(), MADV_DONTNEED);
    return file;
}

}  // namespace muster::process
