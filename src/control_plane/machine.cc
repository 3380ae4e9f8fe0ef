#include "control_plane/machine.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace muster::control_plane {

namespace {

class RealMachine final : public Machine {
  public:
    explicit RealMachine(std::vector<std::string> environment)
        : environment_(std::move(environment)) {}

    FileKind kind_of(const std::string& path) const override {
        struct stat status{};
        if (::stat(path.c_str(), &status) != 0) return FileKind::kMissing;
        if (S_ISDIR(status.st_mode)) return FileKind::kDirectory;
        if (!S_ISREG(status.st_mode)) return FileKind::kOther;
        return ::access(path.c_str(), X_OK) == 0 ? FileKind::kProgram : FileKind::kFile;
    }

    bool may_enter(const std::string& directory) const override {
        return ::access(directory.c_str(), X_OK) == 0;
    }

    std::string first_line(const std::string& path) const override {
        std::ifstream file(path, std::ios::binary);
        std::string start(256, '\0');
        file.read(start.data(), static_cast<std::streamsize>(start.size()));
        start.resize(static_cast<std::size_t>(file.gcount()));
        return start.substr(0, start.find('\n'));
    }

    double cpus() const override {
        cpu_set_t allowed;
        CPU_ZERO(&allowed);
        if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
        return static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
    }

    std::uint64_t memory_bytes() const override {
        return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
               static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
    }

    runtime::Devices devices() const override {
        return runtime::visible_devices(runtime::find_devices("/"), environment_);
    }

    runtime::NativeResources other_resources() const override {
        std::error_code unknown;
        return runtime::find_native_resources("/", std::filesystem::temp_directory_path(unknown));
    }

    std::string own_program() const override { return control_plane::own_program(); }

  private:
    std::vector<std::string> environment_;
};

}  // namespace

std::string own_program() {
    // The link of a program whose file was replaced while it ran ends with this.
    static constexpr std::string_view kReplaced = " (deleted)";
    std::error_code error;
    std::string path = std::filesystem::read_symlink("/proc/self/exe", error).string();
    if (path.ends_with(kReplaced)) path.resize(path.size() - kReplaced.size());
    return path;
}

std::unique_ptr<Machine> make_real_machine(std::vector<std::string> environment) {
    return std::make_unique<RealMachine>(std::move(environment));
}

}  // namespace muster::control_plane
