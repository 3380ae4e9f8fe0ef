#include "kube/values/document.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/memory_resource.hpp>
#include <boost/json/string.hpp>
#include <cstdint>
#include <new>

#include "base/check.h"

namespace muster::kube {
namespace {

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSealChecked = true;
#else
constexpr bool kSealChecked = false;
#endif

/// Hands out memory from front to back and frees nothing.
class Arena final : public json::memory_resource {
  public:
    Arena(char* begin, char* end) : top_(begin), end_(end) {}
    ~Arena() override {
        while (blocks_ != nullptr) ::operator delete(std::exchange(blocks_, blocks_->next));
    }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    /// From now on the tree is shared: copies that Boost.JSON would make in this memory would be
    /// used after it, or by two threads at once.
    void seal() { sealed_ = true; }

  private:
    struct alignas(std::max_align_t) Block {
        Block* next;
    };
    static constexpr std::size_t kSmallestBlock = 512;

    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        if constexpr (kSealChecked)
            CHECK(!sealed_,
                  "a part of a shared tree is copied into the tree's memory: use copy_of");
        if (void* place = take(bytes, alignment)) return place;
        const std::size_t size = std::max(bytes, kSmallestBlock);
        auto* block = new (::operator new(sizeof(Block) + size)) Block{blocks_};
        blocks_ = block;
        top_ = reinterpret_cast<char*>(block + 1);
        end_ = top_ + size;
        return take(bytes, alignment);
    }
    void* take(std::size_t bytes, std::size_t alignment) {
        // An alignment is a power of two.
        const std::size_t gap = -reinterpret_cast<std::uintptr_t>(top_) & (alignment - 1);
        if (static_cast<std::size_t>(end_ - top_) < gap + bytes) return nullptr;
        char* place = top_ + gap;
        top_ = place + bytes;
        return place;
    }
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    bool do_is_equal(const json::memory_resource& other) const noexcept override {
        return this == &other;
    }

    char* top_;
    char* end_;
    Block* blocks_ = nullptr;
    bool sealed_ = false;
};

}  // namespace
}  // namespace muster::kube

/// Destructors of JSON values then leave the tree alone: its memory is freed as a whole.
template <>
struct boost::json::is_deallocate_trivial<muster::kube::Arena> {
    static constexpr bool value = true;
};

namespace muster::kube {

struct Document::Holder {
    Holder(char* begin, char* end) : arena(begin, end), root(nullptr, &arena) {}

    Arena arena;
    json::value root;
};

/// One block, with the holder before its room. The references are counted elsewhere, so that a weak
/// one keeps nothing of it.
std::shared_ptr<Document::Holder> Document::make_holder(std::size_t room) {
    auto* place = static_cast<char*>(::operator new(sizeof(Holder) + room));
    char* begin = place + sizeof(Holder);
    return {new (place) Holder(begin, begin + room), [](Holder* holder) {
                holder->~Holder();
                ::operator delete(holder);
            }};
}

Document::Document(const json::value& value, std::size_t spare)
    : holder_(make_holder(tree_bytes(value) + spare)) {
    holder_->root = value;
}

Document Document::empty_object(std::size_t room) {
    Document made(make_holder(room));
    made.holder_->root.emplace_object();
    return made;
}

json::value& Document::value() {
    CHECK(holder_ != nullptr, "a moved-from or null document has no value");
    return holder_->root;
}

const json::value& Document::value() const {
    CHECK(holder_ != nullptr, "a moved-from or null document has no value");
    return holder_->root;
}

ObjectPtr Document::share() && {
    const json::value* root = &holder_->root;
    holder_->arena.seal();
    return ObjectPtr(std::move(holder_), root);
}

std::size_t tree_bytes(const json::value& value) {
    // What Boost.JSON 1.81 allocates; a wrong guess only costs another block.
    constexpr std::size_t kTable = 16 + 7;  // and alignment
    constexpr std::size_t kInlineString = 14;
    constexpr std::size_t kShortestString = 30;  // beyond
    constexpr std::size_t kLinearObject = 18;
    std::size_t bytes = 0;
    switch (value.kind()) {
        case json::kind::string:
            if (value.get_string().size() > kInlineString)
                bytes = 8 + std::max(value.get_string().size(), kShortestString) + 1 + 3;
            break;
        case json::kind::array: {
            const json::array& items = value.get_array();
            if (items.empty()) break;
            bytes = kTable + items.size() * sizeof(json::value);
            for (const json::value& item : items) bytes += tree_bytes(item);
            break;
        }
        case json::kind::object: {
            const json::object& fields = value.get_object();
            if (fields.empty()) break;
            bytes = kTable + fields.size() * sizeof(json::key_value_pair);
            if (fields.size() > kLinearObject) bytes += fields.size() * sizeof(std::uint32_t);
            for (const auto& field : fields) {
                bytes += field.key().size() + 1;
                if (!field.value().is_primitive() || field.value().is_string())
                    bytes += tree_bytes(field.value());
            }
            break;
        }
        default:
            break;
    }
    return bytes;
}

}  // namespace muster::kube
