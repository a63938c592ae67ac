package architecture

import (
	"strings"
	"testing"
)

// wings is what the packages of each wing of the property tests may import of our own, beside what
// their tests import. The model has no server, and a campaign runs tests by their command line.
var wings = map[string][]string{
	"propertytests/model": {"fencing", "internal/protocol/...", "propertytests/model/..."},
	"propertytests/live": {
		"assign", "assign/keyring", "election", "event", "fencing", "roles", "internal/...", "propertytests/live/...",
	},
	"propertytests/campaign": {"propertytests/campaign/..."},
}

// TestWings: every package of the property tests is in one of three wings, and imports what its
// wing may.
func TestWings(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if !strings.HasPrefix(name, "propertytests/") {
			continue
		}
		in := ""
		for wing := range wings {
			if matches([]string{wing + "/..."}, name) {
				in = wing
			}
		}
		if in == "" {
			t.Errorf("%s is in none of the wings", name)
			continue
		}
		for _, imported := range p.Imports {
			if own, ok := strings.CutPrefix(imported, module+"/"); ok && !matches(wings[in], own) {
				t.Errorf("%s imports %s, which is not for its wing", name, own)
			}
		}
	}
}
