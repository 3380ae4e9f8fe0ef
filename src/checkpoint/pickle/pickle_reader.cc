#include "checkpoint/pickle/pickle_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "checkpoint/pickle/pickle_opcodes.h"

namespace muster::checkpoint {
namespace {

constexpr std::uint8_t kNewestProtocol = 5;
constexpr std::size_t kMostOfAName = 1000;
constexpr std::size_t kFreeCopies = std::size_t{64} << 10;

/// The bytes of a text that Python encoded as Latin-1, of which this is the UTF-8 form. nullopt: it has others.
std::optional<std::string> latin1(std::string_view utf8) {
    std::string bytes;
    for (std::size_t i = 0; i < utf8.size(); ++i) {
        const auto byte = static_cast<std::uint8_t>(utf8[i]);
        if (byte < 0x80) {
            bytes += utf8[i];
            continue;
        }
        if ((byte != 0xc2 && byte != 0xc3) || i + 1 == utf8.size()) return std::nullopt;
        const auto next = static_cast<std::uint8_t>(utf8[++i]);
        if ((next & 0xc0) != 0x80) return std::nullopt;
        bytes += static_cast<char>((byte & 3) << 6 | (next & 0x3f));
    }
    return bytes;
}

/// The machine of a pickle, whose values are nodes.
class Machine {
  public:
    Machine(std::string_view bytes, const PickleLimits& limits) : bytes_(bytes), limits_(limits) {}

    Result<PickleTree> run() {
        if (bytes_.size() > limits_.bytes)
            return Error(Code::kTooLarge,
                         fmt::format("a pickle of {} bytes, and {} are read at most", bytes_.size(),
                                     limits_.bytes));
        while (!failed_) {
            begin_ = at_;
            const auto opcode = static_cast<Opcode>(number<std::uint8_t>());
            if (failed_) break;
            if (opcode == Opcode::kStop) {
                tree_.root = pop();
                tree_.bytes = at_;
                break;
            }
            step(opcode);
        }
        if (failed_) return *std::move(failed_);
        return std::move(tree_);
    }

  private:
    void fail(Code code, std::string_view what) {
        if (!failed_) failed_ = Error(code, fmt::format("a pickle, at byte {}: {}", begin_, what));
    }
    void invalid(std::string_view what) { fail(Code::kInvalid, what); }

    // ---- the bytes ----

    std::string_view take(std::uint64_t count) {
        if (count > bytes_.size() - at_) {
            invalid("it ends too early");
            at_ = bytes_.size();
            return {};
        }
        const std::string_view taken = bytes_.substr(at_, count);
        at_ += count;
        return taken;
    }
    template <class T>
    T number() {
        const std::string_view raw = take(sizeof(T));
        T value{};
        if (raw.size() == sizeof value) std::memcpy(&value, raw.data(), sizeof value);
        return value;
    }
    std::string_view line() {
        const std::size_t end = bytes_.find('\n', at_);
        if (end == std::string_view::npos || end - at_ > kMostOfAName) {
            invalid("a name without an end");
            return {};
        }
        const std::string_view text = bytes_.substr(at_, end - at_);
        at_ = end + 1;
        return text;
    }

    // ---- the nodes ----

    PickleNode& node(NodeId id) { return tree_.nodes[id]; }
    NodeId add(PickleNode made) {
        if (tree_.nodes.size() >= limits_.nodes)
            fail(Code::kTooLarge, fmt::format("more than {} values", limits_.nodes));
        else
            tree_.nodes.push_back(std::move(made));
        // After a failure nothing looks at what is returned but the stack, of which there is no use.
        return static_cast<NodeId>(tree_.nodes.size() - 1);
    }
    NodeId add(PickleKind kind) { return add({.kind = kind}); }
    NodeId add_text(PickleKind kind, std::string_view text) {
        return add({.kind = kind, .text = std::string(text)});
    }
    NodeId add_integer(std::int64_t value) {
        return add({.kind = PickleKind::kInteger, .integer = value});
    }
    NodeId add_items(PickleKind kind, std::vector<NodeId> items) {
        return add({.kind = kind, .items = std::move(items)});
    }
    /// None, true and false are one node each: a list of many of them has one byte for each in the pickle.
    NodeId single(NodeId& id, PickleKind kind, std::int64_t integer) {
        if (id == kNoNode) id = add({.kind = kind, .integer = integer});
        return id;
    }
    NodeId long_integer(std::string_view raw) {
        if (raw.size() > sizeof(std::int64_t)) return add_text(PickleKind::kBigInteger, raw);
        std::uint64_t value = !raw.empty() && (raw.back() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
        if (!raw.empty()) std::memcpy(&value, raw.data(), raw.size());
        return add_integer(static_cast<std::int64_t>(value));
    }
    /// What is in the bytes once may be copied again by few of them: no pickle that Python writes does so
    /// more often than it is long.
    void count_copy(std::size_t amount) {
        copied_ += amount;
        if (copied_ > bytes_.size() + kFreeCopies)
            fail(Code::kTooLarge, "it says the same too often");
    }
    NodeId global(std::string_view module, std::string_view name) {
        const auto is_name = [](std::string_view text) {
            return !text.empty() && text.size() <= kMostOfAName &&
                   std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
        };
        if (!is_name(module) || !is_name(name)) invalid("no name of a module or of what is in it");
        return add_text(PickleKind::kGlobal, fmt::format("{} {}", module, name));
    }

    // ---- the stack ----

    void push(NodeId id) { stack_.push_back(id); }
    NodeId pop() {
        if (stack_.size() <= floor()) {
            invalid("it takes a value that is not there");
            return kNoNode;
        }
        const NodeId id = stack_.back();
        stack_.pop_back();
        return id;
    }
    NodeId top() {
        const NodeId id = pop();
        if (id != kNoNode) push(id);
        return id;
    }
    /// Below it stands what was there before the newest mark.
    std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
    std::vector<NodeId> pop_to_mark() {
        if (marks_.empty()) {
            invalid("it goes back to a mark that is not there");
            return {};
        }
        const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
        std::vector<NodeId> items(from, stack_.end());
        stack_.erase(from, stack_.end());
        marks_.pop_back();
        return items;
    }
    std::vector<NodeId> pop_several(std::size_t count) {
        std::vector<NodeId> items(count);
        for (std::size_t i = count; i-- > 0;) items[i] = pop();
        return items;
    }

    // ---- the steps ----

    void step(Opcode opcode) {
        if (!step_scalar(opcode) && !step_stack(opcode) && !step_container(opcode) &&
            !step_object(opcode))
            fail(Code::kUnsupported,
                 fmt::format("the opcode {:#04x} is not read", static_cast<std::uint8_t>(opcode)));
    }

    bool step_scalar(Opcode opcode) {
        switch (opcode) {
            case Opcode::kNone:
                push(single(none_, PickleKind::kNone, 0));
                break;
            case Opcode::kTrue:
                push(single(true_, PickleKind::kBool, 1));
                break;
            case Opcode::kFalse:
                push(single(false_, PickleKind::kBool, 0));
                break;
            case Opcode::kBinInt:
                push(add_integer(number<std::int32_t>()));
                break;
            case Opcode::kBinInt1:
                push(add_integer(number<std::uint8_t>()));
                break;
            case Opcode::kBinInt2:
                push(add_integer(number<std::uint16_t>()));
                break;
            case Opcode::kLong1:
                push(long_integer(take(number<std::uint8_t>())));
                break;
            case Opcode::kLong4:
                push(long_integer(take(number<std::uint32_t>())));
                break;
            case Opcode::kBinFloat: {
                const auto raw = std::byteswap(number<std::uint64_t>());
                push(add({.kind = PickleKind::kReal, .real = std::bit_cast<double>(raw)}));
                break;
            }
            case Opcode::kShortBinUnicode:
                push(text(number<std::uint8_t>()));
                break;
            case Opcode::kBinUnicode:
                push(text(number<std::uint32_t>()));
                break;
            case Opcode::kBinUnicode8:
                push(text(number<std::uint64_t>()));
                break;
            case Opcode::kShortBinBytes:
                push(raw_bytes(number<std::uint8_t>()));
                break;
            case Opcode::kBinBytes:
                push(raw_bytes(number<std::uint32_t>()));
                break;
            case Opcode::kBinBytes8:
                push(raw_bytes(number<std::uint64_t>()));
                break;
            default:
                return false;
        }
        return true;
    }
    NodeId text(std::uint64_t count) { return add_text(PickleKind::kText, take(count)); }
    NodeId raw_bytes(std::uint64_t count) { return add_text(PickleKind::kBytes, take(count)); }

    bool step_stack(Opcode opcode) {
        switch (opcode) {
            case Opcode::kProtocol:
                if (number<std::uint8_t>() > kNewestProtocol)
                    fail(Code::kUnsupported, "it is of a newer protocol");
                break;
            // The size of what follows, which says nothing that the opcodes don't.
            case Opcode::kFrame:
                number<std::uint64_t>();
                break;
            case Opcode::kMark:
                marks_.push_back(stack_.size());
                break;
            case Opcode::kPop:
                if (stack_.size() > floor())
                    stack_.pop_back();
                else
                    pop_to_mark();
                break;
            case Opcode::kPopMark:
                pop_to_mark();
                break;
            case Opcode::kDup:
                push(top());
                break;
            case Opcode::kBinGet:
                recall(number<std::uint8_t>());
                break;
            case Opcode::kLongBinGet:
                recall(number<std::uint32_t>());
                break;
            case Opcode::kBinPut:
                memo_[number<std::uint8_t>()] = top();
                break;
            case Opcode::kLongBinPut:
                memo_[number<std::uint32_t>()] = top();
                break;
            case Opcode::kMemoize:
                memo_[memo_.size()] = top();
                break;
            default:
                return false;
        }
        return true;
    }
    void recall(std::uint64_t index) {
        const auto found = memo_.find(index);
        if (found == memo_.end())
            invalid("it asks for what it has not remembered");
        else
            push(found->second);
    }

    bool step_container(Opcode opcode) {
        switch (opcode) {
            case Opcode::kEmptyList:
                push(add(PickleKind::kList));
                break;
            case Opcode::kEmptyTuple:
                push(add(PickleKind::kTuple));
                break;
            case Opcode::kEmptyDict:
                push(add(PickleKind::kDict));
                break;
            case Opcode::kEmptySet:
                push(add(PickleKind::kSet));
                break;
            case Opcode::kTuple1:
                push(add_items(PickleKind::kTuple, pop_several(1)));
                break;
            case Opcode::kTuple2:
                push(add_items(PickleKind::kTuple, pop_several(2)));
                break;
            case Opcode::kTuple3:
                push(add_items(PickleKind::kTuple, pop_several(3)));
                break;
            case Opcode::kTuple:
                push(add_items(PickleKind::kTuple, pop_to_mark()));
                break;
            case Opcode::kList:
                push(add_items(PickleKind::kList, pop_to_mark()));
                break;
            case Opcode::kFrozenSet:
                push(add_items(PickleKind::kFrozenSet, pop_to_mark()));
                break;
            case Opcode::kDict: {
                auto items = pop_to_mark();
                if (items.size() % 2 != 0) invalid("a key without a value");
                push(add_items(PickleKind::kDict, std::move(items)));
                break;
            }
            case Opcode::kAppend:
                append(pop_several(1));
                break;
            case Opcode::kAppends:
                append(pop_to_mark());
                break;
            case Opcode::kAddItems:
                add_items_to_set(pop_to_mark());
                break;
            case Opcode::kSetItem:
                set_items(pop_several(2));
                break;
            case Opcode::kSetItems:
                set_items(pop_to_mark());
                break;
            default:
                return false;
        }
        return true;
    }
    static void add_to(std::vector<NodeId>& all, const std::vector<NodeId>& items) {
        all.insert(all.end(), items.begin(), items.end());
    }
    void add_items_to_set(const std::vector<NodeId>& items) {
        const NodeId id = top();
        if (id == kNoNode) return;
        if (node(id).kind != PickleKind::kSet) return invalid("it adds to what can't have it");
        add_to(node(id).items, items);
    }
    static bool is_made(const PickleNode& one) {
        return one.kind == PickleKind::kCall || one.kind == PickleKind::kNew;
    }
    void append(const std::vector<NodeId>& items) {
        NodeId id = top();
        if (id == kNoNode) return;
        if (is_made(node(id))) {
            if (node(id).appended == kNoNode) {
                const NodeId list = add(PickleKind::kList);
                node(id).appended = list;
            }
            id = node(id).appended;
        }
        if (node(id).kind != PickleKind::kList) return invalid("it appends to what is no list");
        add_to(node(id).items, items);
    }
    void set_items(const std::vector<NodeId>& items) {
        NodeId id = top();
        if (id == kNoNode) return;
        if (items.size() % 2 != 0) return invalid("a key without a value");
        if (is_made(node(id))) {
            if (node(id).pairs == kNoNode) {
                const NodeId dict = add(PickleKind::kDict);
                node(id).pairs = dict;
            }
            id = node(id).pairs;
        }
        if (node(id).kind != PickleKind::kDict) return invalid("it sets what is in no dictionary");
        add_to(node(id).items, items);
    }

    bool step_object(Opcode opcode) {
        switch (opcode) {
            case Opcode::kGlobal: {
                const std::string_view module = line();
                push(global(module, line()));
                break;
            }
            case Opcode::kStackGlobal: {
                const auto names = pop_several(2);
                if (failed_) break;
                if (node(names[0]).kind != PickleKind::kText ||
                    node(names[1]).kind != PickleKind::kText)
                    invalid("a name that is no text");
                else
                    push(global(node(names[0]).text, node(names[1]).text));
                break;
            }
            case Opcode::kBinPersistent:
                push(add_items(PickleKind::kPersistent, pop_several(1)));
                break;
            case Opcode::kReduce:
                make(PickleKind::kCall, pop_several(2));
                break;
            case Opcode::kNewObject:
                make(PickleKind::kNew, pop_several(2));
                break;
            case Opcode::kNewObjectWithWords:
                make(PickleKind::kNew, pop_several(3));
                break;
            case Opcode::kBuild: {
                const NodeId state = pop();
                const NodeId id = top();
                if (id == kNoNode) break;
                if (is_made(node(id)) || node(id).kind == PickleKind::kDict)
                    node(id).state = state;
                else
                    invalid("it sets the state of what has none");
                break;
            }
            default:
                return false;
        }
        return true;
    }
    void make(PickleKind kind, std::vector<NodeId> items) {
        if (failed_) return;
        if (node(items[1]).kind != PickleKind::kTuple)
            return invalid("arguments that are no tuple");
        if (items.size() == 3 && node(items[2]).kind != PickleKind::kDict)
            return invalid("words that are no dictionary");
        auto plain = kind == PickleKind::kCall ? plain_value(items) : std::nullopt;
        if (plain) count_copy(plain->text.size() + plain->items.size());
        if (failed_) return;
        push(add(plain ? *std::move(plain) : PickleNode{.kind = kind, .items = std::move(items)}));
    }
    /// What the calls make by which Python writes sets, bytes and ordered dictionaries.
    std::optional<PickleNode> plain_value(const std::vector<NodeId>& call) {
        if (node(call[0]).kind != PickleKind::kGlobal) return std::nullopt;
        const std::string_view name = node(call[0]).text;
        const std::vector<NodeId>& arguments = node(call[1]).items;
        if (name == "collections OrderedDict" && arguments.empty())
            return PickleNode{.kind = PickleKind::kDict, .ordered = true};
        const bool is_set = name == "__builtin__ set" || name == "builtins set";
        const bool is_frozen = name == "__builtin__ frozenset" || name == "builtins frozenset";
        if ((is_set || is_frozen) && arguments.size() == 1 &&
            node(arguments[0]).kind == PickleKind::kList)
            return PickleNode{.kind = is_set ? PickleKind::kSet : PickleKind::kFrozenSet,
                              .items = node(arguments[0]).items};
        if ((name == "__builtin__ bytes" || name == "builtins bytes") && arguments.empty())
            return PickleNode{.kind = PickleKind::kBytes};
        if (name == "_codecs encode" && arguments.size() == 2 &&
            node(arguments[0]).kind == PickleKind::kText &&
            node(arguments[1]).kind == PickleKind::kText && node(arguments[1]).text == "latin1")
            if (auto bytes = latin1(node(arguments[0]).text))
                return PickleNode{.kind = PickleKind::kBytes, .text = *std::move(bytes)};
        return std::nullopt;
    }

    std::string_view bytes_;
    const PickleLimits& limits_;
    std::size_t at_ = 0;
    std::size_t begin_ = 0;   ///< of the step
    std::size_t copied_ = 0;  ///< count_copy()
    PickleTree tree_;
    std::vector<NodeId> stack_;
    std::vector<std::size_t> marks_;
    std::unordered_map<std::uint64_t, NodeId> memo_;
    NodeId none_ = kNoNode, true_ = kNoNode, false_ = kNoNode;
    std::optional<Error> failed_;
};

}  // namespace

Result<PickleTree> read_pickle(std::string_view bytes, const PickleLimits& limits) {
    return Machine(bytes, limits).run();
}

}  // namespace muster::checkpoint
