#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "checkpoint/pickle/pickle_tree.h"

namespace muster::checkpoint {

/// Writes a pickle of protocol 2, which each Python and torch reads, value by value. What is written stays on
/// the reader's stack; the functions that take `count` use up what was written before them.
class PickleWriter {
  public:
    PickleWriter();

    void none() { op('N'); }
    void boolean(bool value) { op(value ? '\x88' : '\x89'); }
    void integer(std::int64_t value);
    void big_integer(std::string_view little_endian);
    void real(double value);
    void text(std::string_view utf8);
    void bytes(std::string_view raw);
    /// The same again costs two bytes.
    void global(std::string_view module, std::string_view name);
    /// A kGlobal of a tree.
    void global_of(const PickleNode& node);
    /// Of numbers: a shape.
    void integers(std::span<const std::uint64_t> values);

    void mark() { op('('); }
    void empty_list() { op(']'); }
    void append() { op('e'); }  ///< what was written since mark()
    void empty_dict() { op('}'); }
    void set_items() { op('u'); }  ///< keys and values in turn, written since mark()
    void tuple() { op('t'); }      ///< of what was written since mark()
    void empty_tuple() { op(')'); }
    void call() { op('R'); }  ///< the last but one, with the last one as arguments
    void make() { op('\x81'); }
    void build() { op('b'); }  ///< the last one is the state of the last but one
    void persistent() { op('Q'); }

    /// Remembers what was written last, under a number that is not used yet.
    std::uint32_t remember();
    void recall(std::uint32_t number);

    /// Once.
    std::string finish();

  private:
    void op(char code) { out_ += code; }
    template <class T>
    void put(T value);

    std::string out_;
    std::uint32_t remembered_ = 0;
    std::unordered_map<std::string, std::uint32_t> globals_;
};

/// Writes what a node of a tree says, as Python would write it. `write_persistent` writes the id of a kPersistent.
/// kTooLarge: it is nested too deeply, or within itself; kUnsupported: a call with words.
Result<void> write_node(PickleWriter& writer, const PickleTree& tree, NodeId id,
                        const std::function<Result<void>(const PickleNode&)>& write_persistent);

}  // namespace muster::checkpoint
