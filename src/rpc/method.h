#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "rpc/client.h"
#include "rpc/server.h"

namespace muster::rpc {

// Calls, streams and notes with messages instead of bytes. The types of a method are declared once,
// where both sides see them:
//
//     inline constexpr rpc::Call<JoinRequest, JoinAnswer> kJoin{"join", rpc::Repeat::kFreely};
//
// A message is anything with protobuf's SerializeAsString() and ParseFromString().

template <class Request, class Answer>
struct Call {
    std::string_view name;
    Repeat repeat = Repeat::kNever;
};

template <class Request, class Item>
struct Stream {
    std::string_view name;
};

template <class Message>
struct Note {
    std::string_view name;
};

/// kBadRequest: the bytes are not such a message.
template <class Message>
Result<Message> parse(std::string_view method, const std::string& body) {
    Message message;
    if (!message.ParseFromString(body))
        return Error(Code::kBadRequest, std::string(method) + ": what came is no message of it");
    return message;
}

template <class Request, class Answer>
Task<Result<Answer>> call(Client& client, Call<Request, Answer> method, Request request,
                          Duration time) {
    CO_TRY(const std::string body,
           co_await client.call(std::string(method.name), request.SerializeAsString(), time,
                                method.repeat));
    co_return parse<Answer>(method.name, body);
}

template <class Message>
Task<Result<void>> tell(Client& client, Note<Message> method, Message message) {
    return client.tell(std::string(method.name), message.SerializeAsString());
}

/// Reads the items of a stream.
template <class Item>
class Items {
  public:
    Items(std::string_view method, std::unique_ptr<ItemReader> reader)
        : method_(method), reader_(std::move(reader)) {}

    /// Like ItemReader::next().
    Task<Result<std::optional<Item>>> next() {
        CO_TRY(const std::optional<std::string> body, co_await reader_->next());
        if (!body) co_return std::optional<Item>();
        CO_TRY(Item item, parse<Item>(method_, *body));
        co_return std::optional<Item>(std::move(item));
    }

  private:
    std::string_view method_;
    std::unique_ptr<ItemReader> reader_;
};

template <class Request, class Item>
Task<Result<std::unique_ptr<Items<Item>>>> open(Client& client, Stream<Request, Item> method,
                                                Request request) {
    CO_TRY(auto reader,
           co_await client.open(std::string(method.name), request.SerializeAsString()));
    co_return std::make_unique<Items<Item>>(method.name, std::move(reader));
}

/// Writes the items of a stream.
template <class Item>
class ItemSink {
  public:
    explicit ItemSink(ItemWriter& writer) : writer_(writer) {}
    /// Like ItemWriter::write().
    Task<Result<void>> write(const Item& item) { return writer_.write(item.SerializeAsString()); }

  private:
    ItemWriter& writer_;
};

template <class Answer>
Task<Result<std::string>> written(Task<Result<Answer>> work) {
    CO_TRY(const Answer given, co_await std::move(work));
    co_return given.SerializeAsString();
}

inline Task<Result<std::string>> ended(Task<Result<void>> work) {
    CO_TRY_VOID(co_await std::move(work));
    co_return std::string();
}

inline Task<Result<std::string>> refused(Error why) { co_return why; }

/// `handle(PeerPtr, Request) -> Task<Result<Answer>>`, called as long as the server serves. What it
/// does before it returns the task happens in the order in which its client sent the calls.
template <class Request, class Answer, class Handle>
void serve(Server& server, Call<Request, Answer> method, Handle handle) {
    server.on_call(std::string(method.name),
                   [method, handle](PeerPtr peer, std::string body) -> Task<Result<std::string>> {
                       auto request = parse<Request>(method.name, body);
                       if (!request) return refused(std::move(request).error());
                       return written<Answer>(handle(std::move(peer), *std::move(request)));
                   });
}

/// `handle(PeerPtr, Message)`. Bytes that are not such a message are dropped and logged.
template <class Message, class Handle>
void serve(Server& server, Note<Message> method, Handle handle) {
    server.on_note(
        std::string(method.name), [method, handle](const PeerPtr& peer, std::string body) {
            auto message = parse<Message>(method.name, body);
            if (message)
                handle(peer, *std::move(message));
            else
                log::warning("a note was dropped",
                             {{"from", peer->about}, {"error", message.error().message()}});
        });
}

/// `handle(PeerPtr, Request, ItemSink<Item>) -> Task<Result<void>>`. Ordered like calls.
template <class Request, class Item, class Handle>
void serve(Server& server, Stream<Request, Item> method, Handle handle) {
    server.on_stream(
        std::string(method.name),
        [method, handle](PeerPtr peer, std::string body,
                         ItemWriter& out) -> Task<Result<std::string>> {
            auto request = parse<Request>(method.name, body);
            if (!request) return refused(std::move(request).error());
            return ended(handle(std::move(peer), *std::move(request), ItemSink<Item>(out)));
        });
}

}  // namespace muster::rpc
