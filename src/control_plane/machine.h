#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/devices.h"
#include "runtime/native_resources.h"

namespace muster::control_plane {

/// What the checks ask about this machine; the seam between them and the file system.
class Machine {
  public:
    virtual ~Machine() = default;

    enum class FileKind { kMissing, kDirectory, kFile, kProgram, kOther };
    /// kProgram: a regular file that the caller may execute. Follows links. kOther: socket, device.
    virtual FileKind kind_of(const std::string& path) const = 0;
    /// Whether the caller may look up files in a directory.
    virtual bool may_enter(const std::string& directory) const = 0;
    /// The first line of a file, at most 256 bytes; empty if it can't be read.
    virtual std::string first_line(const std::string& path) const = 0;

    virtual double cpus() const = 0;
    virtual std::uint64_t memory_bytes() const = 0;
    virtual runtime::Devices devices() const = 0;
    /// What pods may request beside these, CPUs and memory.
    virtual runtime::NativeResources other_resources() const = 0;
    /// The file from which this program was started.
    virtual std::string own_program() const = 0;
};

/// The path of this process's program, as the real Machine::own_program() returns it.
std::string own_program();

/// This machine: CPUs that the caller may run on, its physical memory, and the accelerators that
/// `environment` ("KEY=value") leaves visible.
std::unique_ptr<Machine> make_real_machine(std::vector<std::string> environment);

}  // namespace muster::control_plane
