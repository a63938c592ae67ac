package view

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestRegression: a store that has lost what was seen is told from one whose replica lags,
// whichever of both marks it leaves: a key that is delivered at an earlier revision than before, or
// a last revision before one that was delivered.
func TestRegression(t *testing.T) {
	single := func(last uint64) Watch { return Watch{Told: true, Single: true, Last: last, Known: 30} }
	for _, c := range []struct {
		name  string
		reset Watch
		key   string
		rec   any
		rev   uint64
		want  bool
	}{
		{"role", single(90), "c.role.r", ledBy("a", 7, 1000), 10, true},
		{"lease", single(90), "c.lease.a", record.Lease{V: 1, Nonce: "x", TTLms: 1000, State: record.Live}, 11, true},
		{"member", single(90), "c.member.a", record.Member{V: 1}, 12, true},
		{"marker", single(90), "c.role.r", nil, 10, true},
		{"last revision", single(29), "c.role.other", ledBy("a", 7, 1000), 15, true},
		{"nothing new", single(30), "c.role.r", ledBy("b", 8, 1000), 20, false},
		{"later", single(90), "c.role.r", ledBy("b", 8, 1000), 90, false},
		{"another key", single(90), "c.role.other", ledBy("a", 7, 1000), 10, false},
		{"a replica lags", Watch{Told: true, Last: 10, Known: 30}, "c.role.r", ledBy("a", 7, 1000), 10, false},
		{"nothing is known of the store", Watch{Known: 30}, "c.role.r", ledBy("a", 7, 1000), 10, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWatcher()
			w.sees("c.role.r", 20, ledBy("b", 8, 1000))
			w.sees("c.lease.a", 21, record.Lease{V: 1, Nonce: "y", TTLms: 1000, State: record.Live})
			w.sees("c.member.a", 22, record.Member{V: 1})
			w.sees("c.role.last", 30, ledBy("b", 8, 1000))
			w.BeginWatch(c.reset, record.Peer{})
			w.sees(c.key, c.rev, c.rec)
			if w.Regressed() != c.want {
				t.Errorf("went back: %v, want %v", !c.want, c.want)
			}
		})
	}
}

// TestRegressionCountsNoAcknowledgement: our own write may be known before the watch comes to the
// record that it replaced.
func TestRegressionCountsNoAcknowledgement(t *testing.T) {
	w := newWatcher()
	w.BeginWatch(Watch{Told: true, Single: true, Last: 20, Known: 20}, record.Peer{})
	w.Merge(w.now, &record.Entry{
		Kind: record.KindRole, Name: "r", Revision: 21, Form: record.FormRecord,
		Role: ledBy("a", 7, 1000),
	}, &w.news)
	w.sees("c.role.r", 20, ledBy("b", 8, 1000))
	w.sees("c.role.r", 21, ledBy("a", 7, 1000))
	if w.Regressed() {
		t.Error("an acknowledgement that was faster than the watch is taken for a loss")
	}
}

// TestRegressionIsProvedLater: a watch over a store of which nothing is known proves nothing, and
// takes no proof away from the next one. A write that was acknowledged before the watch was made
// counts as much as a delivered record.
func TestRegressionIsProvedLater(t *testing.T) {
	for key, rec := range map[string]any{
		"c.role.r":   ledBy("a", 7, 1000),
		"c.lease.a":  record.Lease{V: 1, Nonce: "x", TTLms: 1000, State: record.Live},
		"c.member.a": record.Member{V: 1, Session: 5},
	} {
		t.Run(key, func(t *testing.T) {
			w := newWatcher()
			e := record.Decode(key, record.Encode(rec), 20, false, time.Minute)
			w.Merge(w.now, &e, &w.news)
			for _, reset := range []Watch{{Known: 20}, {Told: true, Single: true, Last: 90, Known: 20}} {
				w.BeginWatch(reset, record.Peer{})
				w.sees(key, 10, rec)
				if w.Regressed() != reset.Single {
					t.Errorf("after a watch with %+v: went back: %v, want %v", reset, w.Regressed(), reset.Single)
				}
			}
		})
	}
}
