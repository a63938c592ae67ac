package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestWritesBelowWhatWasKnown: what a session has under way when the store goes back may still be
// written, since its key stood where it was long before. No term begins or continues by it, on any
// number of replicas: its revision is below one that was known of some key, whether its
// acknowledgement says so or, after that was lost, the watch.
func TestWritesBelowWhatWasKnown(t *testing.T) {
	for _, what := range []string{"claim", "rotation", "beat", "member"} {
		for _, told := range []string{"acknowledged", "seen", "above"} {
			if what == "member" && told == "seen" {
				continue // no term depends upon it
			}
			t.Run(what+" "+told, func(t *testing.T) {
				g := newRig(t, func(c *Config) { c.Rotation = 10 * time.Second })
				g.run(3*time.Second, nil)
				if what == "rotation" {
					g.step(Join{RoleConfig{Name: "r"}})
					g.run(5*time.Second, nil)
				}
				if what == "claim" { // over nothing it would prove nothing
					g.sees(record.RoleKey("r"), record.Role{V: record.Version, TTLms: 6000, Vacant: true, By: "b"})
				}
				g.sees("c.role.other", heldBy("b", 8, 1000)) // the last revision known
				key := map[string]string{
					"claim": "c.role.r", "rotation": "c.role.r", "beat": "c.lease.a", "member": "c.member.a",
				}[what]
				base := len(g.effs)
				g.mute = true
				switch what {
				case "claim":
					g.step(Join{RoleConfig{Name: "r"}})
				case "member":
					g.step(Describe{ID: 9, Meta: map[string]string{"x": "y"}})
				}
				w := g.next(key)
				back := g.m.writes[w.ID].known
				switch told {
				case "acknowledged":
					g.step(Written{ID: w.ID, Outcome: record.Won, Revision: back})
				case "seen":
					g.step(Written{ID: w.ID, Outcome: record.Unknown})
					e := record.Decode(w.Key, w.Value, back, false, g.m.cfg.MaxTTL)
					g.step(Delivered{&e})
				case "above":
					g.step(Written{ID: w.ID, Outcome: record.Won, Revision: g.rev + 1})
				}
				var ended *Ended
				for _, e := range g.effs[base:] {
					switch e := e.(type) {
					case BeginTerm, Rotated:
						if told != "above" {
							t.Errorf("%T by a write that went back", e)
						}
					case Ended:
						ended = &e
					}
				}
				if (ended != nil) != (told != "above") || ended != nil && ended.Fault != ErrStoreRegressed {
					t.Errorf("has ended: %+v", ended)
				}
				if d, answered := g.done(9); what == "member" && (!answered || (d.Err != nil) != (told == "acknowledged")) {
					t.Errorf("the caller that waited for the member record was answered: %v, %v", answered, d.Err)
				}
			})
		}
	}
}

// next lets time pass, with answers for everything else, until a key is written, and leaves that
// write without one.
func (g *rig) next(key string) Write {
	g.t.Helper()
	for range 2000 {
		open := g.pend
		g.pend = nil
		for _, w := range open {
			if w.Key == key {
				return w
			}
			g.win(w, true)
		}
		g.now.Holder += record.Instant(10 * time.Millisecond)
		g.now.Observer += record.Instant(10 * time.Millisecond)
		g.step(Tick{})
	}
	g.t.Fatalf("%s is not written", key)
	return Write{}
}
