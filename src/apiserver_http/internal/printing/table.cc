#include "apiserver_http/internal/printing/table.h"

#include <algorithm>

#include "apiserver_http/internal/printing/cell_text.h"
#include "apiserver_http/internal/printing/custom_columns.h"
#include "apiserver_http/internal/printing/fields.h"
#include "apiserver_http/internal/printing/printer.h"

namespace muster::apiserver_http {

namespace {

constexpr std::string_view kMetaVersion = "meta.k8s.io/v1";

/// For kinds without columns of their own.
constexpr Column kPlainColumns[] = {
    kNameColumn,
    {"Created At", "date", "", "When the object was created."},
};

json::array plain_cells(const json::object& object, WallTime) {
    return {name_of(object), string_at(metadata_of(object), "creationTimestamp")};
}

constexpr Printer kPlain{"", kPlainColumns, plain_cells};

json::array definitions(std::span<const Column> columns) {
    json::array list;
    for (const Column& column : columns)
        list.push_back(json::object{{"name", column.name},
                                    {"type", column.type},
                                    {"format", column.format},
                                    {"description", column.description},
                                    {"priority", column.priority}});
    return list;
}

json::object list_metadata(const ListMeta& meta) {
    json::object metadata;
    if (!meta.resource_version.empty()) metadata["resourceVersion"] = meta.resource_version;
    if (!meta.continue_.empty()) metadata["continue"] = meta.continue_;
    if (meta.remaining) metadata["remainingItemCount"] = *meta.remaining;
    return metadata;
}

const Printer& printer_of(const apiserver::ResourceDef& def) {
    const Printer* printer = def.custom ? nullptr : builtin_printer(def.type.qualified());
    return printer == nullptr ? kPlain : *printer;
}

}  // namespace

const Printer* builtin_printer(std::string_view resource) {
    for (const std::span<const Printer> table :
         {pod_printers(), workload_printers(), network_printers(), cluster_printers(),
          access_printers(), storage_printers()})
        if (auto it = std::ranges::find(table, resource, &Printer::resource); it != table.end())
            return &*it;
    return nullptr;
}

json::object make_table(const apiserver::ResourceDef& def,
                        std::span<const store::ObjectTextPtr> items, const ListMeta& meta,
                        const TableOptions& options, WallTime now) {
    json::array rows;
    rows.reserve(items.size());
    for (const store::ObjectTextPtr& item : items)
        rows.push_back(make_table_row(def, *item->tree(), options.row_object, now));
    json::object table{{"kind", "Table"},
                       {"apiVersion", kMetaVersion},
                       {"metadata", list_metadata(meta)},
                       {"columnDefinitions", nullptr},
                       {"rows", std::move(rows)}};
    if (options.with_columns)
        table["columnDefinitions"] =
            def.custom ? custom_column_definitions(def) : definitions(printer_of(def).columns);
    return table;
}

json::object make_table_row(const apiserver::ResourceDef& def, const json::value& object,
                            TableOptions::RowObject row_object, WallTime now) {
    const json::object& fields = object.get_object();
    json::object row;
    row["cells"] = def.custom ? custom_cells(def, object, now) : printer_of(def).cells(fields, now);
    switch (row_object) {
        case TableOptions::RowObject::kNone:
            row["object"] = nullptr;
            break;
        case TableOptions::RowObject::kMetadata:
            row["object"] = partial_metadata(fields);
            break;
        case TableOptions::RowObject::kFull:
            row["object"] = fields;
            break;
    }
    return row;
}

json::object partial_metadata(const json::object& object) {
    return {{"kind", "PartialObjectMetadata"},
            {"apiVersion", kMetaVersion},
            {"metadata", metadata_of(object)}};
}

json::object partial_metadata_list(std::span<const store::ObjectTextPtr> items,
                                   const ListMeta& meta) {
    json::array list;
    list.reserve(items.size());
    for (const store::ObjectTextPtr& item : items)
        list.push_back(partial_metadata(item->tree()->get_object()));
    return {{"kind", "PartialObjectMetadataList"},
            {"apiVersion", kMetaVersion},
            {"metadata", list_metadata(meta)},
            {"items", std::move(list)}};
}

}  // namespace muster::apiserver_http
