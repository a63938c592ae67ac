package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// waiting is an intake without a writer, and what waits in it is given as arrivals.
func waiting(payload int64, queue []*arrival) *intake {
	var most atomic.Int64
	most.Store(payload)
	x := &ids{maker: bundles.NewMaker("client")}
	return &intake{most: &most, ids: x, queue: queue, past: map[string]struct{}{}}
}

func arrive(id string, size int, header ...string) *arrival {
	op := natskv.Write{Key: record.QueueKey + id, Value: make([]byte, size)}
	for _, name := range append([]string{record.HeaderTask}, header...) {
		op.Header = append(op.Header, natskv.Field{Name: name, Value: "{}"})
	}
	a := &arrival{ctx: context.Background(), op: op}
	a.block, a.member, _ = memberOf(&op)
	return a
}

// arrivals are so many of one block, the last one first.
func arrivals(block string, n, size int) (list []*arrival) {
	for i := range n {
		list = append(list, arrive(bundles.ID(block, n-1-i), size))
	}
	return list
}

const payload = 1 << 20

// TestWhatGoesInABundle: those of the first one's block, if they are enough.
func TestWhatGoesInABundle(t *testing.T) {
	named := func(n int) (list []*arrival) {
		for i := range n {
			list = append(list, arrive(fmt.Sprint("named-", i), 1))
		}
		return list
	}
	halves := arrivals("client.1", 20, 1)
	for _, a := range halves {
		a.lot = 1
	}
	const most = 100
	const large = record.MaxBundle/record.MaxMember - 1 // in one bundle
	full := append(arrivals("client.1", large, record.MaxMember), arrivals("client.2", large, record.MaxMember)...)
	two := append(arrivals("client.1", 20, 1), arrivals("client.2", 30, 1)...)
	rest := append(arrivals("client.1", 2, 1), arrivals("client.2", 90, 1)...)
	blocks := func(n int) (list []*arrival) { // of which the first has 2
		list = rest[:2:2]
		for i := range n - 1 {
			list = append(list, arrivals(fmt.Sprint("client.", 3+i), 20, 1)...)
		}
		return list
	}
	for what, x := range map[string]struct {
		queue   []*arrival
		payload int64
		n       int // that go
		asOne   bool
	}{
		"all of one block":           {arrivals("client.1", 20, 1), payload, 20, true},
		"no more than may go":        {arrivals("client.1", 2*most, 1), payload, most, true},
		"one alone":                  {arrivals("client.1", 1, 1), payload, 1, false},
		"a named one is first":       {append(named(1), arrivals("client.1", 20, 1)...), payload, 21, false},
		"three named ones":           {append(arrivals("client.1", 5, 1), named(3)...), payload, 5, true},
		"four named ones":            {append(arrivals("client.1", 5, 1), named(4)...), payload, 9, false},
		"of two blocks":              {two, payload, 20, true},
		"few of a former block":      {rest, payload, 2, true},
		"the last of a former block": {rest[1:], payload, 1, false},
		"of four blocks":             {blocks(4), payload, 2, true},
		"of five blocks":             {blocks(5), payload, 82, false},
		"large ones for a batch":     {arrivals("client.1", 90, record.MaxMember), payload, 90, false},
		"large ones":                 {full, payload, large, true},
		"more than a bundle has":     {arrivals("client.1", large+3, record.MaxMember), payload, large, true},
		"many more than a bundle":    {arrivals("client.1", large+4, record.MaxMember), payload, large + 4, false},
		"larger ones":                {arrivals("client.1", 20, record.MaxMember+1), payload, 20, false},
		"a server that takes little": {arrivals("client.1", 20, 1<<10), record.Headroom, 20, false},
		"the half of a batch":        {halves, payload, 20, false},
		"a half and one more":        {append(halves[:20:20], arrive("client.1.z", 1)), payload, 20, false},
		"with what is in no bundle": {[]*arrival{
			arrive("client.1.1", 1, record.HeaderAfter), arrive("client.1.2", 1), arrive("client.1.3", 1),
		}, payload, 3, false},
	} {
		t.Run(what, func(t *testing.T) {
			in := waiting(x.payload, slices.Clone(x.queue))
			list, asOne := in.take(most, true, func(bundles, rest, _ int) bool { return bundles+rest <= 4 })
			if len(list) != x.n || asOne != x.asOne {
				t.Fatalf("%d go, as one: %v; want %d, %v", len(list), asOne, x.n, x.asOne)
			}
			if !asOne {
				return
			}
			b := newBundle(list)
			members, err := record.DecodeBundle(b.op.Key[len(record.BundleKey):], headerOf(&b.op), b.op.Value)
			if err != nil || len(members) != x.n || len(b.op.Value) > record.MaxBundle {
				t.Errorf("%d members in %d bytes, %v", len(members), len(b.op.Value), err)
			}
		})
	}
}

func headerOf(op *natskv.Write) map[string][]string {
	h := map[string][]string{}
	for _, f := range op.Header {
		h[f.Name] = []string{f.Value}
	}
	return h
}

// TestABundleEndsItsBlock: the next ids are of another one. A batch ends none.
func TestABundleEndsItsBlock(t *testing.T) {
	for _, mayBeOne := range []bool{true, false} {
		in := waiting(payload, nil)
		for range 20 {
			in.queue = append(in.queue, arrive(in.ids.next(1, record.MaxBundle), 1))
		}
		list, asOne := in.take(100, true, func(int, int, int) bool { return mayBeOne })
		block, _, _ := bundles.Split(in.ids.next(1, record.MaxBundle))
		if ends := block != list[0].block; asOne != mayBeOne || ends != mayBeOne {
			t.Errorf("as one: %v, and the next id is of block %s after %s", asOne, block, list[0].block)
		}
	}
}

// TestABlockHasOneBundle: what is left of a block that has had its bundle goes in none, whether it
// has come before the bundle went or after.
func TestABlockHasOneBundle(t *testing.T) {
	in := waiting(payload, arrivals("client.1", 20, 1))
	if list, asOne := in.take(15, true, func(int, int, int) bool { return true }); !asOne || len(list) != 15 {
		t.Fatalf("%d go, as one: %v", len(list), asOne)
	}
	for _, a := range in.queue {
		if a.block != "" {
			t.Errorf("%s is left, and waits for a bundle of block %s", a.op.Key, a.block)
		}
	}
	for id, want := range map[string]string{"client.1.z": "", "client.2.0": "client.2"} {
		a := arrive(id, 1)
		if in.join(a); a.block != want {
			t.Errorf("%s comes, and waits for a bundle of block %q, want %q", id, a.block, want)
		}
	}
}

// TestWhatASubmissionTakes is not less than its size as a member of a bundle, and little more.
func TestWhatASubmissionTakes(t *testing.T) {
	for what, s := range map[string]Submission{
		"plain":  {},
		"fair":   {Keys: record.Keys{Fair: "f"}},
		"all":    {Keys: record.Keys{Fair: "f", Sticky: "st", Limit: "l"}, Trace: "00-trace"},
		"header": {Meta: map[string]string{"a": "1", "long": "value"}, Trace: "00-trace"},
	} {
		s.ID, s.Kind, s.Header = "client.1.2", "k", policy
		op, err := s.write(make([]byte, 300))
		if err != nil {
			t.Fatal(err)
		}
		_, m, ok := memberOf(&op)
		c := Client{}
		if n := c.takes(&s, 300); !ok || n < m.Size() || n > m.Size()+64 {
			t.Errorf("%s: %d for %d, %v", what, n, m.Size(), ok)
		}
	}
	c := Client{}
	for what, n := range map[string]int{
		"large": c.takes(&Submission{}, record.MaxMember+1), "unique": c.takes(&Submission{Unique: "u"}, 1),
	} {
		if n != 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
}

// TestEachGoesOnce: whatever waits, each of which the caller has not left goes once, and the first
// one goes at each turn.
func TestEachGoesOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := waiting(payload, nil)
		gone, leave := context.WithCancel(context.Background())
		leave()
		want := map[string]bool{}
		for i := range rapid.IntRange(1, 60).Draw(t, "arrivals") {
			id, size := fmt.Sprint("named-", i), rapid.SampledFrom([]int{0, 1 << 10, record.MaxMember}).Draw(t, "size")
			if block := rapid.IntRange(0, 3).Draw(t, "block"); block > 0 {
				id = bundles.ID(fmt.Sprint("client.", block), i)
			}
			a := arrive(id, size)
			a.lot = rapid.IntRange(0, 2).Draw(t, "lot")
			if rapid.IntRange(0, 9).Draw(t, "left") == 0 {
				a.ctx = gone
			} else {
				want[id] = true
			}
			in.queue = append(in.queue, a)
		}
		for len(in.queue) > 0 {
			first := slices.IndexFunc(in.queue, func(a *arrival) bool { return a.ctx.Err() == nil })
			var next *arrival
			if first >= 0 {
				next = in.queue[first]
			}
			list, _ := in.take(rapid.IntRange(1, 20).Draw(t, "n"), rapid.Bool().Draw(t, "together"),
				func(int, int, int) bool { return rapid.Bool().Draw(t, "mayBeOne") })
			if next != nil && !slices.Contains(list, next) {
				t.Fatalf("%s waits, and %d others go", next.op.Key, len(list))
			}
			for _, a := range list {
				if id := a.op.Key[len(record.QueueKey):]; !want[id] {
					t.Fatalf("%s goes, and has gone or left", id)
				} else {
					delete(want, id)
				}
			}
		}
		if len(want) > 0 {
			t.Fatalf("%d have never gone", len(want))
		}
	})
}

// again submits the task of an index under the id that it was given before.
func (s *shelf) again(block string, index int) {
	s.t.Helper()
	h, err := s.Submit(s.t.Context(), &Submission{ID: bundles.ID(block, index), Kind: "k", Header: policy}, nil)
	if err != nil || h.Existing() {
		s.t.Errorf("%s %d: %+v, %v", block, index, h, err)
	}
}

// first sends a bundle of the first tasks of a block, and returns what its callers hear.
func (s *shelf) first(block string, members int) <-chan natskv.Result {
	return s.send(block, members, false)
}

// late is first for a bundle of which an attempt before was not answered. It returns what one of
// the callers hears.
func (s *shelf) late(block string, members int) natskv.Result { return <-s.send(block, members, true) }

func (s *shelf) send(block string, members int, again bool) <-chan natskv.Result {
	list := arrivals(block, members, 1)
	answers := make(chan natskv.Result, members)
	for _, a := range list {
		a.done = func(r natskv.Result) { answers <- r }
	}
	b := newBundle(waiting(payload, list).bundle(members))
	if again {
		b.pace = newPace()
	}
	s.line.intake.sendBundle(b)
	return answers
}

// claim reads the claim of a block.
func (s *shelf) claim(block string) (natskv.Entry, error) {
	return s.look(s.t.Context(), s.line, record.BundleKey+bundles.ClaimOf(bundles.ID(block, 0)))
}

// TestALateBundleIsShutOut: a task of the block was submitted again. Its bundle was not there, and
// is refused when it comes. Where a bundle of the block is there, it comes as it is.
func TestALateBundleIsShutOut(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		s := newShelf(t, srv)
		block := s.prefix + ".7"
		for _, index := range []int{0, 3} { // the bundle has the name of the first
			block := bundles.ID(block, index)
			s.again(block, index)
			claim, err := s.claim(block)
			if err != nil || !record.IsClaim(&claim) || claim.KeptUntil().Sub(claim.Time) != record.BundleRetention {
				t.Fatalf("%+v, %v", claim, err)
			}
			s.again(block, 9)
			if e, err := s.claim(block); err != nil || e.Revision != claim.Revision {
				t.Errorf("a second claim: %+v, %v", e, err)
			}
			refused := (*refusedBundle)(nil)
			if r := s.late(block, 5); !errors.As(r.Err, &refused) {
				t.Fatalf("%+v", r)
			}
			if there, err := s.stored(t.Context(), s.line, refused); there || err != nil {
				t.Errorf("it is there: %t, %v", there, err)
			}
		}
		if r := s.late(block, 5); r.Outcome != natskv.Won {
			t.Errorf("%+v", r)
		}
		s.again(block, 5)
		if e, err := s.claim(block); err != nil || !record.IsClaim(&e) {
			t.Errorf("another bundle of the block may come when this one has gone: %+v, %v", e, err)
		}
	})
}

// TestAClaimThatMayGo is stored again: a bundle that is sent for half an hour would come when it
// has gone. That of another client is, since nobody knows how long it stands, and so is an own one
// after a while.
func TestAClaimThatMayGo(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		s := newShelf(t, srv)
		block := s.prefix + ".7"
		others, err := s.write(t.Context(), s.line, record.Claim(bundles.ID(block, 0), 0))
		if err != nil || others.Outcome != natskv.Won {
			t.Fatalf("%+v, %v", others, err)
		}
		time.Sleep(record.BundleRetention - time.Second)
		last := others.Revision
		for i, wait := range []time.Duration{0, time.Minute, record.BundleRetention / relied, time.Minute} {
			time.Sleep(wait)
			s.again(block, i)
			e, err := s.claim(block)
			if err != nil || !record.IsClaim(&e) || time.Until(e.KeptUntil()) < record.BundleRetention/2 {
				t.Errorf("%d: the claim stands until %v: %+v, %v", i, e.KeptUntil(), e, err)
			}
			if renewed := wait != time.Minute; renewed != (e.Revision > last) {
				t.Errorf("%d: it was stored again: %t, want %t", i, e.Revision > last, renewed)
			}
			last = e.Revision
		}
	})
}

// TestAMemberThatHasEndedIsSubmittedAgain: its outcome is gone, its bundle stands for the others,
// and the block was claimed since.
func TestAMemberThatHasEndedIsSubmittedAgain(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		s := newShelf(t, srv)
		block := s.prefix + ".7"
		of := s.bundle(block, 0, 1, 2)
		s.ended(bundles.ID(block, 0), of, 0)
		s.again(block, 9) // claims over the bundle
		began := time.Now()
		s.again(block, 0)
		if took := time.Since(began); took > time.Second {
			t.Errorf("it takes %v", took)
		}
		h, err := s.Submit(t.Context(), &Submission{ID: bundles.ID(block, 1), Kind: "k", Header: policy}, nil)
		if err != nil || !h.Existing() {
			t.Errorf("an open member: %+v, %v", h, err)
		}
	})
}

// TestABundleThatIsRefusedByAClaimThatMayGo: the claim is stored again before its submissions go
// alone. An attempt of which nothing is known comes too late then.
func TestABundleThatIsRefusedByAClaimThatMayGo(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		s := newShelf(t, srv)
		block := s.prefix + ".7"
		r, err := s.write(t.Context(), s.line, record.Claim(bundles.ID(block, 9), 0))
		if err != nil || r.Outcome != natskv.Won {
			t.Fatalf("%+v, %v", r, err)
		}
		time.Sleep(record.BundleRetention - time.Second)
		refused := (*refusedBundle)(nil)
		if r := s.late(block, 5); !errors.As(r.Err, &refused) {
			t.Fatalf("%+v", r)
		}
		if there, err := s.stored(t.Context(), s.line, refused); there || err != nil {
			t.Errorf("it is there: %t, %v", there, err)
		}
		time.Sleep(time.Minute)
		if r := s.late(block, 5); !errors.As(r.Err, &refused) {
			t.Errorf("it is stored, and its submissions went alone: %+v", r)
		}
	})
}

// TestABundleThatIsRefusedAtFirst is not stored: no earlier attempt can be. Its submissions go
// alone at once, and nothing is read for that.
func TestABundleThatIsRefusedAtFirst(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		s := newShelf(t, srv)
		block := s.prefix + ".7"
		s.again(block, 3)
		answers, outcomes := s.first(block, 5), map[natskv.Outcome]int{}
		for range 5 {
			r := <-answers
			outcomes[r.Outcome]++
		}
		if outcomes[natskv.Won] != 4 || outcomes[natskv.Refused] != 1 {
			t.Errorf("%v; want 4 that are stored, and one that is there", outcomes)
		}
		for i := range 5 {
			if e, err := s.look(t.Context(), s.line, record.QueueKey+bundles.ID(block, i)); err != nil || e.Revision == 0 {
				t.Errorf("%d: %+v, %v", i, e, err)
			}
		}
	})
}

// TestAClaimRefusesNoBundleOfAnEarlierClient: such a client stores a bundle on the condition that
// nothing stands at its name, and takes a refusal for the word that it is stored.
func TestAClaimRefusesNoBundleOfAnEarlierClient(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		s := newShelf(t, srv)
		for _, index := range []int{0, 3} {
			block := bundles.ID(s.prefix+".7", index)
			s.again(block, index)
			op := newBundle(waiting(payload, arrivals(block, 5, 1)).bundle(5)).op
			op.Guard = nil
			if r, err := s.write(t.Context(), s.line, op); r.Outcome != natskv.Won {
				t.Errorf("after task %d: %+v, %v", index, r, err)
			}
		}
	})
}

// TestAClaimAtThePlaceOfABundle is not the bundle: clients have written claims there.
func TestAClaimAtThePlaceOfABundle(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		s := newShelf(t, srv)
		block := s.prefix + ".7"
		op := record.Claim(bundles.ID(block, 0), 0)
		op.Key = record.BundleKey + bundles.ID(block, 0)
		if r, err := s.write(t.Context(), s.line, op); r.Outcome != natskv.Won {
			t.Fatalf("%+v, %v", r, err)
		}
		refused := (*refusedBundle)(nil)
		if r := s.late(block, 5); !errors.As(r.Err, &refused) {
			t.Fatalf("%+v", r)
		}
		if there, err := s.stored(t.Context(), s.line, refused); there || err != nil {
			t.Errorf("it is there: %t, %v", there, err)
		}
	})
}

// TestABundleThatIsRefusedBecauseItIsThere: it stands, or all its members have ended. If nothing is
// there any more, nobody knows.
func TestABundleThatIsRefusedBecauseItIsThere(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, srv *natsrun.Server) {
		s := newShelf(t, srv)
		block := s.prefix + ".7"
		name := bundles.ID(block, 0)
		s.bundle(block, 0, 1, 2)
		refused := (*refusedBundle)(nil)
		for _, ended := range []bool{false, true} {
			if ended {
				s.put(record.BundleKey+name, nil, nil)
			}
			if r := s.late(block, 3); !errors.As(r.Err, &refused) {
				t.Fatalf("%+v", r)
			}
			if there, err := s.stored(t.Context(), s.line, refused); !there || err != nil {
				t.Errorf("all have ended: %t, it is there: %t, %v", ended, there, err)
			}
		}
		gone := &refusedBundle{bundles.ID(s.prefix+".8", 0), errLags}
		if there, err := s.stored(t.Context(), s.line, gone); there || !errors.Is(err, errPerhapsStored) {
			t.Errorf("nothing is there: %t, %v", there, err)
		}
	})
}
