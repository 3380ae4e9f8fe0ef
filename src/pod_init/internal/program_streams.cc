#include "pod_init/internal/program_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "pod_init/internal/output_pipe.h"
#include "pod_init/internal/terminal.h"

namespace muster::pod_init {

namespace {

constexpr char kEndOfInput = 4;  ///< what a person types to say so (Ctrl-D)

Result<UniqueFd> duplicate(const UniqueFd& fd) {
    UniqueFd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
    if (!copy) return system_error("duplicating a container's stream", errno);
    return copy;
}

}  // namespace

std::vector<std::string> with_terminal(std::vector<std::string> environment) {
    const auto names_it = [](const std::string& entry) { return entry.starts_with("TERM="); };
    if (std::ranges::none_of(environment, names_it)) environment.emplace_back("TERM=xterm");
    return environment;
}

StandardStreams ProgramStreams::Ends::streams(int null) const {
    if (!error) {
        const int fd = output.get();
        return {.input = fd, .output = fd, .error = fd, .terminal = true};
    }
    return {.input = input ? input.get() : null, .output = output.get(), .error = error.get()};
}

Result<ProgramStreams::Ends> ProgramStreams::open(const ContainerStart& start) {
    terminal_ = start.terminal;
    input_once_ = start.input_once;
    Ends ends;
    if (terminal_) {
        TRY(Terminal terminal, open_terminal(start.identity.uid));
        if (start.input) {
            TRY(input_, duplicate(terminal.outside));
        }
        // This affects the copy too, for which nothing waits either.
        if (::fcntl(terminal.outside.get(), F_SETFL, O_NONBLOCK) < 0)
            return system_error("making a container's terminal non-blocking", errno);
        ends.output = std::move(terminal.program);
        outputs_[0] = std::move(terminal.outside);
        return ends;
    }
    if (start.input) {
        TRY(process::Pipe input, process::make_pipe("making a pipe for a container's input"));
        ends.input = std::move(input.reader);
        input_ = std::move(input.writer);
    }
    TRY(process::Pipe output, make_output_pipe());
    TRY(process::Pipe error, make_output_pipe());
    ends.output = std::move(output.writer);
    ends.error = std::move(error.writer);
    outputs_ = {std::move(output.reader), std::move(error.reader)};
    return ends;
}

void ProgramStreams::wait_for(std::vector<pollfd>& events) const {
    // poll() ignores a descriptor of -1.
    for (std::size_t i = 0; i < outputs_.size(); ++i)
        events.push_back({attachments_.is_full(i) ? -1 : outputs_[i].get(), POLLIN, 0});
    attachments_.wait_for(events);
}

std::string_view ProgramStreams::take(std::size_t output, std::span<char> buffer) {
    if (!outputs_[output]) return {};
    const auto piece = read_piece(outputs_[output], buffer);
    if (!piece) {
        outputs_[output].reset();
        return {};
    }
    return *piece;
}

Result<UniqueFd> ProgramStreams::attach(Request& request) {
    if (request.streams.size() != 3) return Error(Code::kInternal, "streams are missing");
    UniqueFd input;
    if (request.exec.terminal && input_) {
        TRY(input, duplicate(input_));
    }
    TRY_VOID(attachments_.add(request.exec.id, std::move(request.streams[1]),
                              std::move(request.streams[2])));
    if (input) with_input_.insert(request.exec.id);
    return input;
}

bool ProgramStreams::release(std::uint32_t id) {
    if (!attachments_.remove(id)) return false;
    end_input(id);
    return true;
}

void ProgramStreams::end_input(std::uint32_t id) {
    // Without `stdinOnce` the next attached client continues with it.
    if (with_input_.erase(id) == 0 || !input_once_) return;
    // A terminal has no other end of input; a terminal whose input is full is not read either.
    if (terminal_ && input_) (void)!::write(input_.get(), &kEndOfInput, 1);
    input_.reset();
}

}  // namespace muster::pod_init
