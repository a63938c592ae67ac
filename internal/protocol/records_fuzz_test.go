package protocol

import (
	"bytes"
	"encoding/json"
	"runtime/metrics"
	"testing"
	"time"
)

// allocated is how many bytes do takes from the heap, roughly. Whatever else runs is counted too, so a figure above most is
// measured again.
func allocated(most uint64, do func()) (took uint64) {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	for range 10 {
		metrics.Read(sample)
		before := sample[0].Value.Uint64()
		do()
		metrics.Read(sample)
		if took = sample[0].Value.Uint64() - before; took <= most {
			break
		}
	}
	return took
}

// mayAllocate is how much reading an input of n bytes may take: a multiple of it, and what the measure is off by.
func mayAllocate(n int) uint64 { return 256<<10 + 128*uint64(n) }

func recordSeeds(f *testing.F) {
	many := Member{V: 1, Session: 9, Roles: map[string]Candidacy{}, Assign: map[string]Workplace{"jobs": {
		Slots: 4, Kinds: []string{"k", "l"}, Labels: map[string]string{"zone": "north"},
	}}, Meta: map[string]string{"version": "1.2.3"}, Draining: true}
	for _, role := range []string{"scheduler", "metrics", "network"} {
		many.Roles[role] = Candidacy{Priority: 3, Takeover: true, Eligible: true}
	}
	for _, record := range []any{
		goodLease, goodMember, goodRole, vacantRole, many,
		Lease{V: 1, State: Killed, By: "b"},
		Lease{V: 1, State: Closed, Session: 4},
		Lease{V: 1, Session: 4, Nonce: "n", TTLms: 120_000, State: Idle, Beat: 1<<64 - 1},
		Role{V: 1, ID: "a", Session: 1<<64 - 1, Token: "t", Key: "UAME66OAROUZM7Y4BQT6SN77SM2T5AE4XNBCDUKGNCXDICLKRLJPXMTJ", TTLms: 60_000, Priority: -1},
	} {
		f.Add(Encode(record))
	}
	for _, text := range []string{
		"", "{}", "[]", "null", `""`, `{"v":1}`, `{"v":2,"session":"x"}`, `{"V":1,"STATE":"live","Nonce":"n","ttl_MS":1}`,
		`{"v":1,"state":"live","nonce":"n","ttl_ms":1e4}`, `{"v":1,"session":18446744073709551616}`, `{"v":1,"ttl_ms":-1,"vacant":true}`,
		`{"v":1,"session":1,"roles":{"a":{},"a":{"priority":9223372036854775807}}}`, "{\"v\":1,\"session\":1,\"meta\":{\"\xff\":\"\xfe\"}}",
	} {
		f.Add([]byte(text))
	}
}

// FuzzRecords: what a decoder accepts it accepts again from the bytes that Encode makes of it, unchanged; and reading takes
// memory in proportion to what is read, whatever that is.
func FuzzRecords(f *testing.F) {
	recordSeeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		for what, read := range map[string]func([]byte) (any, error){
			"lease":  func(b []byte) (any, error) { l, err := DecodeLease(b, time.Minute); return l, err },
			"member": func(b []byte) (any, error) { m, err := DecodeMember(b); return m, err },
			"role":   func(b []byte) (any, error) { r, err := DecodeRole(b, time.Minute); return r, err },
		} {
			var record any
			var err error
			if most := mayAllocate(len(b)); allocated(most, func() { record, err = read(b) }) > most {
				t.Errorf("%s: more than %d bytes for %d bytes", what, most, len(b))
			}
			if err != nil {
				known(t, err)
				continue
			}
			first := Encode(record)
			again, err := read(first)
			if err != nil {
				t.Fatalf("%s: %s is refused: %v", what, first, err)
			}
			if second := Encode(again); !bytes.Equal(first, second) {
				t.Fatalf("%s: %s becomes %s", what, first, second)
			}
		}
	})
}

// FuzzMachine puts anything at any key of the bucket while a machine leads, and lets it go on for a minute: it does not fall,
// and its belief never goes back on what it said: terms begin and end in turn.
func FuzzMachine(f *testing.F) {
	for _, key := range []string{"lease.a", "lease.b", "member.a", "member.b", "role.r", "role.s", "probe.a", "worker.lease.w", "other", ""} {
		for _, record := range []any{goodLease, goodMember, goodRole, vacantRole, Lease{V: 1, State: Killed, By: "b"}} {
			f.Add(key, Encode(record), false, uint8(1))
		}
		f.Add(key, []byte("{"), false, uint8(3))
		f.Add(key, []byte(`{"v":2}`), false, uint8(1))
		f.Add(key, []byte(nil), true, uint8(1))
	}
	f.Fuzz(func(t *testing.T, key string, value []byte, marker bool, gap uint8) {
		if len(key) > 300 || len(value) > 4<<10 {
			return // the schedule is what counts here
		}
		g := leading(t)
		handled := 0
		for range 2 {
			g.rev += uint64(gap)%8 + 1
			e := Decode(key, value, g.rev, marker, g.m.cfg.MaxTTL)
			g.step(&e)
			handled = pass(g, 30*time.Second, handled)
		}
		inTurn(t, g.effs)
	})
}

// FuzzControl sends a leading machine any control request: each is answered exactly once, and one for another epoch or
// another role changes nothing.
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
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 4<<10 { // nobody reads more
			return
		}
		var q Request
		if json.Unmarshal(b, &q) != nil {
			return
		}
		g := leading(t)
		epoch := g.m.part("r").term.epoch
		g.effs = nil
		g.step(Asked{ID: 4711, Request: q})
		pass(g, time.Minute, 0)
		answers, ended := 0, false
		for _, e := range g.effs {
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

// pass lets time pass for a machine whose work returns at once when it is ended, and whose questions are declined. It returns
// how many effects have been handled so.
func pass(g *rig, d time.Duration, done int) int {
	for end := g.now.Holder.Add(d); g.now.Holder < end; {
		for ; done < len(g.effs); done++ {
			switch e := g.effs[done].(type) {
			case EndTerm:
				g.step(Drained{Role: e.Role, Term: e.Term})
			case Ask:
				g.step(Answered{Role: e.Request.Role, Target: e.Instance})
			}
		}
		g.now.Holder += Instant(time.Second / 2)
		g.now.Observer += Instant(time.Second / 2)
		g.step(Tick{})
	}
	return done
}

// leading is a rig whose machine leads the role r.
func leading(t *testing.T) *rig {
	g := newRig(t, nil)
	g.step(Join{RoleConfig{Name: "r"}})
	for range 20 {
		if r := g.m.part("r"); r != nil && r.term != nil {
			return g
		}
		pass(g, time.Second, len(g.effs))
	}
	t.Fatal("it does not lead")
	return nil
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
