// Evaluates expressions as kube-apiserver does, one a line: {"expression": ..., "object": ...} on standard input is answered by
// {"refused": ...}, {"value": ...} or {"error": ...}, with {"cost": ...} of the evaluation and {"most": ...} of the estimate.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

type question struct {
	Expression string `json:"expression"`
	Object     any    `json:"object"`
}

type answer struct {
	Refused string `json:"refused,omitempty"`
	Value   string `json:"value,omitempty"`
	Error   string `json:"error,omitempty"`
	Cost    uint64 `json:"cost,omitempty"`
	Most    uint64 `json:"most,omitempty"`
	Panic   string `json:"panic,omitempty"`
}

// whole turns numbers without a fraction into integers, as the decoder of Kubernetes does.
func whole(value any) any {
	switch held := value.(type) {
	case json.Number:
		if number, err := held.Int64(); err == nil {
			return number
		}
		number, _ := held.Float64()
		return number
	case []any:
		for i := range held {
			held[i] = whole(held[i])
		}
	case map[string]any:
		for key := range held {
			held[key] = whole(held[key])
		}
	}
	return value
}

func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		if i := strings.IndexRune("\a\b\f\n\r\t\v\\\"", r); i >= 0 {
			b.WriteByte('\\')
			b.WriteByte("abfnrtv\\\""[i])
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func literal(value ref.Val) string {
	switch v := value.(type) {
	case types.Null:
		return "null"
	case types.Bool:
		return strconv.FormatBool(bool(v))
	case types.Int:
		return strconv.FormatInt(int64(v), 10)
	case types.Uint:
		return strconv.FormatUint(uint64(v), 10) + "u"
	case types.Double:
		text := fmt.Sprintf("%g", float64(v))
		if strings.Trim(text, "-0123456789") == "" {
			text += ".0"
		}
		return text
	case types.String:
		return quoted(string(v))
	case types.Bytes:
		return "b" + quoted(string(v))
	case types.Duration:
		return "duration(" + quoted(string(v.ConvertToType(types.StringType).(types.String))) + ")"
	case types.Timestamp:
		return "timestamp(" + quoted(string(v.ConvertToType(types.StringType).(types.String))) + ")"
	case *types.Type:
		return v.TypeName()
	case *types.Optional:
		if !v.HasValue() {
			return "optional.none()"
		}
		return "optional.of(" + literal(v.GetValue()) + ")"
	case apiservercel.Quantity:
		return "kubernetes.Quantity(" + quoted(v.Quantity.String()) + ")"
	case *apiservercel.Quantity:
		return "kubernetes.Quantity(" + quoted(v.Quantity.String()) + ")"
	case apiservercel.IP:
		return "net.IP(" + quoted(v.Addr.String()) + ")"
	case apiservercel.CIDR:
		return "net.CIDR(" + quoted(v.Prefix.String()) + ")"
	case apiservercel.URL:
		return "kubernetes.URL(" + quoted(v.URL.String()) + ")"
	case traits.Lister:
		parts := []string{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			parts = append(parts, literal(it.Next()))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case traits.Mapper:
		parts := []string{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			parts = append(parts, literal(key)+": "+literal(v.Get(key)))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return value.Type().TypeName()
}

// rights allow to get, and fail where they are asked for "fail".
func rights(_ context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
	switch asked.GetVerb() {
	case "get":
		return authorizer.DecisionAllow, "because", nil
	case "fail":
		return authorizer.DecisionNoOpinion, "", errors.New("no answer")
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func evaluate(env *cel.Env, asked question) (said answer) {
	// cel-go v0.23.2 panics while it checks some literals with optional elements.
	defer func() {
		if reason := recover(); reason != nil {
			said = answer{Panic: fmt.Sprint(reason)}
		}
	}()
	checked, issues := env.Compile(asked.Expression)
	if issues != nil && issues.Err() != nil {
		first := issues.Errors()[0]
		return answer{Refused: first.Message}
	}
	program, err := env.Program(checked, cel.CostLimit(1000000), cel.CostTracking(&library.CostEstimator{}))
	if err != nil {
		return answer{Refused: err.Error()}
	}
	if estimate, err := env.EstimateCost(checked, &library.CostEstimator{}); err == nil {
		said.Most = estimate.Max
	}
	value, details, err := program.Eval(map[string]any{
		"object":     whole(asked.Object),
		"authorizer": library.NewAuthorizerVal(&user.DefaultInfo{Name: "someone"}, authorizer.AuthorizerFunc(rights)),
	})
	if details != nil && details.ActualCost() != nil {
		said.Cost = *details.ActualCost()
	}
	if err != nil {
		said.Error = err.Error()
	} else {
		said.Value = literal(value)
	}
	return said
}

func main() {
	set := environment.MustBaseEnvSet(version.MajorMinor(1, 33), true)
	extended, err := set.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []cel.EnvOption{
			cel.Variable("object", cel.DynType), cel.Variable("authorizer", library.AuthorizerType),
		},
	})
	if err != nil {
		panic(err)
	}
	env := extended.StoredExpressionsEnv()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<24)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		var asked question
		decoder := json.NewDecoder(strings.NewReader(in.Text()))
		decoder.UseNumber()
		if err := decoder.Decode(&asked); err != nil {
			panic(err)
		}
		said, _ := json.Marshal(evaluate(env, asked))
		out.Write(said)
		out.WriteByte('\n')
	}
}
