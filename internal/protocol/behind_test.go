package protocol

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestBehind: a process that claims any number of roles of a busy store, and gives some of them
// away later, keeps its session, its other terms and its watch, though the watch takes up to twice
// as long for each write as the store does; and it leads all of them about as soon as the watch can
// have shown them. The TTL is 2 s, and the rest are the parts of it that they are by default.
func TestBehind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := time.Duration(rapid.IntRange(20, 1500).Draw(t, "µs for each write")) * time.Microsecond
		show := time.Duration(float64(store) * rapid.Float64Range(1, 2).Draw(t, "times as long to show it"))
		roles := rapid.IntRange(1, thorough.Pick(1500, 4000)).Draw(t, "roles")
		away := rapid.IntRange(0, roles).Draw(t, "given away")
		b := newBusy(store, show)
		b.together = time.Duration(rapid.IntRange(0, 30).Draw(t, "ms for those that go together")) * time.Millisecond
		b.each = time.Duration(float64(store) * rapid.Float64Range(0.02, 1).Draw(t, "times as long for each of them"))
		b.join(roles)
		b.until(t, time.Duration(roles)*show*3/2+b.m.cfg.TTL, func() bool { return b.m.leading == roles })
		for i := range away {
			b.leave(fmt.Sprint("r", i))
		}
		b.until(t, time.Duration(away)*show*3/2+b.m.cfg.TTL, func() bool { return b.left == away })
	})
}

// TestBehindAFullStore: the writes in flight never take the store so long that the heartbeat behind
// them is unknown. With these figures the window once widened to 430 writes, 0.4 s of the store's
// time, and the session was lost.
func TestBehindAFullStore(t *testing.T) {
	const store, roles = 893 * time.Microsecond, 2956
	for _, away := range []int{886, 1577, roles} {
		b := newBusy(store, 2*store)
		b.join(roles)
		for until := b.now.Add(roles * 3 * store); b.m.leading < roles && b.harm == "" && b.now < until; {
			b.next()
		}
		for i := range away {
			b.leave(fmt.Sprint("r", i))
		}
		for until := b.now.Add(roles*3*store + b.m.cfg.TTL); b.left < away && b.harm == "" && b.now < until; {
			b.next()
		}
		if b.harm != "" || b.left != away {
			t.Errorf("%d of %d roles are given away: %s", b.left, away, b.harm)
		}
	}
}

// TestAFullWindow: the window does not widen past what the store takes in half of OpTimeout, also
// while writes are answered that were sent when less was in flight. With these figures it once
// widened to 265 writes in a quarter of a second, the watch fell 1.2 s behind, and trust ended.
func TestAFullWindow(t *testing.T) {
	const store, roles = 1129 * time.Microsecond, 2435
	b := newBusy(store, 2*store)
	b.together, b.each = 29*time.Millisecond, 436*time.Microsecond
	b.join(roles)
	widest := 0
	for until := b.now.Add(roles * 3 * store); b.m.leading < roles && b.harm == "" && b.now < until; {
		b.next()
		widest = max(widest, b.m.window.size)
	}
	if most := int(b.m.cfg.OpTimeout / 2 / store); b.harm != "" || b.m.leading < roles || widest > most+most/4 {
		t.Errorf("of %d roles it leads %d, the window was as wide as %d: %s", roles, b.m.leading, widest, b.harm)
	}
}

// TestASlowStore: a window that has narrowed widens again to what the store takes in half of
// OpTimeout, and to no more than twice that, since the writes that are answered were sent when less
// was in flight.
func TestASlowStore(t *testing.T) {
	const roles = 400
	for _, store := range []time.Duration{8 * time.Millisecond, 10 * time.Millisecond, 12 * time.Millisecond} {
		b := newBusy(store, store)
		b.join(roles)
		narrow, widest := false, 0
		for until := b.now.Add(3 * roles * store); b.m.leading < roles && b.harm == "" && b.now < until; {
			b.next()
			if narrow = narrow || b.m.window.size == minWindow; narrow {
				widest = max(widest, b.m.window.size)
			}
		}
		if most := int(b.m.cfg.OpTimeout / 2 / store); b.harm != "" || b.m.leading < roles || widest > 2*most+1 {
			t.Errorf("%v a write: of %d roles it leads %d, the window was as wide as %d: %s", store, roles, b.m.leading,
				widest, b.harm)
		}
	}
}

// TestAWatchThatIsAlwaysLate: a watch that shows everything, and all of it late, keeps nobody from
// leading, as long as it is not so late that it counts as dead.
func TestAWatchThatIsAlwaysLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBusy(20*time.Microsecond, 20*time.Microsecond)
		b.lag = time.Duration(rapid.IntRange(0, 750).Draw(t, "ms late")) * time.Millisecond
		roles := rapid.IntRange(1, 500).Draw(t, "roles")
		b.join(roles)
		b.until(t, time.Duration(roles/firstWindow+1)*2*b.lag+b.m.cfg.TTL, func() bool { return b.m.leading == roles })
	})
}

// TestALateWatchIsKept: while a watch shows what others have written, and one's own beats behind
// that, later than two intervals, it is not recreated, and nothing ends. When it shows nothing
// more, it is.
func TestALateWatchIsKept(t *testing.T) {
	b := newBusy(20*time.Microsecond, time.Millisecond)
	b.join(1)
	for until := b.now.Add(2 * b.m.cfg.Heartbeat); b.now < until; {
		b.next()
	}
	const others = 1100
	for i := range others { // behind the last beat, before the next
		b.commit(sending{writes: []Write{{
			Key:   record.RoleKey(fmt.Sprint("other-", i)),
			Value: record.Encode(record.Role{V: record.Version, TTLms: 2000, Vacant: true}),
		}}})
	}
	latest := time.Duration(0)
	for range 4 * others {
		before := b.m.lease.shown
		b.next()
		if b.m.lease.shown > before {
			latest = max(latest, b.now.Sub(b.m.lease.shown))
		}
	}
	if b.harm != "" || b.m.leading != 1 {
		t.Fatalf("it leads %d roles: %s", b.m.leading, b.harm)
	}
	if latest <= 2*b.m.cfg.Heartbeat {
		t.Fatalf("no beat was seen later than after %v", latest)
	}
	b.show = time.Hour
	for until := b.now.Add(4 * b.m.cfg.Heartbeat); b.now < until && b.harm == ""; {
		b.next()
	}
	if b.harm != "the watch is recreated: our own heartbeat was not seen on the watch" {
		t.Errorf("the watch shows nothing: %q", b.harm)
	}
}

// TestADeadWatchKeepsNoRole: a watch that shows nothing more shuts the window for as long as there
// is belief to lose, and no longer: then the roles are given away, though nothing that was written
// of them is seen.
func TestADeadWatchKeepsNoRole(t *testing.T) {
	const roles = 3
	b := newBusy(20*time.Microsecond, 20*time.Microsecond)
	b.join(roles)
	for until := b.now.Add(2 * b.m.cfg.Heartbeat); b.now < until; {
		b.next()
	}
	if b.m.leading != roles {
		t.Fatalf("it leads %d roles", b.m.leading)
	}
	b.lag = time.Hour
	b.leave("r0")
	for until := b.now.Add(2 * b.m.cfg.TTL); b.now < until; {
		b.next()
		for _, role := range []string{"r1", "r2"} {
			if b.m.leading == 0 {
				b.step(Drained{role, b.keys[record.RoleKey(role)]})
			}
		}
	}
	if b.left != roles {
		t.Errorf("%d of %d roles are given away: %s", b.left, roles, b.harm)
	}
}

// busy is a store that takes its time: it stores one write after the other, answers each when it is
// stored, and shows them one after the other. It has one client, loses nothing, and answers nobody
// who no longer waits.
type busy struct {
	m           *Machine
	now         record.Instant
	store, show time.Duration // for each write
	together    time.Duration // for writes that go together, and each for each of them
	each        time.Duration
	lag         time.Duration // from when it is stored until it can be shown
	last        uint64
	keys        map[string]uint64
	sent        pipeline[sending]
	stored      pipeline[*record.Entry]
	waits       map[WriteID]bool
	late        []deadline // of writes, in order
	batches     int        // of writes that went together
	beatless    int        // of those, that no beat of this moment went before
	left        int        // roles that were left and are given away
	harm        string     // the first
}

// sending is writes on their way, together or one alone.
type sending struct {
	id     WriteID
	writes []Write
}

// pipeline is what waits for one who takes his time; the first of it is done at the instant.
type pipeline[T any] struct {
	waits []waiting[T]
	done  record.Instant
}

type waiting[T any] struct {
	x     T
	from  record.Instant // not begun before
	takes time.Duration
}

func (l *pipeline[T]) add(x T, from record.Instant, takes time.Duration) {
	if len(l.waits) == 0 {
		l.done = from.Add(takes)
	}
	l.waits = append(l.waits, waiting[T]{x, from, takes})
}

func (l *pipeline[T]) take(now record.Instant) T {
	x := l.waits[0].x
	if l.waits = l.waits[1:]; len(l.waits) > 0 {
		l.done = max(now, l.waits[0].from).Add(l.waits[0].takes)
	}
	return x
}

type deadline struct {
	write WriteID
	at    record.Instant
}

func newBusy(store, show time.Duration) *busy {
	const ttl = 2 * time.Second
	cfg, ids := testConfig("a"), 0
	cfg.TTL, cfg.Heartbeat, cfg.OpTimeout, cfg.Margin = ttl, ttl/5, ttl/10, ttl/5
	cfg.NewID = func() string { ids++; return fmt.Sprint("id", ids) }
	return &busy{
		m: New(cfg), now: 1e12, store: store, show: show, last: 1000, keys: map[string]uint64{},
		waits: map[WriteID]bool{},
	}
}

func (b *busy) join(roles int) {
	b.step(WatchReset{})
	for i := range roles {
		b.step(Join{RoleConfig{Name: fmt.Sprint("r", i)}})
	}
	b.step(SnapshotDone{})
}

// leave gives a role away whose work returns at once.
func (b *busy) leave(role string) {
	for _, e := range b.step(Leave{Role: role, Vacate: true}) {
		if e, ok := e.(EndTerm); ok {
			b.step(Drained{e.Role, e.Term})
		}
	}
}

// until plays until something is reached, without harm and within a time.
func (b *busy) until(t *rapid.T, within time.Duration, reached func() bool) {
	began := b.now
	for !reached() {
		b.next()
		if since := b.now.Sub(began); b.harm != "" || since > within {
			t.Fatalf("after %v it leads %d roles, and %d are given away: %s", since, b.m.leading, b.left,
				cmp.Or(b.harm, "it takes too long"))
		}
	}
}

func (b *busy) step(ev Event) []Effect {
	out := b.m.Step(record.Now{Holder: b.now, Observer: b.now}, ev, nil)
	for _, e := range out {
		switch e := e.(type) {
		case Write:
			b.send(e.ID, []Write{e}, b.store)
		case WriteTogether:
			b.batches++
			if !b.m.lease.inflight || b.m.lease.attempts[len(b.m.lease.attempts)-1].sent != b.now {
				b.beatless++
			}
			b.send(e.ID, e.Writes, b.together+time.Duration(len(e.Writes))*b.each)
		case RoleGiven:
			b.left++
		case EndTerm:
			if _, left := ev.(Leave); !left {
				b.harmed(fmt.Sprintf("the term of %s ends: %v", e.Role, e.Cause))
			}
		case Lost:
			b.harmed("the session is lost: " + e.Reason)
		case RebuildWatch:
			b.harmed("the watch is recreated: " + e.Reason)
		}
	}
	return out
}

func (b *busy) send(id WriteID, writes []Write, takes time.Duration) {
	b.sent.add(sending{id, writes}, b.now, takes)
	b.waits[id], b.late = true, append(b.late, deadline{id, b.now.Add(b.m.cfg.OpTimeout)})
}

func (b *busy) harmed(how string) {
	if b.harm == "" {
		b.harm = how
	}
}

// next is what comes next: a write is stored or shown, nobody waits for it any longer, or the
// machine wants to look.
func (b *busy) next() {
	for len(b.late) > 0 && !b.waits[b.late[0].write] {
		b.late = b.late[1:]
	}
	at, what := b.now.Add(b.m.Next(record.Now{Holder: b.now, Observer: b.now})), func() { b.step(Tick{}) }
	if len(b.late) > 0 && b.late[0].at <= at {
		at, what = b.late[0].at, func() { b.answer(b.late[0].write, record.Unknown, 0) }
	}
	if len(b.stored.waits) > 0 && b.stored.done <= at {
		at, what = b.stored.done, func() { b.step(Delivered{b.stored.take(b.now)}) }
	}
	if len(b.sent.waits) > 0 && b.sent.done <= at {
		at, what = b.sent.done, func() { b.commit(b.sent.take(b.now)) }
	}
	b.now = at
	what()
}

func (b *busy) commit(s sending) {
	for _, w := range s.writes {
		if b.keys[w.Key] != w.Expect {
			b.answer(s.id, record.Refused, 0)
			return
		}
	}
	for _, w := range s.writes {
		b.last++
		b.keys[w.Key] = b.last
		e := record.Decode(w.Key, w.Value, b.last, w.Delete, b.m.cfg.MaxTTL)
		b.stored.add(&e, b.now.Add(b.lag), b.show)
	}
	b.answer(s.id, record.Won, b.last)
}

func (b *busy) answer(id WriteID, o record.Outcome, revision uint64) {
	if b.waits[id] {
		delete(b.waits, id)
		if b.m.together.flight.id == id {
			b.step(WrittenTogether{ID: id, Outcome: o, Revision: revision})
		} else {
			b.step(Written{ID: id, Outcome: o, Revision: revision})
		}
	}
}
