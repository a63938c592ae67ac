package protocol

import (
	"testing"
	"time"
)

// TestWentBack: a store that has lost what was seen is told from one whose replica lags, whichever of both marks it leaves: a
// key that is delivered at an earlier revision than before, or a last revision before one that was delivered.
func TestWentBack(t *testing.T) {
	single := func(last uint64) WatchReset { return WatchReset{Told: true, Single: true, Last: last, Known: 30} }
	for _, c := range []struct {
		name  string
		reset WatchReset
		key   string
		rec   any
		rev   uint64
		want  bool
	}{
		{"role", single(90), "role.r", heldBy("a", 7, 1000), 10, true},
		{"lease", single(90), "lease.a", Lease{V: 1, Nonce: "x", TTLms: 1000, State: Live}, 11, true},
		{"member", single(90), "member.a", Member{V: 1}, 12, true},
		{"marker", single(90), "role.r", nil, 10, true},
		{"last revision", single(29), "role.other", heldBy("a", 7, 1000), 15, true},
		{"nothing new", single(30), "role.r", heldBy("b", 8, 1000), 20, false},
		{"later", single(90), "role.r", heldBy("b", 8, 1000), 90, false},
		{"another key", single(90), "role.other", heldBy("a", 7, 1000), 10, false},
		{"a replica lags", WatchReset{Told: true, Last: 10, Known: 30}, "role.r", heldBy("a", 7, 1000), 10, false},
		{"nothing is known of the store", WatchReset{Known: 30}, "role.r", heldBy("a", 7, 1000), 10, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWatcher()
			w.sees("role.r", 20, heldBy("b", 8, 1000))
			w.sees("lease.a", 21, Lease{V: 1, Nonce: "y", TTLms: 1000, State: Live})
			w.sees("member.a", 22, Member{V: 1})
			w.sees("role.last", 30, heldBy("b", 8, 1000))
			w.BeginWatch(c.reset, Peer{})
			w.sees(c.key, c.rev, c.rec)
			if w.WentBack() != c.want {
				t.Errorf("went back: %v, want %v", !c.want, c.want)
			}
		})
	}
}

// TestWentBackCountsNoAcknowledgement: our own write may be known before the watch comes to the record that it replaced.
func TestWentBackCountsNoAcknowledgement(t *testing.T) {
	w := newWatcher()
	w.BeginWatch(WatchReset{Told: true, Single: true, Last: 20, Known: 20}, Peer{})
	w.Merge(w.now, &Entry{Kind: KindRole, Name: "r", Revision: 21, Form: FormRecord, Role: heldBy("a", 7, 1000)}, &w.news)
	w.sees("role.r", 20, heldBy("b", 8, 1000))
	w.sees("role.r", 21, heldBy("a", 7, 1000))
	if w.WentBack() {
		t.Error("an acknowledgement that was faster than the watch is taken for a loss")
	}
}

// TestWentBackIsProvedLater: a watch over a store of which nothing is known proves nothing, and takes no proof away from the
// next one. What was acknowledged before the watch was made counts as much as what was delivered.
func TestWentBackIsProvedLater(t *testing.T) {
	for key, rec := range map[string]any{
		"role.r":   heldBy("a", 7, 1000),
		"lease.a":  Lease{V: 1, Nonce: "x", TTLms: 1000, State: Live},
		"member.a": Member{V: 1, Session: 5},
	} {
		t.Run(key, func(t *testing.T) {
			w := newWatcher()
			e := Decode(key, Encode(rec), 20, false, time.Minute)
			w.Merge(w.now, &e, &w.news)
			for _, reset := range []WatchReset{{Known: 20}, {Told: true, Single: true, Last: 90, Known: 20}} {
				w.BeginWatch(reset, Peer{})
				w.sees(key, 10, rec)
				if w.WentBack() != reset.Single {
					t.Errorf("after a watch with %+v: went back: %v, want %v", reset, w.WentBack(), reset.Single)
				}
			}
		})
	}
}

// TestWritesBelowWhatWasKnown: what a session has under way when the store goes back may still be written, since its key stood
// where it was long before. No term begins or goes on by it, on any number of replicas: its revision is below one that was known
// of some key, whether its acknowledgement says so or, after that was lost, the watch.
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
				g.sees("role.other", heldBy("b", 8, 1000)) // the last revision known
				key := map[string]string{"claim": "role.r", "rotation": "role.r", "beat": "lease.a", "member": "member.a"}[what]
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
					g.step(Written{ID: w.ID, Outcome: Won, Revision: back})
				case "seen":
					g.step(Written{ID: w.ID, Outcome: Unknown})
					e := Decode(w.Key, w.Value, back, false, g.m.cfg.MaxTTL)
					g.step(&e)
				case "above":
					g.step(Written{ID: w.ID, Outcome: Won, Revision: g.rev + 1})
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
				if (ended != nil) != (told != "above") || ended != nil && ended.Fault != ErrWentBack {
					t.Errorf("has ended: %+v", ended)
				}
				if d, answered := g.done(9); what == "member" && (!answered || (d.Err != nil) != (told == "acknowledged")) {
					t.Errorf("who waited for the member record was answered: %v, %v", answered, d.Err)
				}
			})
		}
	}
}

// next lets time pass, with answers for everything else, until a key is written, and leaves that write without one.
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
		g.now.Holder += Instant(10 * time.Millisecond)
		g.now.Observer += Instant(10 * time.Millisecond)
		g.step(Tick{})
	}
	g.t.Fatalf("%s is not written", key)
	return Write{}
}
