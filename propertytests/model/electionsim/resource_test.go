package electionsim

import (
	"strings"
	"testing"
)

// TestLedgerTells: the check of what lands tells of what no schedule brings about, since epochs are
// granted once: two processes that show one epoch, or one that shows it as two terms; and of a
// leader that is refused.
func TestLedgerTells(t *testing.T) {
	type write struct {
		who, epoch int
		token      string
	}
	for name, c := range map[string]struct {
		writes []write
		leads  bool
		want   string
	}{
		"in order, and late": {[]write{{0, 1005, "x"}, {1, 1007, "y"}, {0, 1005, "x"}}, false, ""},
		"two holders":        {[]write{{0, 1005, "x"}, {1, 1005, "x"}}, false, "two holders of one epoch"},
		"two terms":          {[]write{{0, 1005, "x"}, {0, 1005, "y"}}, false, "two holders of one epoch"},
		"a leader is late":   {[]write{{0, 1007, "x"}, {1, 1005, "y"}}, true, "though it leads"},
	} {
		for seed := range uint64(100) { // the resource is recreated in between, or not
			w := newWorld(&Plan{Seed: seed, Roles: 1})
			for i, name := range []string{"a", "b"} {
				p := w.newProcess(i, name, &MemberPlan{})
				p.alive, p.until = c.leads, 1
			}
			for _, x := range c.writes {
				of := &work{role: "r0", epoch: uint64(x.epoch), in: w.store, leading: true}
				p := w.members[x.who]
				w.resource("r0").take(&shown{p, p.life, of, of.epoch, x.token, p.instance})
			}
			switch {
			case c.want == "" && w.violated != nil:
				t.Fatalf("%s, seed %d: %v", name, seed, w.violated)
			case c.want != "" && (w.violated == nil || !strings.Contains(w.violated.Error(), c.want)):
				t.Fatalf("%s, seed %d: %v, want %q", name, seed, w.violated, c.want)
			}
		}
	}
}
