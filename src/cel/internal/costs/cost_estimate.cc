#include "cel/internal/costs/cost_estimate.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cel/internal/costs/call_estimate.h"
#include "cel/internal/costs/cost_range.h"

namespace muster::cel {
namespace {

/// The sizes of the keys (of a list: indices) and of the elements of a list or map.
struct Entries {
    bool of_map = false;
    Range key;
    Range value;

    static std::optional<Entries> united(const std::optional<Entries>& a,
                                         const std::optional<Entries>& b) {
        if (!a || !b) return std::nullopt;
        return Entries{a->of_map, a->key.united(b->key), a->value.united(b->value)};
    }
};

/// What is known of the value of an expression.
struct Known {
    const Declaration* place = nullptr;  ///< where in the document it stands
    std::optional<Range> size;
    std::optional<Entries> entries;
};

/// Keys of maps, whose length upstream takes to be nothing.
const Declaration kKey{.name = {},
                       .form = Declaration::Form::kScalar,
                       .scalar = Type::Kind::kString,
                       .fields = {},
                       .element = nullptr,
                       .list_map_keys = {}};

bool is_scalar(const Type& type) {
    switch (type.kind()) {
        case Type::Kind::kBool:
        case Type::Kind::kDouble:
        case Type::Kind::kDuration:
        case Type::Kind::kInt:
        case Type::Kind::kTimestamp:
        case Type::Kind::kUint:
            return true;
        default:
            return type.is_optional() && is_scalar(type.parameters()[0]);
    }
}

class Estimator {
  public:
    explicit Estimator(std::span<const Variable> variables)
        : root_(variables.empty() ? nullptr : variables.front().declaration.get()) {
        for (const Variable& variable : variables)
            locals_.push_back({variable.name, Known{variable.declaration.get(), {}, {}}});
    }

    Range cost(const Expression& at) {
        return std::visit([&](const auto& node) { return cost_of(at, node); }, at.node);
    }

  private:
    struct Local {
        std::string_view name;
        Known known;
    };

    Known& known(const Expression& at) { return known_[&at]; }
    const Known* local(std::string_view name) const {
        for (auto it = locals_.rbegin(); it != locals_.rend(); ++it)
            if (it->name == name) return &it->known;
        return nullptr;
    }

    /// The size of a value, nothing if it is not known.
    std::optional<Range> size(const Expression& at) {
        Known& here = known(at);
        if (here.size) return here.size;
        if (const auto* literal = at.as<Literal>()) return Range::exactly(literal->value.size());
        if (const auto* list = at.as<MakeList>()) return Range::exactly(list->elements.size());
        if (const auto* map = at.as<MakeMap>()) return Range::exactly(map->entries.size());
        if (here.place != nullptr)
            return Range{0, static_cast<std::uint64_t>(here.place->max_elements)};
        if (is_scalar(at.type)) return Range::exactly(1);
        if (const auto* identifier = at.as<Identifier>())
            if (const Known* variable = local(identifier->name)) return variable->size;
        return std::nullopt;
    }
    Range size_or_unknown(const Expression& at) { return size(at).value_or(Range::unknown()); }
    std::optional<Entries> entries(const Expression& at) {
        if (known(at).entries) return known(at).entries;
        if (const auto* identifier = at.as<Identifier>())
            if (const Known* variable = local(identifier->name)) return variable->entries;
        return std::nullopt;
    }

    Range cost_of(const Expression&, const Literal&) { return {}; }
    Range cost_of(const Expression&, const MakeObject&) { return {}; }
    Range cost_of(const Expression& at, const Identifier& identifier) {
        // Upstream takes the name of a type to be as long as the object.
        const Known* variable = local(identifier.name);
        known(at).place = variable ? variable->place : root_;
        return Range::exactly(kAccessCost);
    }
    Range cost_of(const Expression& at, const Select& select) {
        Range sum = cost(*select.operand);
        if (select.test) return sum;
        const Type::Kind kind = select.operand->type.kind();
        if (kind == Type::Kind::kMap || kind == Type::Kind::kObject)
            sum = sum.plus(Range::exactly(kAccessCost));
        const Declaration* whole = known(*select.operand).place;
        if (whole == nullptr) return sum;
        if (const Declaration::Field* field = whole->field(select.field))
            known(at).place = field->declaration.get();
        return sum;
    }

    EstimatedArgument argument(const Expression& at, Range cost) {
        EstimatedArgument made;
        made.type = at.type;
        made.size = size_or_unknown(at);
        made.cost = cost;
        if (const Declaration* place = known(at).place)
            if (place->form == Declaration::Form::kList) made.element = place->element.get();
        if (const auto* literal = at.as<Literal>())
            if (const auto* number = literal->value.as<std::int64_t>()) made.literal = *number;
        return made;
    }

    Range cost_of(const Expression& at, const Call& call) {
        std::vector<const Expression*> operands;
        if (call.target) operands.push_back(call.target.get());
        for (const ExpressionPtr& each : call.arguments) operands.push_back(each.get());
        std::vector<EstimatedArgument> arguments;
        Range sum;
        for (const Expression* operand : operands) {
            const Range own = cost(*operand);
            sum = sum.plus(own);
            arguments.push_back(argument(*operand, own));
        }
        if (call.function == "dyn") {
            known(at).size = size(*operands[0]);
            known(at).entries = entries(*operands[0]);
            return sum.plus(Range::exactly(1));
        }
        if (call.function == "_&&_" || call.function == "_||_")
            return {arguments[0].cost.least, sum.most};
        if (call.function == "_?_:_") return conditional(at, operands, arguments);

        std::optional<Range> own;
        std::optional<Range> result;
        for (std::string_view overload : at.overloads) {
            const auto library =
                estimate_library_call(call.function, overload, call.target != nullptr, arguments);
            const EstimatedCall estimated =
                library ? *library
                        : estimate_standard_call(overload, call.target != nullptr, arguments);
            own = own ? own->united(estimated.cost) : estimated.cost;
            if (estimated.size) result = result ? result->united(*estimated.size) : estimated.size;
            if (!operands.empty()) index(at, *operands[0], overload, result);
            if (overload == "add_list" || overload == "add_string" || overload == "add_bytes")
                if (auto both = Entries::united(entries(*operands[0]), entries(*operands[1])))
                    known(at).entries = both;
        }
        if (!result) result = size(at);
        if (result) known(at).size = result;
        return own ? sum.plus(*own) : Range{};
    }
    /// Where `a[b]` stands, and how long it is.
    void index(const Expression& at, const Expression& whole, std::string_view overload,
               std::optional<Range>& result) {
        if (overload != "index_list" && overload != "index_map") return;
        const std::optional<Entries> parts = entries(whole);
        result = parts ? std::optional(parts->value) : std::nullopt;
        if (const Declaration* place = known(whole).place) known(at).place = place->element.get();
    }
    Range conditional(const Expression& at, const std::vector<const Expression*>& operands,
                      const std::vector<EstimatedArgument>& arguments) {
        known(at).size = arguments[1].size.united(arguments[2].size);
        if (auto both = Entries::united(entries(*operands[1]), entries(*operands[2])))
            known(at).entries = both;
        return arguments[0].cost.plus(arguments[1].cost.united(arguments[2].cost));
    }

    Range cost_of(const Expression& at, const MakeList& list) {
        Range sum;
        Range element{list.elements.empty() ? 0 : kUnbounded, 0};
        for (const ExpressionPtr& each : list.elements) {
            sum = sum.plus(cost(*each));
            element = element.united(size_or_unknown(*each));
        }
        known(at).entries = Entries{false, Range::exactly(1), element};
        return sum.plus(Range::exactly(kListCost));
    }
    Range cost_of(const Expression& at, const MakeMap& map) {
        Range sum;
        Range key{map.entries.empty() ? 0 : kUnbounded, 0};
        Range value = key;
        for (const MakeMap::Entry& entry : map.entries) {
            sum = sum.plus(cost(*entry.key)).plus(cost(*entry.value));
            key = key.united(size_or_unknown(*entry.key));
            value = value.united(size_or_unknown(*entry.value));
        }
        known(at).entries = Entries{true, key, value};
        return sum.plus(Range::exactly(kMapCost));
    }

    /// cel.bind() and what optMap() is made of: a variable with a value.
    static bool is_binding(const Comprehension& fold) {
        const auto* range = fold.range->as<MakeList>();
        const auto* condition = fold.condition->as<Literal>();
        return range && range->elements.empty() && condition && condition->value.as<bool>() &&
               !*condition->value.as<bool>() && fold.accumulator != "@result";
    }
    void push(std::string_view name, Known known) { locals_.push_back({name, known}); }
    Known known_of_value(const Expression& at) { return {known(at).place, size(at), entries(at)}; }
    /// A variable for the elements of a range, or for its keys.
    Known iterated(const Expression& range, bool keys) {
        const std::optional<Entries> parts = entries(range);
        const Declaration* place = known(range).place;
        const bool list = parts ? !parts->of_map : range.type.kind() == Type::Kind::kList;
        Known variable;
        if (parts) variable.size = keys ? parts->key : parts->value;
        if (place != nullptr && !keys) variable.place = place->element.get();
        if (place != nullptr && keys && !list) variable.place = &kKey;
        return variable;
    }

    Range cost_of(const Expression& at, const Comprehension& fold) {
        Range sum = cost(*fold.range).plus(cost(*fold.initial));
        push(fold.accumulator, known_of_value(*fold.initial));
        if (is_binding(fold)) {
            sum = sum.plus(cost(*fold.result));
            locals_.pop_back();
            known(at).size = size(*fold.result);
            known(at).entries = entries(*fold.result);
            return sum;
        }
        const std::optional<Entries> parts = entries(*fold.range);
        const bool list = parts ? !parts->of_map : fold.range->type.kind() == Type::Kind::kList;
        const bool two = !fold.second_variable.empty();
        push(fold.variable, iterated(*fold.range, two || !list));
        if (two) push(fold.second_variable, iterated(*fold.range, false));
        const Range each = cost(*fold.condition).plus(cost(*fold.step));
        const std::optional<Entries> step_entries = entries(*fold.step);
        locals_.resize(locals_.size() - (two ? 2 : 1));
        sum = sum.plus(cost(*fold.result));
        locals_.pop_back();
        const Range count = size_or_unknown(*fold.range);
        if (fold.initial->as<Literal>()) {
            known(at).size = size(*fold.initial);
        } else if (fold.initial->as<MakeList>() || fold.initial->as<MakeMap>()) {
            known(at).size = count;
            if (step_entries) known(at).entries = step_entries;
        }
        return sum.plus(count.times(each));
    }

    const Declaration* root_;
    std::vector<Local> locals_;
    std::unordered_map<const Expression*, Known> known_;
};

}  // namespace

std::uint64_t estimate_most_cost(const Expression& root, std::span<const Variable> variables) {
    return Estimator(variables).cost(root).most;
}

}  // namespace muster::cel
