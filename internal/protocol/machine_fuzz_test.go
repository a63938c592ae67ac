package protocol

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// FuzzMachine puts anything at any key of the bucket, twice, while a machine leads, and lets it
// continue until every lease is over that was at stake: it does not fall, and its belief never goes
// back on what it said: terms begin and end in turn. All of that takes memory in proportion to what
// was put there.
func FuzzMachine(f *testing.F) {
	records := []any{
		record.Lease{V: 1, Session: 7, Nonce: "n", TTLms: 10_000, Beat: 3, State: record.Live},
		record.Lease{V: 1, State: record.Killed, By: "b"},
		record.Member{
			V: 1, Session: 7,
			Roles: record.CandidaciesOf(map[string]record.Candidacy{
				"r": {Priority: 2, Takeover: true, Eligible: true},
			}),
		},
		record.Role{V: 1, ID: "a.b", Session: 7, Token: "t", TTLms: 10_000},
		record.Role{V: 1, Vacant: true, By: "a", Next: "b", Forced: true, TTLms: 10_000},
	}
	const late = 28 * 8 // of seven seconds: the first one has had its effects, and what it took from us is ours again
	for _, key := range []string{
		"c.lease.a", "c.lease.b", "c.member.a", "c.member.b", "c.role.r", "c.role.s", "probe.a",
		"w.lease.w", "other", "",
	} {
		for _, gap := range []uint8{0, late} {
			for _, rec := range records {
				f.Add(key, record.Encode(rec), false, gap)
			}
			f.Add(key, []byte("{"), false, gap+2)
			f.Add(key, []byte(`{"v":2}`), false, gap)
			f.Add(key, []byte(nil), true, gap)
		}
	}
	read := entries{}
	f.Fuzz(func(t *testing.T, key string, value []byte, marker bool, gap uint8) {
		if len(key) > 300 || len(value) > 4<<10 {
			return // the schedule is what counts here
		}
		var s *solo
		heap.Bounded(t, len(key)+len(value), func() {
			s = leads(t, read)
			for _, after := range []time.Duration{time.Duration(gap/8) * time.Second / 4, outlasting} {
				s.rev += uint64(gap)%8 + 1
				e := record.Decode(key, value, s.rev, marker, s.m.cfg.MaxTTL)
				s.step(Delivered{&e})
				s.pass(after)
			}
		})
		inTurn(t, s.effs)
	})
}

// FuzzControl sends a leading machine any control request: each is answered exactly once, and one
// for another epoch or another role changes nothing; to read it, and all that the machine does
// then, takes memory in proportion.
func FuzzControl(f *testing.F) {
	for _, q := range []Request{
		{ID: "1", Op: OpStepDown, Role: "r"},
		{ID: "2", Op: OpStepDown, Role: "r", Epoch: 7},
		{ID: "3", Op: OpTransfer, Role: "r", Target: "b"},
		{ID: "4", Op: OpTransfer, Role: "r", Target: "a"},
		{ID: "5", Op: OpReady, Role: "r"},
		{ID: "6", Op: OpPause, Role: "r"},
		{ID: "7", Op: OpResume, Role: "r"},
		{ID: "8", Op: "dance", Role: "r"},
		{ID: "9", Op: OpPause, Role: "s"},
		{},
	} {
		b, err := json.Marshal(q)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"op":"step-down","role":"r","epoch":-1}`))
	f.Add([]byte(`{"op":"STEP-DOWN","ROLE":"r","unknown":{}}`))
	read := entries{}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 4<<10 { // nobody reads more
			return
		}
		var q Request
		var err error
		var s *solo
		var epoch uint64
		heap.Bounded(t, len(b), func() {
			q = Request{}
			if err = json.Unmarshal(b, &q); err != nil {
				return
			}
			s = leads(t, read)
			epoch = s.m.part("r").term.epoch
			s.effs, s.handled = nil, 0
			s.step(Asked{ID: 4711, Request: q})
			s.pass(outlasting)
		})
		if err != nil {
			return
		}
		answers, ended := 0, false
		for _, e := range s.effs {
			switch e := e.(type) {
			case Done:
				if e.ID == 4711 {
					answers++
				}
			case EndTerm:
				ended = true
			}
		}
		if answers != 1 {
			t.Fatalf("%+v was answered %d times", q, answers)
		}
		if ended && (q.Role != "r" || q.Op != OpStepDown && q.Op != OpPause || q.Epoch != 0 && q.Epoch != epoch) {
			t.Fatalf("%+v ended the term of epoch %d", q, epoch)
		}
	})
}

// outlasting is longer than MaxTTL, what may be waited for after it, and the time in which the role
// is claimed then.
const outlasting = 13 * time.Second

// entries are what the machine has written, as it is delivered. That is much the same whatever the
// input, and read once.
type entries map[string]record.Entry

func (es entries) of(w Write, revision uint64, maxTTL time.Duration) *record.Entry {
	id := w.Key + " " + string(w.Value)
	e, known := es[id]
	if !known {
		if len(es) > 1000 {
			clear(es)
		}
		e = record.Decode(w.Key, w.Value, 0, w.Delete, maxTTL)
		es[id] = e
	}
	e.Revision = revision
	return &e
}

// solo is a machine that is alone with a store, which takes every write, and answers in turn.
type solo struct {
	m       *Machine
	now     record.Instant
	rev     uint64
	ids     int
	effs    []Effect
	handled int     // of effs
	later   []Event // what comes after a while: work has drained, questions are declined
	read    entries
}

// leads returns a machine that leads the role r. It has as few heartbeats to a lease as the rules
// allow, and the bucket no lease that is much longer, so that it takes few steps to outlast all of
// them.
func leads(t *testing.T, read entries) *solo {
	s := &solo{rev: 1000, now: 1e12, read: read}
	s.m = New(Config{
		Instance: "a", Key: "k", TTL: 6 * time.Second, Heartbeat: 2 * time.Second, OpTimeout: time.Second,
		Margin: time.Second, Grace: 20 * time.Second, Delta: 10 * time.Millisecond, Drain: 5 * time.Second,
		CoolDown: 4 * time.Second,
		MaxTTL:   10 * time.Second, IdleFactor: 2,
		NewID: func() string { s.ids++; return "id" + strconv.Itoa(s.ids) }, Rand: func() float64 { return .5 },
	})
	for _, ev := range []Event{WatchReset{}, SnapshotDone{}, Join{RoleConfig{Name: "r"}}} {
		s.step(ev)
	}
	if r := s.m.part("r"); r == nil || r.term == nil {
		s.pass(time.Second)
	}
	if r := s.m.part("r"); r == nil || r.term == nil {
		t.Fatal("it does not lead")
	}
	return s
}

// step hands over an event and all that follows from it at once: writes are stored, acknowledged
// and delivered.
func (s *solo) step(ev Event) {
	now := record.Now{Holder: s.now, Observer: s.now}
	for s.effs = s.m.Step(now, ev, s.effs); s.handled < len(s.effs); s.handled++ {
		switch e := s.effs[s.handled].(type) {
		case Write:
			s.rev++
			s.effs = s.m.Step(now, Written{ID: e.ID, Outcome: record.Won, Revision: s.rev}, s.effs)
			if en := s.read.of(e, s.rev, s.m.cfg.MaxTTL); en.Kind != record.KindOther {
				s.effs = s.m.Step(now, Delivered{en}, s.effs)
			}
		case EndTerm:
			s.later = append(s.later, Drained{Role: e.Role, Term: e.Term})
		case Ask:
			s.later = append(s.later, Answered{Role: e.Request.Role, Target: e.Instance})
		}
	}
}

// pass lets time pass. The machine looks again when it wants to, or somewhat late.
func (s *solo) pass(d time.Duration) {
	const late, while = record.Instant(50 * time.Millisecond), record.Instant(200 * time.Millisecond)
	for end := s.now.Add(d); s.now < end; {
		wait := record.Instant(min(s.m.Next(record.Now{Holder: s.now, Observer: s.now}), d)) + late
		if len(s.later) > 0 {
			wait = min(wait, while)
		}
		s.now += min(wait, end-s.now)
		for len(s.later) > 0 {
			ev := s.later[0]
			s.later = s.later[1:]
			s.step(ev)
		}
		s.step(Tick{})
	}
}

func inTurn(t *testing.T, effects []Effect) {
	led := map[string]uint64{}
	for _, e := range effects {
		switch e := e.(type) {
		case BeginTerm:
			if led[e.Role] != 0 {
				t.Fatalf("a term of %s at epoch %d begins in one at epoch %d", e.Role, e.Epoch, led[e.Role])
			}
			led[e.Role] = e.Epoch
		case EndTerm:
			if led[e.Role] != e.Term {
				t.Fatalf("a term of %s at epoch %d ends, led at %d", e.Role, e.Term, led[e.Role])
			}
			led[e.Role] = 0
		}
	}
}
