#include "checkpoint/pickle/pickle_writer.h"

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.h"

namespace muster::checkpoint {
namespace {

/// A value that is nested more deeply is not one that a person made.
constexpr int kMostDepth = 200;

template <class T>
bool fits(std::int64_t value) {
    return std::numeric_limits<T>::min() <= value && value <= std::numeric_limits<T>::max();
}

/// Writes nodes, and those that are in several places once: an object that is shared stays so.
class NodeWriter {
  public:
    NodeWriter(PickleWriter& to, const PickleTree& tree,
               const std::function<Result<void>(const PickleNode&)>& write_persistent)
        : to_(to), tree_(tree), write_persistent_(write_persistent) {}

    Result<void> write(NodeId id, int depth) {
        if (depth > kMostDepth)
            return Error(Code::kTooLarge, fmt::format("a value that is nested more than {} deep, "
                                                      "or is within itself",
                                                      kMostDepth));
        const PickleNode& node = tree_[id];
        switch (node.kind) {
            case PickleKind::kNone:
                to_.none();
                return {};
            case PickleKind::kBool:
                to_.boolean(node.integer != 0);
                return {};
            case PickleKind::kInteger:
                to_.integer(node.integer);
                return {};
            case PickleKind::kReal:
                to_.real(node.real);
                return {};
            case PickleKind::kGlobal:
                to_.global_of(node);
                return {};
            default:
                break;
        }
        if (const auto known = written_.find(id); known != written_.end()) {
            to_.recall(known->second);
            return {};
        }
        TRY_VOID(write_object(id, depth + 1));
        remember(id);
        return {};
    }

  private:
    void remember(NodeId id) {
        if (!written_.contains(id)) written_.emplace(id, to_.remember());
    }
    Result<void> write_object(NodeId id, int depth) {
        const PickleNode& node = tree_[id];
        switch (node.kind) {
            case PickleKind::kBigInteger:
                to_.big_integer(node.text);
                return {};
            case PickleKind::kText:
                to_.text(node.text);
                return {};
            case PickleKind::kBytes:
                to_.bytes(node.text);
                return {};
            case PickleKind::kPersistent:
                return write_persistent_(node);
            case PickleKind::kList:
                to_.empty_list();
                remember(id);  // it may be within itself
                to_.mark();
                TRY_VOID(write_all(node.items, depth));
                to_.append();
                return {};
            case PickleKind::kTuple:
                to_.mark();
                TRY_VOID(write_all(node.items, depth));
                to_.tuple();
                return {};
            case PickleKind::kSet:
                return write_set("set", node, depth);
            case PickleKind::kFrozenSet:
                return write_set("frozenset", node, depth);
            case PickleKind::kDict:
                return write_dict(id, depth);
            default:
                return write_made(node, depth);
        }
    }
    Result<void> write_all(const std::vector<NodeId>& items, int depth) {
        for (const NodeId item : items) TRY_VOID(write(item, depth));
        return {};
    }
    Result<void> write_set(std::string_view type, const PickleNode& node, int depth) {
        to_.global("__builtin__", type);
        to_.mark();
        to_.empty_list();
        to_.mark();
        TRY_VOID(write_all(node.items, depth));
        to_.append();
        to_.tuple();
        to_.call();
        return {};
    }
    Result<void> write_dict(NodeId id, int depth) {
        const PickleNode& node = tree_[id];
        if (node.ordered) {
            to_.global("collections", "OrderedDict");
            to_.empty_tuple();
            to_.call();
        } else {
            to_.empty_dict();
        }
        remember(id);
        to_.mark();
        TRY_VOID(write_all(node.items, depth));
        to_.set_items();
        return write_state(node, depth);
    }
    Result<void> write_made(const PickleNode& node, int depth) {
        if (node.items.size() != 2)
            return Error(Code::kUnsupported, "an object that is made with words can't be written");
        TRY_VOID(write_all(node.items, depth));
        node.kind == PickleKind::kNew ? to_.make() : to_.call();
        if (node.appended != kNoNode) {
            to_.mark();
            TRY_VOID(write_all(tree_[node.appended].items, depth));
            to_.append();
        }
        if (node.pairs != kNoNode) {
            to_.mark();
            TRY_VOID(write_all(tree_[node.pairs].items, depth));
            to_.set_items();
        }
        return write_state(node, depth);
    }
    Result<void> write_state(const PickleNode& node, int depth) {
        if (node.state == kNoNode) return {};
        TRY_VOID(write(node.state, depth));
        to_.build();
        return {};
    }

    PickleWriter& to_;
    const PickleTree& tree_;
    const std::function<Result<void>(const PickleNode&)>& write_persistent_;
    std::unordered_map<NodeId, std::uint32_t> written_;
};

}  // namespace

PickleWriter::PickleWriter() : out_("\x80\x02") {}

template <class T>
void PickleWriter::put(T value) {
    const auto raw = std::bit_cast<std::array<char, sizeof value>>(value);
    out_.append(raw.data(), raw.size());
}

void PickleWriter::integer(std::int64_t value) {
    if (fits<std::uint8_t>(value)) {
        op('K');
        put(static_cast<std::uint8_t>(value));
    } else if (fits<std::uint16_t>(value)) {
        op('M');
        put(static_cast<std::uint16_t>(value));
    } else if (fits<std::int32_t>(value)) {
        op('J');
        put(static_cast<std::int32_t>(value));
    } else {
        op('\x8a');
        put(static_cast<std::uint8_t>(sizeof value));
        put(value);
    }
}

void PickleWriter::big_integer(std::string_view little_endian) {
    op('\x8b');
    put(static_cast<std::uint32_t>(little_endian.size()));
    out_ += little_endian;
}

void PickleWriter::real(double value) {
    op('G');
    put(std::byteswap(std::bit_cast<std::uint64_t>(value)));
}

void PickleWriter::text(std::string_view utf8) {
    op('X');
    put(static_cast<std::uint32_t>(utf8.size()));
    out_ += utf8;
}

void PickleWriter::bytes(std::string_view raw) {
    // Protocol 2 is older than bytes: Python writes them as a text of which each character is a byte.
    std::string latin1;
    for (const char c : raw) {
        const auto byte = static_cast<std::uint8_t>(c);
        if (byte < 0x80) {
            latin1 += c;
        } else {
            latin1 += static_cast<char>(0xc0 | byte >> 6);
            latin1 += static_cast<char>(0x80 | (byte & 0x3f));
        }
    }
    global("_codecs", "encode");
    mark();
    text(latin1);
    text("latin1");
    tuple();
    call();
}

void PickleWriter::global(std::string_view module, std::string_view name) {
    const std::string line = fmt::format("{}\n{}\n", module, name);
    if (const auto known = globals_.find(line); known != globals_.end()) {
        recall(known->second);
        return;
    }
    op('c');
    out_ += line;
    globals_.emplace(line, remember());
}

void PickleWriter::global_of(const PickleNode& node) {
    const std::string_view text = node.text;
    const std::size_t space = text.find(' ');
    CHECK(node.kind == PickleKind::kGlobal && space != std::string_view::npos,
          "a global has a module and a name");
    global(text.substr(0, space), text.substr(space + 1));
}

void PickleWriter::integers(std::span<const std::uint64_t> values) {
    mark();
    for (const std::uint64_t value : values) integer(static_cast<std::int64_t>(value));
    tuple();
}

std::uint32_t PickleWriter::remember() {
    const std::uint32_t number = remembered_++;
    if (fits<std::uint8_t>(number)) {
        op('q');
        put(static_cast<std::uint8_t>(number));
    } else {
        op('r');
        put(number);
    }
    return number;
}

void PickleWriter::recall(std::uint32_t number) {
    if (fits<std::uint8_t>(number)) {
        op('h');
        put(static_cast<std::uint8_t>(number));
    } else {
        op('j');
        put(number);
    }
}

std::string PickleWriter::finish() {
    op('.');
    return std::exchange(out_, {});
}

Result<void> write_node(PickleWriter& writer, const PickleTree& tree, NodeId id,
                        const std::function<Result<void>(const PickleNode&)>& write_persistent) {
    return NodeWriter(writer, tree, write_persistent).write(id, 0);
}

}  // namespace muster::checkpoint
