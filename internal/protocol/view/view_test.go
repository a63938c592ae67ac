package view

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// none is what nobody keeps beside a peer or a role.
type none = struct{}

// watcher feeds a view by hand.
type watcher struct {
	*View[none, none]
	now  record.Instant
	news News[none, none]
}

func newWatcher() *watcher {
	w := &watcher{View: New[none, none](time.Minute)}
	w.snapshot()
	return w
}

func (w *watcher) sees(key string, rev uint64, rec any) {
	w.now++
	e := record.Entry{Revision: rev, Form: record.FormMarker}
	if rec != nil {
		e = record.Decode(key, record.Encode(rec), rev, false, time.Minute)
	}
	e.Kind, e.Peer, e.Name = record.ParseKey(key)
	w.Deliver(w.now, &e, &w.news)
}

func (w *watcher) snapshot(keys ...func()) {
	w.BeginWatch(Watch{}, record.Peer{})
	for _, deliver := range keys {
		deliver()
	}
	w.now++
	w.EndSnapshot(w.now, nil, &w.news)
}

// waits is how long a role is waited for whose record was lost, from when that was seen.
func (w *watcher) waits(role string) time.Duration {
	return w.LostUntil(w.Role(role)).Sub(w.Role(role).Seen).Round(time.Millisecond)
}

func ledBy(id string, session uint64, ttl int64) record.Role {
	return record.Role{V: 1, ID: id, Session: session, TTLms: ttl, Token: "t"}
}

func TestViewNeverGoesBack(t *testing.T) {
	w := newWatcher()
	w.sees("c.role.r", 20, ledBy("b", 8, 1000))
	w.sees("c.role.r", 10, ledBy("a", 7, 1000))
	if r := w.Role("r"); r.Revision != 20 || w.Leader(r) != "b" || w.Last() != 20 {
		t.Fatalf("an old record came back: %+v", r)
	}
}

// TestLaggingSnapshot: what a replica has not applied yet is not missing, however many of them lag
// one after the other, until the store has refused a write that expected it; and what was missing
// by mistake comes back.
func TestLaggingSnapshot(t *testing.T) {
	w := newWatcher()
	w.sees("c.role.old", 10, ledBy("a", 7, 1000))
	w.sees("c.role.new", 20, ledBy("a", 7, 1000))
	old := func() { w.sees("c.role.old", 10, ledBy("a", 7, 1000)) }
	denied := func(revision uint64) { w.Deny(&record.Entry{Kind: record.KindRole, Name: "new"}, revision) }
	denied(9)
	for range 3 {
		w.snapshot(old)
		if w.Role("new").Form != record.FormRecord {
			t.Fatal("missing after lagging snapshots")
		}
	}
	denied(20)
	w.snapshot(old)
	if w.Role("new").Form != record.FormMissing {
		t.Fatal("not missing after a refused write and a snapshot without it")
	}
	w.sees("c.role.new", 20, ledBy("a", 7, 1000))
	if w.Role("new").Form != record.FormRecord {
		t.Fatal("it does not come back")
	}
	w.snapshot(func() { w.sees("c.role.new", 20, ledBy("a", 7, 1000)) })
	if w.Role("old").Form != record.FormMissing {
		t.Fatal("not missing though the snapshot was newer")
	}
}

// TestSnapshotThatReachesFarther: nothing lags on a single server, so what the snapshot lacks is
// missing, though nothing newer is shown. A replica may not have applied what the store's leader
// takes it to have.
func TestSnapshotThatReachesFarther(t *testing.T) {
	for _, told := range []struct {
		reset Watch
		want  record.Form
	}{
		{Watch{Told: true, Single: true, Last: 20}, record.FormMissing},
		{Watch{Told: true, Last: 20}, record.FormRecord},
		{Watch{Told: true, Last: 20, Behind: true}, record.FormRecord},
		{Watch{Last: 20}, record.FormRecord},
	} {
		w := newWatcher()
		w.sees("c.role.r", 20, ledBy("a", 7, 1000))
		w.BeginWatch(told.reset, record.Peer{})
		w.EndSnapshot(w.now, nil, &w.news)
		if form := w.Role("r").Form; form != told.want {
			t.Errorf("%+v: of form %v, want %v", told.reset, form, told.want)
		}
	}
}

// TestAcknowledgedIsNotMissing: a record that is known from the acknowledgement of our own write
// was never delivered.
func TestAcknowledgedIsNotMissing(t *testing.T) {
	w := newWatcher()
	w.snapshot()
	e := record.Entry{Kind: record.KindRole, Name: "r", Revision: 20, Form: record.FormRecord, Role: ledBy("a", 7, 1000)}
	w.Merge(w.now, &e, &w.news)
	w.snapshot()
	if w.Role("r").Form != record.FormRecord {
		t.Fatal("our own write is taken for missing by the first snapshot that lags")
	}
	w.BeginWatch(Watch{Single: true, Last: 40}, record.Peer{}) // the server was asked for its last revision after that
	e.Revision = 30
	w.Merge(w.now, &e, &w.news)
	w.EndSnapshot(w.now, nil, &w.news)
	if w.Role("r").Form != record.FormRecord {
		t.Fatal("our own write is taken for missing by the snapshot that was on its way")
	}
}

func TestMemberMarkerThatVanishes(t *testing.T) {
	w := newWatcher()
	w.sees("c.lease.a", 5, record.Lease{V: 1, Nonce: "n", State: record.Live, TTLms: 1000})
	w.sees("c.member.a", 6, nil)
	w.snapshot(func() {
		w.sees("c.lease.a", 7, record.Lease{V: 1, Session: 5, Nonce: "n", State: record.Live, TTLms: 1000})
	})
	if form := w.Peer(record.Peer{Class: record.Candidate, Instance: "a"}).MemberForm; form != record.FormMissing {
		t.Fatalf("a marker that is gone is of form %v", form)
	}
}

// TestNobodyIsRememberedForEver: instance ids come and go.
func TestNobodyIsRememberedForEver(t *testing.T) {
	w := newWatcher()
	for rev := uint64(10); rev < 1000; rev += 10 {
		id := string(rune('a'+rev%26)) + string(rune('a'+rev/40))
		w.sees("c.lease."+id, rev, record.Lease{V: 1, Nonce: "n", State: record.Live, TTLms: 1000})
		w.sees("c.member."+id, rev+1,
			record.Member{V: 1, Session: rev, Roles: record.CandidaciesOf(map[string]record.Candidacy{
				"r": {Eligible: true},
			})})
		w.sees("c.role.r", rev+2, ledBy(id, rev, 1000))
		w.sees("c.role.r", rev+3, record.Role{V: 1, Vacant: true, TTLms: 1000})
		w.sees("c.member."+id, rev+4, nil)
		w.sees("c.lease."+id, rev+5, nil)
	}
	if n := len(w.Peers()); n != 0 {
		t.Fatalf("%d peers are still known", n)
	}
	if n := len(w.Role("r").Candidates); n != 0 {
		t.Fatalf("%d candidates are still known", n)
	}
}

func TestDead(t *testing.T) {
	a := record.Peer{Class: record.Candidate, Instance: "a"}
	for _, c := range []struct {
		name string
		rec  any
		want bool
	}{
		{"the same session", record.Lease{V: 1, Session: 7, Nonce: "n", State: record.Live, TTLms: 1000}, false},
		{"idle", record.Lease{V: 1, Session: 7, Nonce: "n", State: record.Idle, TTLms: 1000}, false},
		{"an earlier session", record.Lease{V: 1, Session: 6, Nonce: "n", State: record.Live, TTLms: 1000}, false},
		{"a later session", record.Lease{V: 1, Session: 9, Nonce: "n", State: record.Live, TTLms: 1000}, true},
		{"the first write of a later session", record.Lease{V: 1, Nonce: "n", State: record.Live, TTLms: 1000}, true},
		{"killed", record.Lease{V: 1, State: record.Killed}, true},
		{"closed", record.Lease{V: 1, State: record.Closed}, true},
		{"a marker", nil, false},
	} {
		w := newWatcher()
		w.sees("c.role.r", 8, ledBy("a", 7, 1000)) // keeps the peer known
		w.sees("c.lease.a", 20, c.rec)
		if w.Dead(a, 7) != c.want {
			t.Errorf("%s: dead is %v", c.name, !c.want)
		}
	}
	if newWatcher().Dead(a, 7) {
		t.Error("a key of which nothing was ever seen does not prove a death")
	}
	w := newWatcher()
	w.sees("c.lease.a", 7, record.Lease{V: 1, Nonce: "n", State: record.Live, TTLms: 1000})
	role := func() { w.sees("c.role.r", 8, ledBy("a", 7, 1000)) }
	w.snapshot(role)
	if form := w.Peer(a).Form; form != record.FormMissing || w.Dead(a, 7) {
		t.Errorf("a lease that a complete snapshot lacks: form %v, dead is %v", form, w.Dead(a, 7))
	}
}

// TestLostRecordWaitsForWhoeverMayHold: the record of a longer lease was overwritten before this
// process could read it.
func TestLostRecordWaitsForWhoeverMayHold(t *testing.T) {
	w := newWatcher()
	w.sees("c.role.r", 10, ledBy("short", 5, 1000))
	w.sees("c.lease.long", 11, record.Lease{V: 1, Nonce: "n", State: record.Live, TTLms: 9000})
	w.sees("c.role.r", 20, nil) // long led it from 12 to 19
	if got := w.waits("r"); got != 9*time.Second {
		t.Fatalf("waits %v for somebody who may believe for 9 s", got)
	}
}

// TestLostRecordWaitsForWhoseLeaseIsLostToo: what was known of a lease counts when it can be read
// no longer, however that came about, and for as long as somebody may believe in it.
func TestLostRecordWaitsForWhoseLeaseIsLostToo(t *testing.T) {
	short := record.Lease{V: 1, Session: 5, Nonce: "s", State: record.Live, TTLms: 1000}
	for _, c := range []struct {
		name string
		lose func(w *watcher)
		want time.Duration
	}{
		{"overwritten", func(w *watcher) { w.sees("c.lease.long", 21, "{}") }, 9 * time.Second},
		{"deleted", func(w *watcher) { w.sees("c.lease.long", 21, nil) }, 9 * time.Second},
		{"not in the next snapshot", func(w *watcher) {
			others := func() {
				w.sees("c.lease.short", 9, short)
				w.sees("c.role.r", 20, nil)
			}
			w.snapshot(others) // it may just lag
			w.snapshot(others)
		}, 9 * time.Second},
		{
			"deleted, of somebody of whom nothing was read", func(w *watcher) { w.sees("c.lease.unknown", 21, nil) },
			time.Minute,
		},
		{"closed", func(w *watcher) { w.sees("c.lease.long", 21, record.Lease{V: 1, State: record.Closed}) }, time.Second},
	} {
		w := newWatcher()
		w.sees("c.role.r", 10, ledBy("short", 5, 1000))
		w.sees("c.lease.short", 9, short)
		w.sees("c.lease.long", 11, record.Lease{V: 1, Nonce: "n", State: record.Live, TTLms: 9000})
		w.sees("c.role.r", 20, nil)
		c.lose(w)
		if got := w.waits("r"); got != c.want {
			t.Errorf("%s: waits %v, want %v", c.name, got, c.want)
		}
	}
}

func TestLine(t *testing.T) {
	w := newWatcher()
	for i, id := range []string{"old", "young", "high", "gone", "last"} {
		rev := uint64(10 + i)
		w.sees("c.lease."+id, rev, record.Lease{V: 1, Nonce: id, State: record.Live, TTLms: 1000})
		c := record.Candidacy{Eligible: id != "gone"}
		if id == "high" {
			c.Priority = 3
		}
		m := record.Member{V: 1, Session: rev, Roles: record.CandidaciesOf(map[string]record.Candidacy{"r": c})}
		w.sees("c.member."+id, rev+10, m)
	}
	order := func(role record.Role) (ids string) {
		w.sees("c.role.r", w.Last()+1, role)
		for _, c := range w.Order(w.now, w.Role("r")) {
			ids += c.Instance + " "
		}
		return ids
	}
	if got := order(record.Role{V: 1, Vacant: true, TTLms: 1000, By: "last"}); got != "high old young last " {
		t.Error(got)
	}
	if got := order(record.Role{
		V: 1, Vacant: true, TTLms: 1000, By: "high",
		Next: "young",
	}); got != "young old last high " {
		t.Error(got)
	}
	w.now = w.now.Add(2 * time.Second)
	if got := order(record.Role{V: 1, Vacant: true, TTLms: 1000}); got != "" {
		t.Errorf("leases that stand still are in line: %s", got)
	}
}
