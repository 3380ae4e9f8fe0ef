#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::cli {

struct TableRow {
    std::vector<std::string> cells;
    std::string namespace_;
    std::string name;
    std::string labels;  ///< "a=b,c=d"; "<none>"
};

/// Rows of objects for people, as a server makes them.
struct ObjectTable {
    struct Column {
        std::string name;
        bool wide = false;  ///< shown on request only
    };
    std::vector<Column> columns;
    std::vector<TableRow> rows;
    std::string resource_version;
    std::string continue_;  ///< where the next part begins; empty for the last one
};

/// A Table as a server sent it. If a server does not make Tables, the objects' names and ages:
/// `document` is then a list or one object. Pure.
ObjectTable read_table(const json::value& document, WallTime now);

struct TableStyle {
    bool wide = false;
    bool namespaces = false;  ///< a first column with the namespace
    bool labels = false;      ///< a last one with the labels
    bool header = true;
    std::string name_prefix = {};  ///< before each object's name: "pod/"
};

/// Writes tables whose columns keep their positions as rows arrive. Pure.
class TableWriter {
  public:
    explicit TableWriter(TableStyle style) : style_(std::move(style)) {}

    /// The rows of a table, with the header before the very first rows. A table without columns has
    /// those of the previous one, as in a watch.
    std::string write(const ObjectTable& table);

  private:
    using Line = std::vector<std::string>;
    Line header() const;
    Line line(const TableRow& row) const;

    TableStyle style_;
    std::vector<ObjectTable::Column> columns_;
    std::vector<std::size_t> widths_;
    bool begun_ = false;
};

/// A text that is safe in a table and on a terminal: one line, no control characters.
std::string printable_cell(std::string_view text);

}  // namespace muster::cli
