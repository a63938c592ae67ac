package elections

import (
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/model/explore/search"
)

// TestRulesNameFields: what the rules leave out, or take for a name, is still there under that
// name.
func TestRulesNameFields(t *testing.T) {
	x := New(&Config{
		Members: 2, Roles: 1, TTL: 3, Heartbeat: 1, Margin: 1, OpTimeout: 1, MaxTTL: 3, CoolDown: 1, Drain: 3,
		Settled: true,
	})
	if r := search.Run(x, search.Bounds{States: 2000}); r.Violation != nil {
		t.Fatal(r.Violation.Err)
	}
	for _, name := range x.looker.Unmet() {
		t.Errorf("%s: no such field was met", name)
	}
}
