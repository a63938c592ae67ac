package record

import (
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/naming"
)

func TestKeys(t *testing.T) {
	for _, p := range []Peer{{Candidate, "a"}, {Candidate, "a.b"}, {Worker, "a"}, {Worker, "w.lease.x"}} {
		if kind, got, _ := ParseKey(LeaseKey(p)); kind != KindLease || got != p {
			t.Errorf("%s is read as %v %v", LeaseKey(p), kind, got)
		}
		if kind, got, _ := ParseKey(MemberKey(p)); kind != KindMember || got != p {
			t.Errorf("%s is read as %v %v", MemberKey(p), kind, got)
		}
		if kind, got, _ := ParseKey(IdleKey(p)); kind != KindIdle || got != p {
			t.Errorf("%s is read as %v %v", IdleKey(p), kind, got)
		}
	}
	if kind, _, name := ParseKey(RoleKey("a.b")); kind != KindRole || name != "a.b" {
		t.Errorf("role a.b is read as %v %q", kind, name)
	}
	if kind, _, name := ParseKey(SteerKey("zone.a.b")); kind != KindSteer || name != "zone.a.b" {
		t.Errorf("what is told about zone a.b is read as %v %q", kind, name)
	}
	for _, key := range []string{ProbeKey("a"), "", "lease", "x.lease.a", "i.a"} {
		if kind, _, _ := ParseKey(key); kind != KindOther {
			t.Errorf("%s is read as %v", key, kind)
		}
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "a.b": true, "host-1_x=/y": true, strings.Repeat("x", 200): true,
		"": false, ".a": false, "a.": false, "a..b": false, "a b": false, "*": false, "a.>": false, "ä": false,
		strings.Repeat("x", 201): false,
	} {
		if naming.Valid(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
