#include "apiserver/store.h"

namespace muster::apiserver {

namespace {

class MemoryStore final : public Store {
  public:
    Revision revision() const override { return revision_; }

    Task<Result<StoredObject>> create(StoreKey key, Make make) override {
        Table& table = tables_[key.resource];
        auto [row, fresh] = table.try_emplace(RowKey{key.namespace_, key.name});
        if (!fresh) co_return Error(Code::kAlreadyExists, describe(key) + " already exists");
        row->second = {++revision_, make(revision_)};
        co_return committed(std::move(key), row->second.object, row->second.object, nullptr);
    }

    Task<Result<StoredObject>> update(StoreKey key, Revision expected, Make make) override {
        Result<Table::iterator> row = find(key, expected);
        if (!row) co_return std::move(row.error());
        Row& current = (*row)->second;
        kube::ObjectPtr previous = std::move(current.object);
        current = {++revision_, make(revision_)};
        co_return committed(std::move(key), current.object, current.object, std::move(previous));
    }

    Task<Result<StoredObject>> remove(StoreKey key, Revision expected, Make make) override {
        Result<Table::iterator> row = find(key, expected);
        if (!row) co_return std::move(row.error());
        tables_[key.resource].erase(*row);
        kube::ObjectPtr last = make(++revision_);
        co_return committed(std::move(key), last, nullptr, last);
    }

    Task<Result<StoredObject>> get(StoreKey key) override {
        auto table = tables_.find(key.resource);
        if (table != tables_.end()) {
            auto row = table->second.find(RowKey{key.namespace_, key.name});
            if (row != table->second.end())
                co_return StoredObject{std::move(key), row->second.revision, row->second.object};
        }
        co_return Error(Code::kNotFound, describe(key) + " not found");
    }

    Task<Result<std::vector<StoredObject>>> list(std::string resource, std::string namespace_,
                                                 std::optional<StoreKey> after,
                                                 std::size_t limit) override {
        std::vector<StoredObject> found;
        auto table = tables_.find(resource);
        if (table == tables_.end()) co_return found;
        auto row = table->second.lower_bound(RowKey{namespace_, ""});
        if (after) {
            auto next = table->second.upper_bound(RowKey{after->namespace_, after->name});
            // `after` may lie before the namespace that is asked for.
            if (row == table->second.end() || next == table->second.end() ||
                row->first < next->first)
                row = next;
        }
        for (; row != table->second.end(); ++row) {
            if (!namespace_.empty() && row->first.first != namespace_) break;
            if (limit > 0 && found.size() == limit) break;
            found.push_back({StoreKey{resource, row->first.first, row->first.second},
                             row->second.revision, row->second.object});
        }
        co_return found;
    }

    void observe(Observer observer) override { observer_ = std::move(observer); }

  private:
    using RowKey = std::pair<std::string, std::string>;  // namespace, name
    struct Row {
        Revision revision = 0;
        kube::ObjectPtr object;
    };
    using Table = std::map<RowKey, Row>;

    static std::string describe(const StoreKey& key) {
        return fmt::format("{} \"{}\"", key.resource, key.name);
    }

    Result<Table::iterator> find(const StoreKey& key, Revision expected) {
        auto table = tables_.find(key.resource);
        if (table == tables_.end()) return Error(Code::kNotFound, describe(key) + " not found");
        auto row = table->second.find(RowKey{key.namespace_, key.name});
        if (row == table->second.end()) return Error(Code::kNotFound, describe(key) + " not found");
        if (row->second.revision != expected)
            return Error(Code::kConflict, fmt::format("{} is at revision {}, not {}", describe(key),
                                                      row->second.revision, expected));
        return row;
    }

    StoredObject committed(StoreKey key, kube::ObjectPtr result, kube::ObjectPtr object,
                           kube::ObjectPtr previous) {
        StoreChange change{std::move(key), revision_, std::move(object), std::move(previous)};
        if (observer_) observer_(change);
        return {std::move(change.key), change.revision, std::move(result)};
    }

    std::map<std::string, Table, std::less<>> tables_;
    Revision revision_ = 0;
    Observer observer_;
};

}  // namespace

std::unique_ptr<Store> make_memory_store() { return std::make_unique<MemoryStore>(); }

}  // namespace muster::apiserver
