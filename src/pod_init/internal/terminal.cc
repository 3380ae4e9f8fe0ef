#include "pod_init/internal/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

namespace muster::pod_init {

Result<Terminal> open_terminal(std::optional<std::uint32_t> user) {
    Terminal terminal;
    terminal.outside.reset(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!terminal.outside) return system_error("opening a terminal (/dev/ptmx)", errno);
    const int locked = 0;
    if (::ioctl(terminal.outside.get(), TIOCSPTLCK, &locked) < 0)
        return system_error("unlocking a terminal", errno);
    // By descriptor and not by name, as another /dev/pts may have another terminal of that name.
    terminal.program.reset(
        ::ioctl(terminal.outside.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!terminal.program) return system_error("opening a terminal's other end", errno);
    // Otherwise a program of that user could not open its terminal again by name.
    if (user && ::fchown(terminal.program.get(), *user, static_cast<gid_t>(-1)) < 0)
        return system_error("giving a terminal to its user", errno);
    return terminal;
}

}  // namespace muster::pod_init
