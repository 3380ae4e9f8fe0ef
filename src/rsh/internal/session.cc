#include "rsh/internal/session.h"

#include <csignal>

#include "base/async/then_stop.h"
#include "base/log.h"
#include "base/time/time_limit.h"

namespace muster::rsh {

Session::Session(asio::any_io_executor executor, Clock& clock, Duration mercy,
                 std::unique_ptr<FrameStream> frames, ClientProtocol protocol,
                 std::unique_ptr<Command> command)
    : clock_(clock),
      mercy_(mercy),
      frames_(std::move(frames)),
      protocol_(std::move(protocol)),
      command_(std::move(command)),
      parts_(executor),
      changed_(executor),
      input_came_(executor) {}

Task<void> Session::run() { co_await then_stop(serve(), parts_); }

void Session::end() {
    told_to_end_ = true;
    changed_.notify_all();
}

/// As in sshd: the outputs must have ended too, so that no output is lost.
bool Session::over() const { return outcome_ && ((!output_open_ && !errors_open_) || killed_); }

Task<void> Session::serve() {
    begin("input of a command", feed());
    begin("output of a command", pump(command_->output(), FrameType::kOutput, output_open_));
    begin("errors of a command", pump(command_->errors(), FrameType::kErrors, errors_open_));
    begin("the end of a command", wait_for_command());
    begin("a client", listen());
    while (!over() && !client_gone_ && !told_to_end_) co_await changed_.wait();
    if (!over()) {
        command_->signal(SIGTERM);
        begin("the end of mercy", have_mercy());
        while (!over()) co_await changed_.wait();
        command_->signal(SIGKILL);  // it closed its outputs and kept running
    }
    if (client_gone_) co_return;
    farewell_ = true;
    begin("farewell to a client", say_farewell());
    while (!parted_ && !told_to_end_) co_await changed_.wait();
    if (parted_) co_return;
    // A server that stops does not wait for a client that does not read.
    begin("the end of patience", lose_patience());
    while (!parted_) co_await changed_.wait();
}

/// If a part fails, the session ends like one whose command was not started.
void Session::begin(const char* what, Task<void> part) {
    parts_.spawn(what, std::move(part), [this](const std::string& failure) {
        command_->signal(SIGKILL);
        killed_ = true;
        if (!outcome_) outcome_ = {.how = Outcome::How::kRefused, .number = 0, .why = failure};
        if (farewell_) parted_ = true;
        changed_.notify_all();
    });
}

Task<void> Session::say_farewell() {
    (void)co_await frames_->write(outcome_frame(*outcome_));
    (void)co_await frames_->shut_down_write();
    // Closing while input is in flight would discard what the client has not read yet.
    (void)co_await within(clock_, mercy_, client_leaves());
    part();
}

Task<bool> Session::client_leaves() {
    while (!client_gone_) co_await changed_.wait();
    co_return true;
}

Task<void> Session::lose_patience() {
    co_await clock_.sleep_for(mercy_);
    part();
}

void Session::part() {
    parted_ = true;
    changed_.notify_all();
}

Task<void> Session::have_mercy() {
    co_await clock_.sleep_for(mercy_);
    command_->signal(SIGKILL);
    killed_ = true;
    changed_.notify_all();
}

Task<void> Session::wait_for_command() {
    outcome_ = co_await command_->ended();
    changed_.notify_all();
}

Task<void> Session::listen() {
    for (;;) {
        Result<std::optional<Frame>> frame = co_await frames_->read();
        if (!frame || !*frame) break;
        const Result<ClientMessage> message = protocol_.take(*std::move(*frame));
        if (!message) {
            log::warning("a client broke the protocol",
                         {{"client", frames_->peer_address()}, {"why", message.error().message()}});
            break;
        }
        if (const auto* input = std::get_if<Input>(&*message)) input_.push_back(input->bytes);
        if (std::holds_alternative<InputEnd>(*message)) input_ended_ = true;
        input_came_.notify_all();
    }
    client_gone_ = true;
    changed_.notify_all();
}

Task<void> Session::feed() {
    bool taken = true;
    for (;;) {
        while (input_.empty() && !input_ended_) co_await input_came_.wait();
        if (input_.empty()) break;
        const std::string bytes = std::move(input_.front());
        input_.pop_front();
        // A command that stops reading its input is not the client's fault: discard the input.
        if (taken) taken = (co_await command_->input().write(asio::buffer(bytes))).has_value();
        protocol_.give_credit(bytes.size());
        // A broken connection is noticed by its reader.
        (void)co_await frames_->write(credit_frame(static_cast<std::uint32_t>(bytes.size())));
    }
    command_->close_input();
}

Task<void> Session::pump(Descriptor& from, FrameType type, bool& open) {
    std::string bytes(kMostData, '\0');
    for (;;) {
        const Result<std::size_t> size = co_await from.read_some(asio::buffer(bytes));
        if (!size || *size == 0) break;
        if (client_gone_) continue;
        const Result<void> written = co_await frames_->write(type, bytes.substr(0, *size));
        if (written) continue;
        client_gone_ = true;
        changed_.notify_all();
    }
    open = false;
    changed_.notify_all();
}

}  // namespace muster::rsh
