#include "runtime/internal/streams/process_streams.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "base/async/first_of.h"
#include "process/pipe.h"

namespace muster::runtime {

namespace {

constexpr std::size_t kPiece = std::size_t{32} * 1024;
/// How much is read once the process has ended: more than the kernel holds for a pipe of the usual
/// size. The bound is for processes that it left running, which may never stop writing.
constexpr std::size_t kLastBytes = std::size_t{1024} * 1024;
constexpr char kEndOfInput = 4;  ///< what a person types to say so (Ctrl-D)

Result<UniqueFd> open_null(int flags) {
    UniqueFd null(::open("/dev/null", flags | O_CLOEXEC));
    if (!null) return system_error("opening /dev/null", errno);
    return null;
}

void apply(int terminal, kube::TerminalSize size) {
    winsize cells{};
    cells.ws_col = size.columns;
    cells.ws_row = size.rows;
    // A terminal accepts any size.
    (void)::ioctl(terminal, TIOCSWINSZ, &cells);
}

}  // namespace

ProcessStreams::ProcessStreams(const asio::any_io_executor& executor)
    : input_(executor), outputs_{Descriptor(executor), Descriptor(executor)}, changed_(executor) {}

Result<void> ProcessStreams::assign(Descriptor& descriptor, UniqueFd fd) {
    boost::system::error_code error;
    descriptor.assign(fd.get(), error);
    if (error) return Error(Code::kInternal, "watching a command's stream: " + error.message());
    // Only our end: the process has the other one, which stays as it expects it.
    descriptor.native_non_blocking(true, error);
    (void)fd.release();
    if (error) return Error(Code::kInternal, "watching a command's stream: " + error.message());
    return {};
}

Result<std::array<UniqueFd, 3>> ProcessStreams::open_pipes(const kube::CommandOptions& wanted) {
    awaits_input_ = false;
    input_closed_ = !wanted.input;
    std::array<UniqueFd, 3> theirs;
    if (wanted.input) {
        TRY(process::Pipe pipe, process::make_pipe("making a pipe to a command"));
        TRY_VOID(assign(input_, std::move(pipe.writer)));
        theirs[0] = std::move(pipe.reader);
    } else {
        TRY(theirs[0], open_null(O_RDONLY));
    }
    for (std::size_t stream = 0; stream < outputs_.size(); ++stream) {
        if (stream == 0 ? wanted.output : wanted.error) {
            TRY(process::Pipe pipe, process::make_pipe("making a pipe to a command"));
            TRY_VOID(assign(outputs_[stream], std::move(pipe.reader)));
            theirs[stream + 1] = std::move(pipe.writer);
        } else {
            TRY(theirs[stream + 1], open_null(O_WRONLY));
        }
    }
    return theirs;
}

Result<void> ProcessStreams::use_terminal(UniqueFd terminal) {
    UniqueFd again(::fcntl(terminal.get(), F_DUPFD_CLOEXEC, 0));
    if (!again) return system_error("duplicating a descriptor", errno);
    if (size_) apply(terminal.get(), *size_);
    awaits_input_ = false;
    terminal_ = types_end_ = true;
    TRY_VOID(assign(input_, std::move(again)));
    TRY_VOID(assign(outputs_[0], std::move(terminal)));
    note_change();
    return {};
}

void ProcessStreams::await_input() {
    awaits_input_ = true;
    input_closed_ = false;
}

Result<void> ProcessStreams::use_input(UniqueFd input) {
    awaits_input_ = false;
    terminal_ = input && ::isatty(input.get()) == 1;
    if (terminal_ && size_) apply(input.get(), *size_);
    note_change();
    return input ? assign(input_, std::move(input)) : Result<void>();
}

void ProcessStreams::finish() {
    left_ = {kLastBytes, kLastBytes};
    awaits_input_ = false;
    note_change();
}

std::optional<kube::OutputPiece> ProcessStreams::take(std::size_t stream) {
    Descriptor& output = outputs_[stream];
    if (!output.is_open()) return std::nullopt;
    const std::size_t most = left_ ? std::min(kPiece, (*left_)[stream]) : kPiece;
    if (most == 0) return std::nullopt;
    kube::OutputPiece piece{.error = stream == 1, .bytes = std::string(most, '\0')};
    ssize_t size = 0;
    do size = ::read(output.native_handle(), piece.bytes.data(), piece.bytes.size());
    while (size < 0 && errno == EINTR);
    if (size > 0) {
        piece.bytes.resize(static_cast<std::size_t>(size));
        if (left_) (*left_)[stream] -= piece.bytes.size();
        return piece;
    }
    // If no process has a terminal open any more, its end is an error (EIO).
    if (size == 0 || errno != EAGAIN) output.close();
    return std::nullopt;
}

Task<Result<std::optional<kube::OutputPiece>>> ProcessStreams::read() {
    for (;;) {
        // Alternating, so that one that is never empty does not hide the other.
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            turn_ = (turn_ + 1) % outputs_.size();
            if (auto piece = take(turn_)) co_return std::move(piece);
        }
        if (left_) co_return std::nullopt;
        co_await readable();
    }
}

void ProcessStreams::note_change() {
    ++changes_;
    changed_.notify_all();
}

/// Checks once more when it begins, which may be later than when it was called.
Task<void> ProcessStreams::changed_since(std::uint64_t seen) {
    while (changes_ == seen) co_await changed_.wait();
}

Task<void> ProcessStreams::wait(Descriptor& descriptor, Descriptor::wait_type what,
                                std::uint64_t seen) {
    if (!descriptor.is_open()) co_return co_await changed_since(seen);
    co_await descriptor.async_wait(what, asio::use_awaitable);
}

Task<void> ProcessStreams::readable() {
    const std::uint64_t seen = changes_;
    co_await first_of(first_of(wait(outputs_[0], Descriptor::wait_read, seen),
                               wait(outputs_[1], Descriptor::wait_read, seen)),
                      changed_since(seen));
}

Task<ProcessStreams::Descriptor*> ProcessStreams::input() {
    while (awaits_input_) co_await changed_.wait();
    co_return input_closed_ || !input_.is_open() ? nullptr : &input_;
}

Task<void> ProcessStreams::write(std::string bytes) {
    Descriptor* const to = co_await input();
    if (to == nullptr) co_return;
    std::string_view rest = bytes;
    while (!rest.empty() && !left_) {
        const ssize_t size = ::write(to->native_handle(), rest.data(), rest.size());
        if (size >= 0) {
            rest.remove_prefix(static_cast<std::size_t>(size));
        } else if (errno == EAGAIN) {
            co_await first_of(wait(*to, Descriptor::wait_write, changes_), changed_since(changes_));
        } else if (errno != EINTR) {
            to->close();  // nothing reads it any more
            co_return;
        }
    }
}

Task<void> ProcessStreams::close_input() {
    if (Descriptor* const to = co_await input()) {
        if (types_end_) {
            co_await write(std::string(1, kEndOfInput));
        } else {
            to->close();
        }
    }
    input_closed_ = true;
}

void ProcessStreams::resize(kube::TerminalSize size) {
    size_ = size;
    if (terminal_ && input_.is_open()) apply(input_.native_handle(), size);
}

}  // namespace muster::runtime
