#include "cel/internal/signatures.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>

#include "base/check.h"

namespace muster::cel {
namespace {

/// One per line: function, id, signature. `string.(int) -> bool` is a member function of strings;
/// A and B stand for any type. Sources: cel-go v0.23.2 common/stdlib and ext, and the libraries of
/// k8s.io/apiserver v0.33 pkg/cel/library.
constexpr std::string_view kTable = R"(
_?_:_ conditional (bool, A, A) -> A
_&&_ logical_and (bool, bool) -> bool
_||_ logical_or (bool, bool) -> bool
!_ logical_not (bool) -> bool
@not_strictly_false not_strictly_false (bool) -> bool
_==_ equals (A, A) -> bool
_!=_ not_equals (A, A) -> bool

_+_ add_bytes (bytes, bytes) -> bytes
_+_ add_double (double, double) -> double
_+_ add_duration_duration (duration, duration) -> duration
_+_ add_duration_timestamp (duration, timestamp) -> timestamp
_+_ add_timestamp_duration (timestamp, duration) -> timestamp
_+_ add_int64 (int, int) -> int
_+_ add_list (list(A), list(A)) -> list(A)
_+_ add_string (string, string) -> string
_+_ add_uint64 (uint, uint) -> uint
_-_ subtract_double (double, double) -> double
_-_ subtract_duration_duration (duration, duration) -> duration
_-_ subtract_int64 (int, int) -> int
_-_ subtract_timestamp_duration (timestamp, duration) -> timestamp
_-_ subtract_timestamp_timestamp (timestamp, timestamp) -> duration
_-_ subtract_uint64 (uint, uint) -> uint
_*_ multiply_double (double, double) -> double
_*_ multiply_int64 (int, int) -> int
_*_ multiply_uint64 (uint, uint) -> uint
_/_ divide_double (double, double) -> double
_/_ divide_int64 (int, int) -> int
_/_ divide_uint64 (uint, uint) -> uint
_%_ modulo_int64 (int, int) -> int
_%_ modulo_uint64 (uint, uint) -> uint
-_ negate_double (double) -> double
-_ negate_int64 (int) -> int

_[_] index_list (list(A), int) -> A
_[_] index_map (map(A, B), A) -> B
_[_] optional_list_index_int (optional_type(list(A)), int) -> optional_type(A)
_[_] optional_map_index_value (optional_type(map(A, B)), A) -> optional_type(B)
_[?_] list_optindex_optional_int (list(A), int) -> optional_type(A)
_[?_] optional_list_optindex_optional_int (optional_type(list(A)), int) -> optional_type(A)
_[?_] map_optindex_optional_value (map(A, B), A) -> optional_type(B)
_[?_] optional_map_optindex_optional_value (optional_type(map(A, B)), A) -> optional_type(B)
@in in_list (A, list(A)) -> bool
@in in_map (A, map(A, B)) -> bool
size size_bytes (bytes) -> int
size bytes_size bytes.() -> int
size size_list (list(A)) -> int
size list_size list(A).() -> int
size size_map (map(A, B)) -> int
size map_size map(A, B).() -> int
size size_string (string) -> int
size string_size string.() -> int

type type (A) -> type(A)
dyn to_dyn (A) -> dyn
bool bool_to_bool (bool) -> bool
bool string_to_bool (string) -> bool
bytes bytes_to_bytes (bytes) -> bytes
bytes string_to_bytes (string) -> bytes
double double_to_double (double) -> double
double int64_to_double (int) -> double
double string_to_double (string) -> double
double uint64_to_double (uint) -> double
duration duration_to_duration (duration) -> duration
duration int64_to_duration (int) -> duration
duration string_to_duration (string) -> duration
int int64_to_int64 (int) -> int
int double_to_int64 (double) -> int
int duration_to_int64 (duration) -> int
int string_to_int64 (string) -> int
int timestamp_to_int64 (timestamp) -> int
int uint64_to_int64 (uint) -> int
string string_to_string (string) -> string
string bool_to_string (bool) -> string
string bytes_to_string (bytes) -> string
string double_to_string (double) -> string
string duration_to_string (duration) -> string
string int64_to_string (int) -> string
string timestamp_to_string (timestamp) -> string
string uint64_to_string (uint) -> string
string ip_to_string (net.IP) -> string
string cidr_to_string (net.CIDR) -> string
timestamp timestamp_to_timestamp (timestamp) -> timestamp
timestamp int64_to_timestamp (int) -> timestamp
timestamp string_to_timestamp (string) -> timestamp
uint uint64_to_uint64 (uint) -> uint
uint double_to_uint64 (double) -> uint
uint int64_to_uint64 (int) -> uint
uint string_to_uint64 (string) -> uint

contains contains_string string.(string) -> bool
endsWith ends_with_string string.(string) -> bool
startsWith starts_with_string string.(string) -> bool
matches matches (string, string) -> bool
matches matches_string string.(string) -> bool
getFullYear timestamp_to_year timestamp.() -> int
getFullYear timestamp_to_year_with_tz timestamp.(string) -> int
getMonth timestamp_to_month timestamp.() -> int
getMonth timestamp_to_month_with_tz timestamp.(string) -> int
getDayOfYear timestamp_to_day_of_year timestamp.() -> int
getDayOfYear timestamp_to_day_of_year_with_tz timestamp.(string) -> int
getDayOfMonth timestamp_to_day_of_month timestamp.() -> int
getDayOfMonth timestamp_to_day_of_month_with_tz timestamp.(string) -> int
getDate timestamp_to_day_of_month_1_based timestamp.() -> int
getDate timestamp_to_day_of_month_1_based_with_tz timestamp.(string) -> int
getDayOfWeek timestamp_to_day_of_week timestamp.() -> int
getDayOfWeek timestamp_to_day_of_week_with_tz timestamp.(string) -> int
getHours timestamp_to_hours timestamp.() -> int
getHours timestamp_to_hours_with_tz timestamp.(string) -> int
getHours duration_to_hours duration.() -> int
getMinutes timestamp_to_minutes timestamp.() -> int
getMinutes timestamp_to_minutes_with_tz timestamp.(string) -> int
getMinutes duration_to_minutes duration.() -> int
getSeconds timestamp_to_seconds timestamp.() -> int
getSeconds timestamp_to_seconds_tz timestamp.(string) -> int
getSeconds duration_to_seconds duration.() -> int
getMilliseconds timestamp_to_milliseconds timestamp.() -> int
getMilliseconds timestamp_to_milliseconds_with_tz timestamp.(string) -> int
getMilliseconds duration_to_milliseconds duration.() -> int

charAt string_char_at_int string.(int) -> string
indexOf string_index_of_string string.(string) -> int
indexOf string_index_of_string_int string.(string, int) -> int
indexOf list_a_index_of_int list(A).(A) -> int
lastIndexOf string_last_index_of_string string.(string) -> int
lastIndexOf string_last_index_of_string_int string.(string, int) -> int
lastIndexOf list_a_last_index_of_int list(A).(A) -> int
lowerAscii string_lower_ascii string.() -> string
upperAscii string_upper_ascii string.() -> string
replace string_replace_string_string string.(string, string) -> string
replace string_replace_string_string_int string.(string, string, int) -> string
split string_split_string string.(string) -> list(string)
split string_split_string_int string.(string, int) -> list(string)
substring string_substring_int string.(int) -> string
substring string_substring_int_int string.(int, int) -> string
trim string_trim string.() -> string
format string_format string.(list(dyn)) -> string
strings.quote strings_quote (string) -> string
join list_join list(string).() -> string
join list_join_string list(string).(string) -> string

sets.contains list_sets_contains_list (list(A), list(A)) -> bool
sets.equivalent list_sets_equivalent_list (list(A), list(A)) -> bool
sets.intersects list_sets_intersects_list (list(A), list(A)) -> bool
cel.@mapInsert @mapInsert_map_key_value (map(A, B), A, B) -> map(A, B)
cel.@mapInsert @mapInsert_map_map (map(A, B), map(A, B)) -> map(A, B)

optional.of optional_of (A) -> optional_type(A)
optional.ofNonZeroValue optional_ofNonZeroValue (A) -> optional_type(A)
optional.none optional_none () -> optional_type(A)
value optional_value optional_type(A).() -> A
hasValue optional_hasValue optional_type(A).() -> bool
or optional_or_optional optional_type(A).(optional_type(A)) -> optional_type(A)
orValue optional_orValue_value optional_type(A).(A) -> A
first list_first list(A).() -> optional_type(A)
last list_last list(A).() -> optional_type(A)
optional.unwrap optional_unwrap (list(optional_type(A))) -> list(A)
unwrapOpt optional_unwrapOpt list(optional_type(A)).() -> list(A)

find string_find_string string.(string) -> string
findAll string_find_all_string string.(string) -> list(string)
findAll string_find_all_string_int string.(string, int) -> list(string)
url string_to_url (string) -> kubernetes.URL
isURL is_url_string (string) -> bool
getScheme url_get_scheme kubernetes.URL.() -> string
getHost url_get_host kubernetes.URL.() -> string
getHostname url_get_hostname kubernetes.URL.() -> string
getPort url_get_port kubernetes.URL.() -> string
getEscapedPath url_get_escaped_path kubernetes.URL.() -> string
getQuery url_get_query kubernetes.URL.() -> map(string, list(string))
quantity string_to_quantity (string) -> kubernetes.Quantity
isQuantity is_quantity_string (string) -> bool
sign quantity_sign (kubernetes.Quantity) -> int
isGreaterThan quantity_is_greater_than kubernetes.Quantity.(kubernetes.Quantity) -> bool
isGreaterThan semver_is_greater_than kubernetes.Semver.(kubernetes.Semver) -> bool
isLessThan quantity_is_less_than kubernetes.Quantity.(kubernetes.Quantity) -> bool
isLessThan semver_is_less_than kubernetes.Semver.(kubernetes.Semver) -> bool
compareTo quantity_compare_to kubernetes.Quantity.(kubernetes.Quantity) -> int
compareTo semver_compare_to kubernetes.Semver.(kubernetes.Semver) -> int
asApproximateFloat quantity_get_float kubernetes.Quantity.() -> double
asInteger quantity_get_int kubernetes.Quantity.() -> int
isInteger quantity_is_integer kubernetes.Quantity.() -> bool
add quantity_add kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity
add quantity_add_int kubernetes.Quantity.(int) -> kubernetes.Quantity
sub quantity_sub kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity
sub quantity_sub_int kubernetes.Quantity.(int) -> kubernetes.Quantity
semver string_to_semver (string) -> kubernetes.Semver
semver string_bool_to_semver (string, bool) -> kubernetes.Semver
isSemver is_semver_string (string) -> bool
isSemver is_semver_string_bool (string, bool) -> bool
major semver_major kubernetes.Semver.() -> int
minor semver_minor kubernetes.Semver.() -> int
patch semver_patch kubernetes.Semver.() -> int
ip string_to_ip (string) -> net.IP
ip cidr_ip net.CIDR.() -> net.IP
ip.isCanonical ip_is_canonical (string) -> bool
isIP is_ip (string) -> bool
family ip_family net.IP.() -> int
isUnspecified ip_is_unspecified net.IP.() -> bool
isLoopback ip_is_loopback net.IP.() -> bool
isLinkLocalMulticast ip_is_link_local_multicast net.IP.() -> bool
isLinkLocalUnicast ip_is_link_local_unicast net.IP.() -> bool
isGlobalUnicast ip_is_global_unicast net.IP.() -> bool
cidr string_to_cidr (string) -> net.CIDR
isCIDR is_cidr (string) -> bool
containsIP cidr_contains_ip_string net.CIDR.(string) -> bool
containsIP cidr_contains_ip_ip net.CIDR.(net.IP) -> bool
containsCIDR cidr_contains_cidr_string net.CIDR.(string) -> bool
containsCIDR cidr_contains_cidr net.CIDR.(net.CIDR) -> bool
prefixLength cidr_prefix_length net.CIDR.() -> int
masked cidr_masked net.CIDR.() -> net.CIDR
format.named format-named (string) -> optional_type(kubernetes.NamedFormat)
validate format-validate kubernetes.NamedFormat.(string) -> optional_type(list(string))
path authorizer_path kubernetes.authorization.Authorizer.(string) -> kubernetes.authorization.PathCheck
group authorizer_group kubernetes.authorization.Authorizer.(string) -> kubernetes.authorization.GroupCheck
serviceAccount authorizer_serviceaccount kubernetes.authorization.Authorizer.(string, string) -> kubernetes.authorization.Authorizer
resource groupcheck_resource kubernetes.authorization.GroupCheck.(string) -> kubernetes.authorization.ResourceCheck
subresource resourcecheck_subresource kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck
namespace resourcecheck_namespace kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck
name resourcecheck_name kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck
fieldSelector authorizer_fieldselector kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck
labelSelector authorizer_labelselector kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck
check pathcheck_check kubernetes.authorization.PathCheck.(string) -> kubernetes.authorization.Decision
check resourcecheck_check kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.Decision
errored decision_errored kubernetes.authorization.Decision.() -> bool
error decision_error kubernetes.authorization.Decision.() -> string
allowed decision_allowed kubernetes.authorization.Decision.() -> bool
reason decision_reason kubernetes.authorization.Decision.() -> string
)";

/// Functions that have the same signatures for each of several types.
constexpr std::array<std::string_view, 13> kFormats = {"dns1123Label",
                                                       "dns1123Subdomain",
                                                       "dns1035Label",
                                                       "qualifiedName",
                                                       "dns1123LabelPrefix",
                                                       "dns1123SubdomainPrefix",
                                                       "dns1035LabelPrefix",
                                                       "labelValue",
                                                       "uri",
                                                       "uuid",
                                                       "byte",
                                                       "date",
                                                       "datetime"};

class SignatureReader {
  public:
    explicit SignatureReader(std::string_view text) : text_(text) {}

    Signature read(std::string_view id) {
        Signature signature{.id = id, .member = false, .arguments = {}, .result = {}};
        if (!text_.starts_with('(')) {
            signature.member = true;
            signature.arguments.push_back(type());
            take(".");
        }
        take("(");
        while (!text_.starts_with(')')) {
            signature.arguments.push_back(type());
            if (text_.starts_with(", ")) take(", ");
        }
        take(") -> ");
        signature.result = type();
        CHECK(text_.empty(), "a signature ends with its result");
        signature.generic = generic_;
        return signature;
    }

  private:
    void take(std::string_view wanted) {
        CHECK(text_.starts_with(wanted), "a signature is written as the others are");
        text_.remove_prefix(wanted.size());
    }
    std::string_view word() {
        std::size_t length = 0;
        while (length < text_.size()) {
            const char c = text_[length];
            // The dot of a member function is followed by its arguments.
            const bool dot = c == '.' && length + 1 < text_.size() && text_[length + 1] != '(';
            if (!dot && !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')) break;
            ++length;
        }
        const std::string_view found = text_.substr(0, length);
        text_.remove_prefix(length);
        return found;
    }
    Type type() {
        const std::string name(word());
        std::vector<Type> parameters;
        if (text_.starts_with('(')) {
            take("(");
            parameters.push_back(type());
            if (text_.starts_with(", ")) {
                take(", ");
                parameters.push_back(type());
            }
            take(")");
        }
        if (name == "A" || name == "B") {
            generic_ = true;
            return Type::parameter(name);
        }
        if (name == "dyn") return Type::Kind::kDyn;
        if (name == "optional_type") return Type::optional(parameters.at(0));
        const Type* known = find_type(name);
        CHECK(known != nullptr, "a signature names types that there are");
        return parameters.empty() ? *known : known->with_parameters(std::move(parameters));
    }

    std::string_view text_;
    bool generic_ = false;
};

void add(std::vector<Function>& table, std::string_view name, Signature signature) {
    auto it = std::ranges::find(table, name, &Function::name);
    if (it == table.end()) it = table.insert(table.end(), Function{name, {}});
    it->signatures.push_back(std::move(signature));
}

/// A text that stays: signatures refer to it.
std::string_view kept(std::string text) {
    static std::deque<std::string> texts;
    return texts.emplace_back(std::move(text));
}

void add_comparisons(std::vector<Function>& table) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kComparisons = {
        {{"_<_", "less"}, {"_<=_", "less_equals"}, {"_>_", "greater"}, {"_>=_", "greater_equals"}}};
    static constexpr std::array<std::array<std::string_view, 3>, 14> kPairs = {{
        {"bool", "bool", "bool"},
        {"int64", "int", "int"},
        {"int64_double", "int", "double"},
        {"int64_uint64", "int", "uint"},
        {"uint64", "uint", "uint"},
        {"uint64_double", "uint", "double"},
        {"uint64_int64", "uint", "int"},
        {"double", "double", "double"},
        {"double_int64", "double", "int"},
        {"double_uint64", "double", "uint"},
        {"string", "string", "string"},
        {"bytes", "bytes", "bytes"},
        {"timestamp", "timestamp", "timestamp"},
        {"duration", "duration", "duration"},
    }};
    for (const auto& [name, word] : kComparisons)
        for (const auto& [suffix, left, right] : kPairs)
            add(table, name,
                {.id = kept(std::string(word) + "_" + std::string(suffix)),
                 .member = false,
                 .arguments = {*find_type(left), *find_type(right)},
                 .result = Type::Kind::kBool});
}

/// What is declared once for each type of the elements of a list.
void add_list_functions(std::vector<Function>& table) {
    for (std::string_view element :
         {"int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"}) {
        const Type type = *find_type(element);
        const std::string prefix = "list_" + std::string(element);
        auto add_member = [&](std::string_view name, const std::string& ending, Type result) {
            add(table, name,
                {.id = kept(prefix + ending),
                 .member = true,
                 .arguments = {Type::list(type)},
                 .result = std::move(result)});
        };
        const std::string of_element = "_" + std::string(element);
        add_member("isSorted", "_is_sorted_bool", Type::Kind::kBool);
        add_member("min", "_min" + of_element, type);
        add_member("max", "_max" + of_element, type);
        const bool sums =
            element == "int" || element == "uint" || element == "double" || element == "duration";
        if (sums) add_member("sum", "_sum" + of_element, type);
    }
}

void add_formats(std::vector<Function>& table) {
    for (std::string_view format : kFormats) {
        const std::string_view name = kept("format." + std::string(format));
        add(table, name,
            {.id = name,
             .member = false,
             .arguments = {},
             .result = *find_type("kubernetes.NamedFormat")});
    }
}

std::vector<Function> read_table() {
    std::vector<Function> table;
    std::string_view rest = kTable;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(end + 1);
        if (line.empty()) continue;
        const std::size_t first = line.find(' ');
        const std::size_t second = line.find(' ', first + 1);
        add(table, line.substr(0, first),
            SignatureReader(line.substr(second + 1))
                .read(line.substr(first + 1, second - first - 1)));
    }
    add_comparisons(table);
    add_list_functions(table);
    add_formats(table);
    return table;
}

}  // namespace

std::span<const Function> functions() {
    static const std::vector<Function> table = read_table();
    return table;
}

const Function* find_function(std::string_view name) {
    static const auto index = [] {
        std::unordered_map<std::string_view, const Function*> made;
        for (const Function& function : functions()) made.emplace(function.name, &function);
        return made;
    }();
    const auto it = index.find(name);
    return it == index.end() ? nullptr : it->second;
}

const Type* find_type(std::string_view name) {
    using Kind = Type::Kind;
    static const std::map<std::string_view, Type> kTypes = {
        {"bool", Kind::kBool},
        {"bytes", Kind::kBytes},
        {"double", Kind::kDouble},
        {"int", Kind::kInt},
        {"uint", Kind::kUint},
        {"string", Kind::kString},
        {"null_type", Kind::kNull},
        {"duration", Kind::kDuration},
        {"timestamp", Kind::kTimestamp},
        {"google.protobuf.Duration", Kind::kDuration},
        {"google.protobuf.Timestamp", Kind::kTimestamp},
        {"list", Type::list(Kind::kDyn)},
        {"map", Type::map(Kind::kDyn, Kind::kDyn)},
        {"type", Kind::kType},
        {"optional_type", Type::optional(Kind::kDyn)},
        {"kubernetes.URL", Type::opaque("kubernetes.URL")},
        {"kubernetes.Quantity", Type::opaque("kubernetes.Quantity")},
        {"kubernetes.Semver", Type::opaque("kubernetes.Semver")},
        {"kubernetes.NamedFormat", Type::opaque("kubernetes.NamedFormat")},
        {"kubernetes.authorization.Authorizer",
         Type::opaque("kubernetes.authorization.Authorizer")},
        {"kubernetes.authorization.PathCheck", Type::opaque("kubernetes.authorization.PathCheck")},
        {"kubernetes.authorization.GroupCheck",
         Type::opaque("kubernetes.authorization.GroupCheck")},
        {"kubernetes.authorization.ResourceCheck",
         Type::opaque("kubernetes.authorization.ResourceCheck")},
        {"kubernetes.authorization.Decision", Type::opaque("kubernetes.authorization.Decision")},
        {"net.IP", Type::opaque("net.IP")},
        {"net.CIDR", Type::opaque("net.CIDR")},
    };
    const auto it = kTypes.find(name);
    return it == kTypes.end() ? nullptr : &it->second;
}

}  // namespace muster::cel
