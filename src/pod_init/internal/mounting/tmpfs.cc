#include "pod_init/internal/mounting/tmpfs.h"

#include <sys/mount.h>

#include <algorithm>
#include <cerrno>

namespace muster::pod_init {

namespace {

Error failed(int error) { return system_error("making a tmpfs", error); }

}  // namespace

Result<UniqueFd> new_tmpfs(const std::string& options, unsigned attributes) {
    const UniqueFd context(::fsopen("tmpfs", FSOPEN_CLOEXEC));
    if (!context) return failed(errno);
    for (std::size_t at = 0; at < options.size();) {
        const std::size_t comma = std::min(options.find(',', at), options.size());
        const std::string option = options.substr(at, comma - at);
        const std::size_t equals = option.find('=');
        const std::string key = option.substr(0, equals);
        const int set = equals == std::string::npos
                            ? ::fsconfig(context.get(), FSCONFIG_SET_FLAG, key.c_str(), nullptr, 0)
                            : ::fsconfig(context.get(), FSCONFIG_SET_STRING, key.c_str(),
                                         option.c_str() + equals + 1, 0);
        if (set < 0) return system_error("giving a tmpfs the option " + option, errno);
        at = comma + 1;
    }
    if (::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) < 0)
        return failed(errno);
    UniqueFd root(::fsmount(context.get(), FSMOUNT_CLOEXEC, attributes));
    if (!root) return failed(errno);
    return root;
}

}  // namespace muster::pod_init
