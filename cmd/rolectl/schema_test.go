package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const schemaFile = "../../docs/reference/rolectl-v1.json"

// schemas are the documented schema, as a reader uses it, and a strict one: a field that is not
// documented is not a fault for a reader, but it is one of ours.
type schemas struct{ open, strict *jsonschema.Schema }

var compiled = sync.OnceValues(func() (s schemas, err error) {
	if s.open, err = compile(func(map[string]any) {}); err != nil {
		return s, err
	}
	s.strict, err = compile(func(object map[string]any) { object["unevaluatedProperties"] = false })
	return s, err
})

// compile reads the schema; edit may change the schema of each object that has named fields.
func compile(edit func(object map[string]any)) (*jsonschema.Schema, error) {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	each(doc, func(object map[string]any) {
		if _, named := object["properties"].(map[string]any); named && object["type"] == "object" {
			edit(object)
		}
	})
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(schemaFile, doc); err != nil {
		return nil, err
	}
	return c.Compile(schemaFile)
}

// each visits every object of a JSON value.
func each(value any, visit func(object map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		visit(v)
		for _, below := range v {
			each(below, visit)
		}
	case []any:
		for _, below := range v {
			each(below, visit)
		}
	}
}

// document checks JSON against the schema and reads it.
func document[T any](t *testing.T, text string) (d T) {
	t.Helper()
	s, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	for _, schema := range []*jsonschema.Schema{s.open, s.strict} {
		if err := schema.Validate(value); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	each(value, func(object map[string]any) { object["later"] = "a field that this version does not know" })
	if err := s.open.Validate(withoutMaps(value)); err != nil {
		t.Fatalf("with fields of a later version: %v\n%s", err, text)
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// withoutMaps takes the field of a later version out of what has names of the user's rather than
// fields.
func withoutMaps(value any) any {
	each(value, func(object map[string]any) {
		for name, below := range object {
			maps := []string{"meta", "assign", "labels", "headers", "reasons", "kinds", "fair_shares"}
			if m, ok := below.(map[string]any); ok && slices.Contains(maps, name) {
				delete(m, "later")
			}
		}
	})
	return value
}

// TestSchemaIsStrict: the strict schema refuses what is not documented, at every depth, so that the
// tests notice it.
func TestSchemaIsStrict(t *testing.T) {
	t.Parallel()
	s, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	for text, good := range map[string]bool{
		`{"schema":"rolectl/v1","kind":"note","message":"x"}`:                                                                           true,
		`{"schema":"rolectl/v1","kind":"note","message":"x","more":1}`:                                                                  false,
		`{"schema":"rolectl/v1","kind":"error","error":{"code":"failed","message":"x","exit":1}}`:                                       true,
		`{"schema":"rolectl/v1","kind":"error","error":{"code":"failed","message":"x","exit":1,"more":1}}`:                              false,
		`{"schema":"rolectl/v1","kind":"roles","bucket":"b","roles":[]}`:                                                                true,
		`{"schema":"rolectl/v1","kind":"roles","bucket":"b","roles":[{"role":"r"}]}`:                                                    false,
		`{"schema":"rolectl/v1","kind":"dance"}`:                                                                                        false,
		`{"schema":"rolectl/v1","kind":"doctor","bucket":"b","status":"ok","findings":[{"check":"x","level":"warning","message":"m"}]}`: false,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.strict.Validate(value); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}
