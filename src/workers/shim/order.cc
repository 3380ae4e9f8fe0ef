#include "workers/shim/order.h"

#include <cstring>

namespace muster::workers {

namespace {

constexpr std::uint64_t kMagic = 0x3130'6d69'6873'756dULL;  // "mushim01"

class Writer {
  public:
    void add(std::uint64_t number) {
        char bytes[sizeof number];
        std::memcpy(bytes, &number, sizeof number);
        bytes_.append(bytes, sizeof bytes);
    }
    void add(const std::string& text) {
        add(std::uint64_t{text.size()});
        bytes_ += text;
    }
    template <class Item>
    void add(const std::vector<Item>& items) {
        add(std::uint64_t{items.size()});
        for (const Item& item : items) add(item);
    }
    void add(const OutputOrder& output) {
        add(std::uint64_t{output.inherit});
        add(output.file);
        add(std::uint64_t{output.console});
        add(output.prefix);
        add(output.filtered);
        add(output.texts);
    }
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

class Reader {
  public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}

    std::uint64_t number() {
        std::uint64_t value = 0;
        if (bytes_.size() < sizeof value) {
            good_ = false;
            return 0;
        }
        std::memcpy(&value, bytes_.data(), sizeof value);
        bytes_.remove_prefix(sizeof value);
        return value;
    }
    std::string text() {
        const std::uint64_t size = number();
        if (size > bytes_.size()) {
            good_ = false;
            return {};
        }
        std::string value(bytes_.substr(0, size));
        bytes_.remove_prefix(size);
        return value;
    }
    template <class Item>
    void items(std::vector<Item>& into) {
        const std::uint64_t count = number();
        // Each takes at least eight bytes.
        if (count > bytes_.size() / 8) good_ = false;
        for (std::uint64_t i = 0; good_ && i < count; ++i) {
            if constexpr (std::is_same_v<Item, std::string>)
                into.push_back(text());
            else
                into.push_back(static_cast<Item>(number()));
        }
    }
    void output(OutputOrder& into) {
        into.inherit = number() != 0;
        into.file = text();
        into.console = number() != 0;
        into.prefix = text();
        into.filtered = text();
        items(into.texts);
    }
    bool all_read() const { return good_ && bytes_.empty(); }

  private:
    std::string_view bytes_;
    bool good_ = true;
};

}  // namespace

std::string encode(const ShimOrder& order) {
    Writer writer;
    writer.add(kMagic);
    writer.add(order.candidates);
    writer.add(order.arguments);
    writer.add(order.environment);
    writer.add(order.out);
    writer.add(order.error);
    writer.add(order.rotate_bytes);
    writer.add(std::uint64_t{order.rotate_files});
    writer.add(order.directory);
    writer.add(order.socket);
    writer.add(order.files);
    writer.add(order.record);
    writer.add(order.keep);
    writer.add(order.group);
    writer.add(order.cpus);
    writer.add(static_cast<std::uint64_t>(order.memory));
    writer.add(order.nodes);
    writer.add(order.orphan_grace_ms);
    writer.add(std::uint64_t{order.core_bytes.has_value()});
    writer.add(order.core_bytes.value_or(0));
    writer.add(std::uint64_t{order.spare});
    return writer.take();
}

std::optional<ShimOrder> decode_order(std::string_view bytes) {
    Reader reader(bytes);
    ShimOrder order;
    if (reader.number() != kMagic) return std::nullopt;
    reader.items(order.candidates);
    reader.items(order.arguments);
    reader.items(order.environment);
    reader.output(order.out);
    reader.output(order.error);
    order.rotate_bytes = reader.number();
    order.rotate_files = static_cast<std::uint32_t>(reader.number());
    order.directory = reader.text();
    order.socket = reader.text();
    reader.items(order.files);
    order.record = reader.text();
    order.keep = reader.text();
    order.group = reader.text();
    reader.items(order.cpus);
    const std::uint64_t memory = reader.number();
    if (memory > static_cast<std::uint64_t>(launch::MemoryPolicy::kBind)) return std::nullopt;
    order.memory = static_cast<launch::MemoryPolicy>(memory);
    reader.items(order.nodes);
    order.orphan_grace_ms = reader.number();
    const bool limits_cores = reader.number() != 0;
    const std::uint64_t core_bytes = reader.number();
    if (limits_cores) order.core_bytes = core_bytes;
    order.spare = reader.number() != 0;
    if (!reader.all_read()) return std::nullopt;
    return order;
}

}  // namespace muster::workers
