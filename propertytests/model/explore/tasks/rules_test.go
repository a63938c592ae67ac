package tasks

import (
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/model/explore/search"
)

// TestRulesNameFields: what the rules leave out, or take for a name, is still there under that
// name.
func TestRulesNameFields(t *testing.T) {
	x := New(&Config{Leaders: 2, Tasks: 1, Slots: 1})
	if r := search.Run(x, search.Bounds{States: 2000}); r.Violation != nil {
		t.Fatal(r.Violation.Err)
	}
	for _, name := range x.looker.Unmet() {
		t.Errorf("%s: no such field was met", name)
	}
}
