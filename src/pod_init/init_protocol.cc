#include "pod_init/init_protocol.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "process/message_socket.h"

namespace muster::pod_init {

namespace {

constexpr std::size_t kMaxReportText = kExecOutputLimit;
static_assert(kMaxReportText + 64 <= process::kMaxMessage);

class Writer {
  public:
    void u8(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
    void u32(std::uint32_t value) {
        std::array<char, sizeof value> raw;
        std::memcpy(raw.data(), &value, sizeof value);
        bytes_.append(raw.data(), raw.size());
    }
    void u64(std::uint64_t value) {
        u32(static_cast<std::uint32_t>(value));
        u32(static_cast<std::uint32_t>(value >> 32));
    }
    void text(std::string_view value) {
        u32(static_cast<std::uint32_t>(value.size()));
        bytes_ += value;
    }
    void texts(const std::vector<std::string>& values) {
        u32(static_cast<std::uint32_t>(values.size()));
        for (const std::string& value : values) text(value);
    }
    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

class Reader {
  public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}

    std::uint8_t u8() { return static_cast<std::uint8_t>(take(1)[0]); }
    std::uint32_t u32() {
        std::string_view raw = take(sizeof(std::uint32_t));
        std::uint32_t value = 0;
        std::memcpy(&value, raw.data(), sizeof value);
        return value;
    }
    std::uint64_t u64() {
        const std::uint64_t low = u32();
        return low | std::uint64_t{u32()} << 32;
    }
    std::string text() { return std::string(take(u32())); }
    std::vector<std::string> texts() {
        std::vector<std::string> values;
        for (std::uint32_t left = u32(); left > 0 && ok_; --left) values.push_back(text());
        return values;
    }
    bool ok() const { return ok_; }

  private:
    std::string_view take(std::size_t count) {
        if (count > bytes_.size()) {
            ok_ = false;
            bytes_ = {};
            return std::string_view("\0\0\0\0", sizeof(std::uint32_t));
        }
        std::string_view taken = bytes_.substr(0, count);
        bytes_.remove_prefix(count);
        return taken;
    }

    std::string_view bytes_;
    bool ok_ = true;
};

void write_mounts(Writer& out, const std::vector<MountSpec>& mounts) {
    out.u32(static_cast<std::uint32_t>(mounts.size()));
    for (const MountSpec& mount : mounts) {
        out.u8(static_cast<std::uint8_t>(mount.kind));
        out.text(mount.source);
        out.text(mount.sub_path);
        out.text(mount.target);
        out.text(mount.options);
        out.u8(mount.read_only ? 1 : 0);
        out.u8(mount.owned ? 1 : 0);
    }
}

std::vector<MountSpec> read_mounts(Reader& in) {
    std::vector<MountSpec> mounts;
    for (std::uint32_t left = in.u32(); left > 0 && in.ok(); --left) {
        MountSpec mount;
        mount.kind = static_cast<MountSpec::Kind>(in.u8());
        mount.source = in.text();
        mount.sub_path = in.text();
        mount.target = in.text();
        mount.options = in.text();
        mount.read_only = in.u8() != 0;
        mount.owned = in.u8() != 0;
        mounts.push_back(std::move(mount));
    }
    return mounts;
}

void write_files(Writer& out, const PrivateFiles& files) {
    out.u8(static_cast<std::uint8_t>(files.scope));
    out.text(files.directory);
    out.texts(files.kept);
    out.text(files.store);
    out.u64(files.bytes);
    out.text(files.scratch);
}

PrivateFiles read_files(Reader& in) {
    PrivateFiles files;
    files.scope = static_cast<PrivateFiles::Scope>(in.u8());
    files.directory = in.text();
    files.kept = in.texts();
    files.store = in.text();
    files.bytes = in.u64();
    files.scratch = in.text();
    return files;
}

void write_identity(Writer& out, const Identity& identity) {
    auto write = [&out](const auto& value) {
        out.u8(value ? 1 : 0);
        out.u64(value.value_or(0));
    };
    write(identity.uid);
    write(identity.gid);
    write(identity.capabilities);
    out.u8(identity.groups ? 1 : 0);
    if (identity.groups) {
        out.u32(static_cast<std::uint32_t>(identity.groups->size()));
        for (const std::uint32_t group : *identity.groups) out.u32(group);
    }
    out.u8(identity.no_new_privileges ? 1 : 0);
}

Identity read_identity(Reader& in) {
    auto read = [&in](auto& value) {
        const bool there = in.u8() != 0;
        const std::uint64_t number = in.u64();
        if (there) value = static_cast<std::decay_t<decltype(*value)>>(number);
    };
    Identity identity;
    read(identity.uid);
    read(identity.gid);
    read(identity.capabilities);
    if (in.u8() != 0) {
        identity.groups.emplace();
        for (std::uint32_t left = in.u32(); left > 0 && in.ok(); --left)
            identity.groups->push_back(in.u32());
    }
    identity.no_new_privileges = in.u8() != 0;
    return identity;
}

std::string encode(const PodSetup& setup) {
    Writer out;
    out.u8(setup.namespaces ? 1 : 0);
    out.u8(setup.outlives ? 1 : 0);
    out.u32(setup.address);
    out.u32(setup.link_index);
    out.text(setup.note);
    out.text(setup.hostname);
    out.u8(setup.link ? 1 : 0);
    if (setup.link) {
        out.u32(setup.link->address);
        out.u32(setup.link->gateway);
        out.u8(setup.link->prefix);
        out.text(setup.link->gateway_mac);
    }
    write_mounts(out, setup.mounts);
    write_files(out, setup.files);
    out.u32(static_cast<std::uint32_t>(setup.sysctls.size()));
    for (const auto& [name, value] : setup.sysctls) {
        out.text(name);
        out.text(value);
    }
    out.u64(setup.pids);
    out.u8(setup.privileged ? 1 : 0);
    return out.bytes();
}

std::string encode(const ContainerStart& start) {
    Writer out;
    out.u32(start.id);
    out.texts(start.argv);
    out.texts(start.environment);
    out.text(start.working_dir);
    write_mounts(out, start.mounts);
    out.text(start.scratch_dir);
    write_identity(out, start.identity);
    out.u8(start.read_only_root ? 1 : 0);
    out.text(start.log_name);
    out.u64(start.log_limits.bytes);
    out.u32(start.log_limits.files);
    out.u8(start.terminal ? 1 : 0);
    out.u8(start.input ? 1 : 0);
    out.u8(start.input_once ? 1 : 0);
    return out.bytes();
}

std::string encode(const ExecStart& exec) {
    Writer out;
    out.u32(exec.id);
    out.u32(exec.container);
    out.texts(exec.argv);
    out.u8(exec.terminal ? 1 : 0);
    return out.bytes();
}

bool decode(std::string_view bytes, PodSetup& setup) {
    Reader in(bytes);
    setup.namespaces = in.u8() != 0;
    setup.outlives = in.u8() != 0;
    setup.address = in.u32();
    setup.link_index = in.u32();
    setup.note = in.text();
    setup.hostname = in.text();
    if (in.u8() != 0) {
        PodLink link;
        link.address = in.u32();
        link.gateway = in.u32();
        link.prefix = in.u8();
        link.gateway_mac = in.text();
        setup.link = std::move(link);
    }
    setup.mounts = read_mounts(in);
    setup.files = read_files(in);
    for (std::uint32_t left = in.u32(); left > 0 && in.ok(); --left) {
        std::string name = in.text();
        setup.sysctls.emplace_back(std::move(name), in.text());
    }
    setup.pids = in.u64();
    setup.privileged = in.u8() != 0;
    return in.ok();
}

bool decode(std::string_view bytes, ContainerStart& start) {
    Reader in(bytes);
    start.id = in.u32();
    start.argv = in.texts();
    start.environment = in.texts();
    start.working_dir = in.text();
    start.mounts = read_mounts(in);
    start.scratch_dir = in.text();
    start.identity = read_identity(in);
    start.read_only_root = in.u8() != 0;
    start.log_name = in.text();
    start.log_limits.bytes = in.u64();
    start.log_limits.files = in.u32();
    start.terminal = in.u8() != 0;
    start.input = in.u8() != 0;
    start.input_once = in.u8() != 0;
    return in.ok();
}

bool decode(std::string_view bytes, ExecStart& exec) {
    Reader in(bytes);
    exec.id = in.u32();
    exec.container = in.u32();
    exec.argv = in.texts();
    exec.terminal = in.u8() != 0;
    return in.ok();
}

Result<UniqueFd> memory_file(std::string_view bytes) {
    UniqueFd file(::memfd_create("pod-request", MFD_CLOEXEC));
    if (!file) return system_error("memfd_create", errno);
    while (!bytes.empty()) {
        ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return system_error("writing a request to a pod's init", errno);
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return file;
}

Result<std::string> read_memory_file(int fd) {
    std::string bytes;
    std::array<char, 16384> buffer;
    off_t offset = 0;
    for (;;) {
        ssize_t size = ::pread(fd, buffer.data(), buffer.size(), offset);
        if (size < 0) {
            if (errno == EINTR) continue;
            return system_error("reading a request to a pod's init", errno);
        }
        if (size == 0) return bytes;
        bytes.append(buffer.data(), static_cast<std::size_t>(size));
        offset += size;
    }
}

Result<void> send_request(int socket, Request::Kind kind, std::string_view payload,
                          std::span<const int> fds) {
    TRY(UniqueFd file, memory_file(payload));
    std::vector<int> all{file.get()};
    all.insert(all.end(), fds.begin(), fds.end());
    const char byte = static_cast<char>(kind);
    TRY_VOID(process::send_message(socket, {&byte, 1}, all));
    return {};
}

bool decode_payload(std::string_view bytes, Request& request) {
    switch (request.kind) {
        case Request::Kind::kSetup:
            return decode(bytes, request.setup);
        case Request::Kind::kStart:
            return decode(bytes, request.start);
        case Request::Kind::kExec:
        case Request::Kind::kAttach:
        case Request::Kind::kEndInput:
        case Request::Kind::kCancel:
            return decode(bytes, request.exec);
        case Request::Kind::kEnd:
            return bytes.empty();
    }
    return false;
}

Result<bool> send_report(int socket, const Report& report, int flags) {
    Writer out;
    out.u8(static_cast<std::uint8_t>(report.kind));
    out.u32(report.id);
    out.u32(static_cast<std::uint32_t>(report.value));
    out.u32(static_cast<std::uint32_t>(report.pid));
    out.u8(static_cast<std::uint8_t>(report.stage));
    out.text(std::string_view(report.text).substr(0, kMaxReportText));
    out.u32(report.recovery.address);
    out.u32(report.recovery.link_index);
    out.u32(report.recovery.connections);
    // The first two never belong to the same report, and the last comes only after the first.
    std::vector<int> fds;
    for (const UniqueFd* fd : {&report.pidfd, &report.terminal, &report.network})
        if (*fd) fds.push_back(fd->get());
    return process::send_message(socket, out.bytes(), fds, flags);
}

}  // namespace

Result<void> send_setup(int socket, const PodSetup& setup, int lifeline, int network) {
    const std::array<int, 2> fds{lifeline, network};
    return send_request(socket, Request::Kind::kSetup, encode(setup),
                        std::span(fds).first(network < 0 ? 1 : 2));
}

Result<void> send_start(int socket, const ContainerStart& start, int log_dir,
                        std::span<const int> groups) {
    std::vector<int> fds{log_dir};
    fds.insert(fds.end(), groups.begin(), groups.end());
    return send_request(socket, Request::Kind::kStart, encode(start), fds);
}

Result<void> send_exec(int socket, const ExecStart& exec, std::span<const int> streams) {
    return send_request(socket, Request::Kind::kExec, encode(exec), streams);
}

Result<void> send_attach(int socket, const ExecStart& exec, std::span<const int> streams) {
    return send_request(socket, Request::Kind::kAttach, encode(exec), streams);
}

Result<void> send_end_of_input(int socket, const ExecStart& exec) {
    return send_request(socket, Request::Kind::kEndInput, encode(exec), {});
}

Result<void> send_cancel(int socket, const ExecStart& exec) {
    return send_request(socket, Request::Kind::kCancel, encode(exec), {});
}

Result<void> send_end(int socket) { return send_request(socket, Request::Kind::kEnd, {}, {}); }

Result<void> forward(int socket, const Request& request) {
    std::vector<int> streams;
    for (const UniqueFd& stream : request.streams) streams.push_back(stream.get());
    return send_request(socket, request.kind, encode(request.exec), streams);
}

Result<std::optional<Request>> receive_request(int socket) {
    TRY(process::Message message, process::receive_message(socket, 0));
    if (message.bytes.empty()) return std::nullopt;
    Request request;
    request.kind = static_cast<Request::Kind>(message.bytes[0]);
    const std::size_t least =
        request.kind == Request::Kind::kSetup || request.kind == Request::Kind::kStart ? 2 : 1;
    if (message.fds.size() < least)
        return Error(Code::kInternal, "a request to a pod's init lacks its descriptors");
    TRY(std::string payload, read_memory_file(message.fds[0].get()));
    if (!decode_payload(payload, request))
        return Error(Code::kInternal, "a request to a pod's init is cut short");
    if (request.kind == Request::Kind::kSetup) {
        request.lifeline = std::move(message.fds[1]);
        if (message.fds.size() > 2) request.network = std::move(message.fds[2]);
    }
    if (request.kind == Request::Kind::kStart) {
        request.log_dir = std::move(message.fds[1]);
        for (std::size_t i = 2; i < message.fds.size(); ++i)
            request.groups.push_back(std::move(message.fds[i]));
    }
    if ((request.kind == Request::Kind::kExec || request.kind == Request::Kind::kAttach) &&
        message.fds.size() == 4)
        for (std::size_t i = 1; i < message.fds.size(); ++i)
            request.streams.push_back(std::move(message.fds[i]));
    return request;
}

Result<void> send_report(int socket, const Report& report) {
    TRY_VOID(send_report(socket, report, 0));
    return {};
}

Result<bool> try_send_report(int socket, const Report& report) {
    return send_report(socket, report, MSG_DONTWAIT);
}

Result<Receive> receive_report(int socket, Report& report) {
    TRY(process::Message received, process::receive_message(socket, MSG_DONTWAIT));
    if (received.nothing_yet) return Receive::kNothing;
    if (received.bytes.empty()) return Receive::kClosed;
    Reader in(received.bytes);
    report.kind = static_cast<Report::Kind>(in.u8());
    report.id = in.u32();
    report.value = static_cast<std::int32_t>(in.u32());
    report.pid = static_cast<std::int32_t>(in.u32());
    report.stage = static_cast<StartStage>(in.u8());
    report.text = in.text();
    report.recovery.address = in.u32();
    report.recovery.link_index = in.u32();
    report.recovery.connections = in.u32();
    if (received.fds.size() > 1) report.network = std::move(received.fds[1]);
    UniqueFd fd = received.fds.empty() ? UniqueFd() : std::move(received.fds[0]);
    (report.kind == Report::Kind::kTerminal ? report.terminal : report.pidfd) = std::move(fd);
    if (!in.ok()) return Error(Code::kInternal, "a report of a pod's init is cut short");
    return Receive::kReport;
}

}  // namespace muster::pod_init
