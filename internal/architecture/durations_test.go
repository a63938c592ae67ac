package architecture

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A unit that is not seconds. Stored records, and messages between processes, have such units.
var (
	otherUnit = regexp.MustCompile(`_(?:ns|us|µs|ms|s|sec|secs|min|nanos|micros|millis)$`)
	stored    = []string{
		"assign/internal/", "internal/protocol/", // records, and messages
		"bench/", "examples/", "propertytests/", // reports that name their unit
	}
)

// TestSecondsInJSON: durations that rolectl, /status and the page show are numbers of seconds, with
// names that end in _seconds. A time.Duration would be nanoseconds.
func TestSecondsInJSON(t *testing.T) {
	for _, path := range sources(t) {
		if strings.HasSuffix(path, "_test.go") ||
			slices.ContainsFunc(stored, func(p string) bool { return strings.HasPrefix(path, p) }) {
			continue
		}
		for _, fault := range durationFaults(t, path, read(t, path)) {
			t.Error(fault)
		}
	}
	var schema any
	if err := json.Unmarshal([]byte(read(t, "docs/reference/rolectl-v1.json")), &schema); err != nil {
		t.Fatal(err)
	}
	names := properties(schema)
	if len(names) < 100 {
		t.Errorf("the schema of rolectl has %d properties", len(names))
	}
	for _, name := range names {
		if otherUnit.MatchString(name) {
			t.Errorf("rolectl-v1.json: %s: durations are numbers of seconds, and their names end in _seconds", name)
		}
	}
}

// durationFaults are the fields of a source that show a duration in JSON otherwise.
func durationFaults(t *testing.T, path, text string) (faults []string) {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok || field.Tag == nil {
			return true
		}
		tag, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		of := strings.TrimPrefix(typeName(field.Type), "*")
		switch {
		case name == "" || name == "-":
		case otherUnit.MatchString(name):
			faults = append(faults, fmt.Sprintf("%v: %s: use seconds, and a name that ends in _seconds",
				set.Position(field.Pos()), name))
		case of == "time.Duration":
			faults = append(faults, fmt.Sprintf("%v: %s is nanoseconds in JSON: use internal/seconds",
				set.Position(field.Pos()), name))
		case of == "seconds.Duration" && !strings.HasSuffix(name, "_seconds"):
			faults = append(faults, fmt.Sprintf("%v: %s: end the name in _seconds", set.Position(field.Pos()), name))
		}
		return true
	})
	return faults
}

// typeName is the name of a type of another package, with a star before a pointer to it; "" for all
// others.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return "*" + typeName(e.X)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
	}
	return ""
}

// properties are the names of all fields that a schema describes.
func properties(schema any) (names []string) {
	switch s := schema.(type) {
	case map[string]any:
		if fields, ok := s["properties"].(map[string]any); ok {
			for name := range fields {
				names = append(names, name)
			}
		}
		for _, below := range s {
			names = append(names, properties(below)...)
		}
	case []any:
		for _, below := range s {
			names = append(names, properties(below)...)
		}
	}
	return names
}

func TestSecondsInJSONFinds(t *testing.T) {
	const source = "package p\n\ntype t struct {\n" +
		"A time.Duration `json:\"-\"`\nB *seconds.Duration `json:\"b_seconds,omitzero\"`\nC float64 `json:\"c_seconds\"`\n" +
		"D time.Duration `json:\"d_seconds\"`\nE int64 `json:\"e_ms\"`\nF *seconds.Duration `json:\"f\"`\n" +
		"G *time.Duration `json:\"g,omitempty\"`\nH int `json:\"roles\"`\n}\n"
	if faults := durationFaults(t, "p.go", source); len(faults) != 4 {
		t.Errorf("%d faults:\n%s", len(faults), strings.Join(faults, "\n"))
	}
	var schema any
	if err := json.Unmarshal([]byte(`{"x":[{"properties":{"a_ms":{"properties":{"b":{}}}}}]}`), &schema); err != nil {
		t.Fatal(err)
	}
	if names := properties(schema); !slices.Equal(names, []string{"a_ms", "b"}) {
		t.Error(names)
	}
}
