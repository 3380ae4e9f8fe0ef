#include <string>
#include <unordered_set>

#include "cel/internal/library/arguments.h"

// Lists of Kubernetes, sets of cel-go's extension, and the map that transformMap() makes.

namespace muster::cel {
namespace {

/// As upstream compares elements: those of types that have no order fail, two of types that can't be
/// compared with each other count as equal.
std::expected<int, Failure> order_of_elements(const Value& a, const Value& b) {
    if (auto own = compare(b, b); !own) return own;
    return compare(a, b).value_or(0);
}

Outcome is_sorted(Arguments arguments) {
    const List* list = arguments[0].list();
    if (list == nullptr) return no_such_overload();
    for (std::size_t i = 0; i < list->size(); ++i) {
        const auto order = order_of_elements(list->at(i > 0 ? i - 1 : 0), list->at(i));
        if (!order) return std::unexpected(order.error());
        if (*order > 0) return false;
    }
    return true;
}

/// Zero of the element's type.
Value zero_of(const Value& value) {
    if (value.as<std::uint64_t>()) return std::uint64_t{0};
    if (value.as<double>()) return 0.0;
    if (value.as<Duration>()) return Duration{};
    return std::int64_t{0};
}
Outcome sum(Arguments arguments) {
    const List* list = arguments[0].list();
    if (list == nullptr) return no_such_overload();
    // The type of an empty list's elements is not known any more: upstream has a zero of it.
    if (list->size() == 0) return std::int64_t{0};
    static const Implementation add = find_implementation("_+_");
    Value total = zero_of(list->at(0));
    for (std::size_t i = 0; i < list->size(); ++i) {
        const Value pair[] = {total, list->at(i)};
        Outcome next = add(pair);
        if (!next) return next;
        total = *std::move(next);
    }
    return total;
}

Outcome extreme(Arguments arguments, int wanted, const char* empty) {
    const List* list = arguments[0].list();
    if (list == nullptr) return no_such_overload();
    if (list->size() == 0) return failure(empty);
    Value best = list->at(0);
    for (std::size_t i = 0; i < list->size(); ++i) {
        const auto order = order_of_elements(best, list->at(i));
        if (!order) return std::unexpected(order.error());
        if (*order == -wanted) best = list->at(i);
    }
    return best;
}
Outcome least(Arguments arguments) { return extreme(arguments, -1, "min called on empty list"); }
Outcome greatest(Arguments arguments) { return extreme(arguments, 1, "max called on empty list"); }

/// The elements of a list for look-ups that do not go through all of it: the costs of these
/// functions do not grow with their lists.
class Elements {
  public:
    explicit Elements(const List& list) {
        for (std::size_t i = 0; i < list.size(); ++i) texts_.insert(content_text(list.at(i)));
    }
    bool contains(const Value& value) const {
        return equal(value, value) && texts_.contains(content_text(value));
    }
    bool contain_all(const List& others) const {
        for (std::size_t i = 0; i < others.size(); ++i)
            if (!contains(others.at(i))) return false;
        return true;
    }

  private:
    std::unordered_set<std::string> texts_;
};

Outcome sets_contains(Arguments arguments) {
    const List* whole = arguments[0].list();
    const List* part = arguments[1].list();
    if (whole == nullptr || part == nullptr) return no_such_overload();
    return Elements(*whole).contain_all(*part);
}
Outcome sets_equivalent(Arguments arguments) {
    const List* a = arguments[0].list();
    const List* b = arguments[1].list();
    if (a == nullptr || b == nullptr) return no_such_overload();
    return Elements(*a).contain_all(*b) && Elements(*b).contain_all(*a);
}
Outcome sets_intersects(Arguments arguments) {
    const List* a = arguments[0].list();
    const List* b = arguments[1].list();
    if (a == nullptr || b == nullptr) return no_such_overload();
    const Elements elements(*a);
    for (std::size_t i = 0; i < b->size(); ++i)
        if (elements.contains(b->at(i))) return true;
    return false;
}

Outcome first(Arguments arguments) {
    const List* list = arguments[0].list();
    if (list == nullptr) return no_such_overload();
    return list->size() == 0 ? Value::none() : Value::some(list->at(0));
}
Outcome last(Arguments arguments) {
    const List* list = arguments[0].list();
    if (list == nullptr) return no_such_overload();
    return list->size() == 0 ? Value::none() : Value::some(list->at(list->size() - 1));
}

constexpr NamedFunction kFunctions[] = {
    {"isSorted", is_sorted},
    {"sum", sum},
    {"min", least},
    {"max", greatest},
    {"sets.contains", sets_contains},
    {"sets.equivalent", sets_equivalent},
    {"sets.intersects", sets_intersects},
    {"first", first},
    {"last", last},
};

}  // namespace

std::span<const NamedFunction> list_functions() { return kFunctions; }

}  // namespace muster::cel
