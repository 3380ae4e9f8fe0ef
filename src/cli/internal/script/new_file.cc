#include "cli/internal/script/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>

#include "base/text_files.h"
#include "base/unique_fd.h"

namespace muster::cli {

Result<void> write_new_file(const std::filesystem::path& file, std::string_view text) {
    constexpr mode_t kMode = 0666;  // the umask decides, as for any file that a user writes
    const UniqueFd made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
    if (!made && errno == EEXIST) {
        std::ifstream there(file, std::ios::binary);
        const std::string content((std::istreambuf_iterator<char>(there)), {});
        if (content == text) return {};
        return Error(Code::kAlreadyExists,
                     "the file exists and stays as it is: name another one, or remove it");
    }
    if (!made) return system_error("it can't be made", errno);
    const int failed = write_all(made.get(), text);
    if (failed == 0) return {};
    ::unlink(file.c_str());
    return system_error("it can't be written", failed);
}

}  // namespace muster::cli
