#include "kube/values/name_syntax.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster::kube::name_syntax_test {
namespace {

using Names = std::vector<std::string>;

std::string of(std::size_t size) { return std::string(size, 'a'); }
std::string subdomain(std::size_t size) {
    std::string name;
    while (name.size() < size) name += name.size() % 2 == 0 ? 'a' : '.';
    return name;
}

// Rows of apimachinery pkg/util/validation/validation_test.go: TestIsDNS1123Label,
// TestIsDNS1123Subdomain, TestIsDNS1035Label, TestIsValidPortName.
TEST(NameSyntax, EachRuleTakesItsNamesAndNoOthers) {
    const struct {
        const char* rule;
        bool (*holds)(std::string_view);
        Names good;
        Names bad;
    } kRules[] = {
        {"DNS-1123 label",
         is_dns1123_label,
         {"a", "ab", "abc", "a1", "a-1", "a--1--2--b", "0", "01", "1a", "1-a--b--c", of(63)},
         {"",    "A",   "ABC", "aBc", "-", "a-", "-a", "1-",  "-1",  "_",        "a_",  "_a",
          "a_b", "a.b", "a.",  ".a",  " ", "a ", " a", "a b", "a\n", "\xc3\xa9", of(64)}},
        {"DNS-1123 subdomain",
         is_dns1123_subdomain,
         {"a", "0", "a-1", "a.a", "a.b.c.d.e", "1.2.3", "0.a-b.c0", "aaa.aa", of(64), of(253),
          subdomain(253)},
         {"",     "A",   "-",     "a-",  "-a",  "_",  ".",  "a.",   ".a",    "a..b",        "a.-b",
          "a-.b", "a.B", "a_b.c", "a b", "a,b", "1.", ".1", "a.b.", of(254), subdomain(255)}},
        {"DNS-1035 label",
         is_dns1035_label,
         {"a", "ab", "a1", "a-1", "a--1--2--b", of(63)},
         {"", "0", "01", "1a", "1-a", "A", "aBc", "-", "a-", "-a", "_", "a_b", "a.b", "a b",
          "\xc3\xa9", of(64)}},
        {"the form of a DNS-1035 label",
         has_dns1035_form,
         {"a", "a-1", of(64), of(300)},
         {"", "0", "1a", "a-", "-a", "A", "a_b", "a.b"}},
        {"port name",
         is_port_name,
         {"a", "http", "a-1", "1a", "telnet", "re-mail-ck", "pytorchjob-port"},
         {"", "1", "1-2", "a--b", "-a", "a-", "A", "a_b", "pytorchjob-ports", "a\xc3\xa9"}},
        {"variable's name",
         is_env_name,
         {"A", "a.b", "my-var", "1A", "A B", "~", of(300)},
         {"", "=", "A=1", "A\n", "A\t", "\x7f",
          "gr\xc3\xb6\xc3\x9f"
          "e"}},
        {"native resource",
         is_native_resource,
         {"cpu", "memory", "hugepages-2Mi", "kubernetes.io/x", "requests.kubernetes.io/x"},
         {"nvidia.com/gpu", "tencent.com/vcuda-core", "kubernetes.example/x"}},
    };
    for (const auto& rule : kRules) {
        for (const std::string& name : rule.good)
            EXPECT_TRUE(rule.holds(name)) << rule.rule << ": " << name;
        for (const std::string& name : rule.bad)
            EXPECT_FALSE(rule.holds(name)) << rule.rule << ": " << name;
    }
}

// apimachinery pkg/util/validation/validation_test.go: TestIsQualifiedName, TestIsValidLabelValue.
TEST(NameSyntax, LabelKeys) {
    for (const char* good :
         {"simple", "now-with-dashes", "1-starts-with-num", "1234", "simple/simple",
          "now-with-dashes/simple", "now-with-dashes/now-with-dashes", "now.with.dots/simple",
          "1-num.2-num/3-num", "1234/5678", "1.2.3.4/5678", "Uppercase_Is_OK_123",
          "example.com/Uppercase_Is_OK_123", "requests.storage-foo"})
        EXPECT_EQ(label_key_problem(good), "") << good;
    EXPECT_EQ(label_key_problem(std::string(63, 'a')), "");
    EXPECT_EQ(label_key_problem(std::string(253, 'a') + "/" + std::string(63, 'b')), "");
    for (const char* bad : {"nospecialchars%^=@", "cantendwithadash-", "-cantstartwithadash-",
                            "only/one/slash", "Example.com/abc", "example_com/abc", "example.com/",
                            "/simple", "", "a..b/c", "a b", "a./c", "-a/c"})
        EXPECT_NE(label_key_problem(bad), "") << bad;
    EXPECT_NE(label_key_problem(std::string(64, 'a')), "");
    EXPECT_NE(label_key_problem(std::string(254, 'a') + "/abc"), "");
}

TEST(NameSyntax, LabelValues) {
    for (const char* good :
         {"simple", "now-with-dashes", "1-starts-with-num", "end-with-num-1", "1234", "", "A_b.C"})
        EXPECT_EQ(label_value_problem(good), "") << good;
    EXPECT_EQ(label_value_problem(std::string(63, 'a')), "");
    for (const char* bad : {"nospecialchars%^=@", "Tama-nui-te-rā.is.Māori.sun",
                            "\\backslashes\\are\\bad", "-starts-with-dash", "ends-with-dash-",
                            ".starts.with.dot", "ends.with.dot.", "a b", "a/b", "a\n"})
        EXPECT_NE(label_value_problem(bad), "") << bad;
    EXPECT_NE(label_value_problem(std::string(64, 'a')), "");
}

}  // namespace
}  // namespace muster::kube::name_syntax_test
