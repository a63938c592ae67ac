package gather

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestPays: whatever a store is like, and however many write to it, it stores nearly as many writes
// as it would one by one; and a store that syncs each write stores as many as batches allow.
func TestPays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		us := func(name string, from, to int) time.Duration {
			return time.Duration(rapid.IntRange(from, to).Draw(t, name)) * time.Microsecond
		}
		s := store{
			single: us("single", 30, 600), batch: us("batch", 1000, 10_000), each: us("each", 3, 15),
			way: us("way", 20, 5000), bursts: rapid.Bool().Draw(t, "bursts"),
		}
		later := rapid.Bool().Draw(t, "later")
		writers := rapid.IntRange(1, 600).Draw(t, "writers")
		span := max(2*time.Second, 12*time.Duration(writers)*s.single) // the first half is to measure
		always := world{store: s, never: true, later: later}
		free := world{store: s, later: later, asOne: rapid.SampledFrom([]int{0, 30, Most}).Draw(t, "asOne")}
		alone, got := always.run(t, writers, span), free.run(t, writers, span)
		if s.bursts { // those that meet are one from then on, and in the end all are
			one := 2*s.way + time.Duration(writers)*(s.single+entering)
			alone = min(alone, float64(writers)/one.Seconds())
		}
		if got < 0.85*alone {
			t.Fatalf("%.0f/s, and %.0f/s if all went alone; %d batches", got, alone, free.batches)
		}
		n := min(writers, Most)
		cycle := 2*s.way + 5*s.batch/4 + time.Duration(n)*(s.each+entering) + time.Millisecond
		together := float64(n) / cycle.Seconds()
		dear := assumed + eachTogether*time.Duration(writers) // as it seems before it is measured
		tried := writers >= 2*group && s.single*time.Duration(writers) > 3*dear
		if tried && together > 2*alone && got < together/2 {
			t.Fatalf("%.0f/s, %.0f/s if all went alone, and %.0f/s in batches", got, alone, together)
		}
	})
}

// TestManyAtOnceDoNotMakeAStoreSlow: those that have waited for the pace go all at once. Answers to
// the few before them are one burst, and the next burst is that of all.
func TestManyAtOnceDoNotMakeAStoreSlow(t *testing.T) {
	s := store{
		single: 30 * time.Microsecond, batch: 4598 * time.Microsecond, each: 15 * time.Microsecond,
		way: 45 * time.Microsecond, bursts: true,
	}
	w := world{store: s}
	if rate := w.run(t, 271, 2*time.Second); w.batches > 0 || rate < 32_000 {
		t.Errorf("%.0f/s, and %d batches", rate, w.batches)
	}
}

// TestABatchHasToBeClearlyFaster: a pace that is measured among few may be wrong by a sixth, as
// here, and a batch that seems to pay be slower.
func TestABatchHasToBeClearlyFaster(t *testing.T) {
	s := store{
		single: 32 * time.Microsecond, batch: 7431 * time.Microsecond, each: 4 * time.Microsecond,
		way: 1831 * time.Microsecond, bursts: true,
	}
	w := world{store: s, later: true}
	if rate := w.run(t, 361, 2*time.Second); rate < 0.95/s.single.Seconds() {
		t.Errorf("%.0f/s, and %d batches", rate, w.batches)
	}
}

// TestNoStretchGoesOverThoseThatHaveWaited: when all that have waited for the pace go, no stretch
// continues that has begun among few. Where a few of them go it does.
func TestNoStretchGoesOverThoseThatHaveWaited(t *testing.T) {
	now := record.Instant(time.Second)
	stretch := span{sent: now, answered: now, count: 3}
	for _, each := range []time.Duration{0, time.Microsecond} {
		g := Gatherer{alone: 1, held: now}
		g.pace = pace{flow: stretch, way: way{present: time.Microsecond, since: now}}
		g.pace.measured(now, each)
		n, together := g.Next(now, 5)
		if known := each > 0; n != 5 || together || (g.pace.flow == span{}) != known {
			t.Errorf("pace known: %v: %d go, and the stretch is %+v", known, n, g.pace.flow)
		}
	}
}

// TestThePaceIsMeasuredAmongFew: those that wait for it go a few at a time, as others are answered.
// The stretch that measures it continues over that, so all go soon.
func TestThePaceIsMeasuredAmongFew(t *testing.T) {
	s := store{
		single: 30 * time.Microsecond, batch: time.Millisecond, each: 3 * time.Microsecond,
		way: 342 * time.Microsecond, bursts: true,
	}
	const writers = 2 * first
	w := world{store: s, later: true}
	one := 2*s.way + writers*(s.single+entering) // all of them in one burst
	if rate := w.run(t, writers, 2*time.Second); rate < 0.95*writers/one.Seconds() {
		t.Errorf("%.0f/s, and %d batches", rate, w.batches)
	}
}

// TestAStoreThatDoesNotSyncIsNeverGivenBatches: not with any number of writers, also far away.
func TestAStoreThatDoesNotSyncIsNeverGivenBatches(t *testing.T) {
	for _, way := range []time.Duration{10 * time.Microsecond, 50 * time.Millisecond} {
		for _, writers := range []int{1, 10, 256, 1000, 1500} {
			w := world{store: store{
				single: 6 * time.Microsecond, batch: 3 * time.Millisecond, each: 10 * time.Microsecond,
				way: way,
			}}
			if w.run(t, writers, 2*time.Second); w.batches > 0 {
				t.Errorf("%v away, %d writers: %d batches", way, writers, w.batches)
			}
		}
	}
}

// TestAStoreThatSyncsIsGivenBatches: and sometimes a few writes alone, to see what that takes.
func TestAStoreThatSyncsIsGivenBatches(t *testing.T) {
	for _, bursts := range []bool{false, true} {
		w := world{later: bursts, store: store{
			single: 330 * time.Microsecond, batch: 2500 * time.Microsecond, each: 10 * time.Microsecond,
			way: 30 * time.Microsecond, bursts: bursts,
		}}
		const writers = 256
		rate := w.run(t, writers, 10*time.Second)
		if again := w.alone - w.before; rate < 30_000 || w.before > 3*first || again < 4*probe || again > 6*probe {
			t.Errorf("bursts: %v: %.0f/s, %d of them alone before the first batch, and %d since", bursts, rate, w.before, again)
		}
	}
}

// TestADearBatchIsTriedAgain: what a batch takes may be what others had in flight before it, and
// they may have turned to batches since.
func TestADearBatchIsTriedAgain(t *testing.T) {
	const writers, batch = 256, 2500 * time.Microsecond
	w := world{store: store{single: 330 * time.Microsecond, batch: 500 * time.Millisecond, bursts: true}}
	if w.run(t, writers, 2*time.Second); w.batches == 0 || w.g.turned {
		t.Errorf("%d batches of %v each; the next ones go together: %v", w.batches, w.batch, w.g.turned)
	}
	w.batch = batch
	if rate := w.run(t, writers, 6*time.Second); rate < 30_000 {
		t.Errorf("%.0f/s", rate)
	}
}

// TestManyGoAsOneRecord: it takes the store the time of one write. A batch goes only now and then.
func TestManyGoAsOneRecord(t *testing.T) {
	const span, writers = 20 * time.Second, 256
	w := world{asOne: Most, store: store{
		single: 330 * time.Microsecond, batch: 2500 * time.Microsecond, each: 10 * time.Microsecond,
		way: 50 * time.Microsecond, bursts: true,
	}}
	rate := w.run(t, writers, span)
	times := int(span/costMemory) + 1
	if rate < 100_000 || w.batches < times/2 || w.batches > 2*times || w.bundles < 100*w.batches {
		t.Errorf("%.0f/s, %d batches and %d bundles in %v", rate, w.batches, w.bundles, span)
	}
}

// TestOneRecordSaysNothingOfBatches: what it takes changes no price. A batch goes when the price
// has been forgotten.
func TestOneRecordSaysNothingOfBatches(t *testing.T) {
	const waiting, pause = 100, 100 * time.Millisecond
	g, now := turned(t)
	if !g.AsOne(now, 1, 0, waiting) {
		t.Fatal("a batch was measured a moment ago")
	}
	price := g.cost.of(now, waiting)
	for until := now.Add(costMemory - pause); now < until; now = now.Add(pause) {
		g.One(now, waiting)
		now = now.Add(time.Microsecond)
		g.BatchAnswered(now, Stored, 0)
		if g.AsOne(now, 1, 0, waiting) && g.cost.of(now, waiting) != price {
			t.Fatalf("the price of a batch was %v, and is %v after one record", price, g.cost.of(now, waiting))
		}
	}
	if now = now.Add(2 * pause); g.AsOne(now, 1, 0, waiting) {
		t.Error("the price of a batch is not forgotten")
	}
	g.Batch(now, waiting)
	now = now.Add(pause)
	if g.BatchAnswered(now, Stored, 0); !g.AsOne(now, 1, 0, waiting) || g.cost.of(now, waiting) != pause {
		t.Errorf("a batch of %v is measured as %v", pause, g.cost.of(now, waiting))
	}
}

// TestSeveralRecordsForABatch: they go in place of a batch where they take less time. Far away each
// of them costs a way, and a batch costs one.
func TestSeveralRecordsForABatch(t *testing.T) {
	const span, writers, part = 10 * time.Second, 1000, 250
	for way, batch := range map[time.Duration]time.Duration{
		50 * time.Microsecond: 40 * time.Millisecond, 12 * time.Millisecond: 2500 * time.Microsecond,
	} {
		s := store{single: 330 * time.Microsecond, batch: batch, each: 10 * time.Microsecond, way: way}
		records, batches := world{asOne: part, store: s}, world{store: s}
		with, without := records.run(t, writers, span), batches.run(t, writers, span)
		if near := way < time.Millisecond; near && with < 2*without || !near && with < 0.9*without {
			t.Errorf("%v away: %.0f/s in %d records and %d batches, and %.0f/s in batches alone",
				way, with, records.bundles, records.batches, without)
		}
	}
}

// TestWhatARecordTakesIsForgotten: it is measured again, like the price of a batch.
func TestWhatARecordTakesIsForgotten(t *testing.T) {
	const waiting = 100
	g, now := turned(t)
	g.One(now, waiting)
	now = now.Add(g.cost.of(now, waiting) / 2)
	if g.BatchAnswered(now, Stored, 0); !g.AsOne(now, 2, 0, waiting) || g.AsOne(now, 3, 0, waiting) {
		t.Errorf("a record takes %v, and a batch %v", g.ones.fixed.low, g.cost.of(now, waiting))
	}
	g.ones.fixed.low = 40 * eachTogether
	if g.AsOne(now, 1, 70, 100) || !g.AsOne(now, 1, 50, 100) {
		t.Error("a record goes beside a batch if that saves what its writes would take in the batch")
	}
	now = now.Add(costMemory)
	g.Batch(now, waiting)
	if g.BatchAnswered(now.Add(time.Millisecond), Stored, 0); !g.AsOne(now, 3, 0, waiting) {
		t.Error("what a record took long ago is not forgotten")
	}
}

// TestRecordsThatAreAnsweredSoon: few wait when one record is answered. They go together while as
// many come, in the time of a batch, as make a batch worth while; then all go alone again.
func TestRecordsThatAreAnsweredSoon(t *testing.T) {
	const few, batch, span = 12, 50 * time.Millisecond, paceMemory / 4
	for pause, together := range map[time.Duration]bool{
		few * time.Millisecond / 2: true, 2 * few * time.Millisecond: false,
	} {
		g, now := turned(t) // a write that goes alone takes a millisecond
		g.cost = price{}
		g.Batch(now, Most)
		now = now.Add(batch)
		g.BatchAnswered(now, Stored, 0)
		now = g.until
		went, wait := 0, 100 // those that came during the batch
		for until := now.Add(span); now < until; now = now.Add(pause) {
			n, is := g.Next(now, wait)
			if !is {
				break
			}
			went, wait = went+1, few
			g.One(now, n)
			g.BatchAnswered(now.Add(time.Microsecond), Stored, 0)
		}
		if all := int(span / pause); together && went < all || !together && went > chance+2 {
			t.Errorf("%d every %v, where a batch takes %v: %d times together of %d", few, pause, batch, went, all)
		}
		if kept := len(g.lately.sent); kept > int(batch/pause)+2 {
			t.Errorf("%d are kept that went within %v, one every %v", kept, batch, pause)
		}
	}
}

// TestAFewThatNeverGoAloneWait: after a batch, in proportion to what it took, and not for long.
// Enough for a batch do not wait.
func TestAFewThatNeverGoAloneWait(t *testing.T) {
	var g Gatherer
	now := record.Instant(time.Second)
	if d := g.Await(now, 1); d != 0 {
		t.Errorf("the first one waits %v", d)
	}
	for _, x := range []struct{ took, waits time.Duration }{
		{5 * time.Millisecond, 20 * time.Millisecond}, {3 * time.Second, calm},
	} {
		g.Batch(now, 1)
		now = now.Add(x.took)
		g.BatchAnswered(now, Stored, 0)
		if d := g.Await(now, fewest-1); d != x.waits {
			t.Errorf("after a batch of %v a few wait %v, want %v", x.took, d, x.waits)
		}
		if d := g.Await(now, fewest); d != 0 {
			t.Errorf("enough wait %v", d)
		}
		if now = now.Add(x.waits); g.Await(now, 1) != 0 {
			t.Errorf("a few wait for longer than %v", x.waits)
		}
	}
}

// turned is one that has turned to batches, with so many waiting.
func turned(t *testing.T) (*Gatherer, record.Instant) {
	t.Helper()
	w := world{store: store{single: time.Millisecond, batch: 2 * time.Millisecond, each: 10 * time.Microsecond}}
	w.run(t, 100, time.Second)
	g := &w.g
	for _, a := range w.answers {
		if w.now = a.at; a.n > 0 {
			g.BatchAnswered(w.now, Stored, 0)
		} else {
			g.Answered(w.now, a.ticket)
		}
	}
	if !g.turned || g.alone > 0 || g.together > 0 {
		t.Fatalf("turned: %v; %d alone, %d together", g.turned, g.alone, g.together)
	}
	return g, w.now
}

// TestBatchesThatBecomeDearEnd: what the last ones took counts, not what one took once. Very slow
// ones count at once.
func TestBatchesThatBecomeDearEnd(t *testing.T) {
	for _, batch := range []time.Duration{slow, time.Second} {
		w := world{store: store{
			single: time.Millisecond, batch: 2 * time.Millisecond, each: 10 * time.Microsecond,
		}}
		const writers = 100
		if w.run(t, writers, time.Second); !w.g.turned {
			t.Fatal("no batches: this proves nothing")
		}
		w.batch, w.batches = batch, 0
		rate := w.run(t, writers, 2*kept*slow)
		if batch == slow && rate < 800 || batch > slow && w.batches > 2*(1+chance) {
			t.Errorf("%v a batch: %.0f/s, and 1000 one by one; %d batches", batch, rate, w.batches)
		}
	}
}

// TestDearBatchesOfLongAgoAreForgotten: after those batches are tried as often as at first.
func TestDearBatchesOfLongAgoAreForgotten(t *testing.T) {
	var c price
	for range 5 {
		c.took(1, 10, time.Second)
		c.dear()
	}
	now := record.Instant(time.Hour)
	c.took(now, 10, time.Second)
	if c.dear(); c.known(now.Add(costMemory)) {
		t.Errorf("they are known for %v", c.memory)
	}
}

// TestABatchFarAway: the way counts in a batch's time, and one way serves many.
func TestABatchFarAway(t *testing.T) {
	w := world{store: store{
		single: 300 * time.Microsecond, batch: 2500 * time.Microsecond, each: 10 * time.Microsecond,
		way: 12 * time.Millisecond,
	}}
	if rate := w.run(t, 256, 10*time.Second); rate < 8000 {
		t.Errorf("%.0f/s", rate)
	}
}

// TestLargeWrites: few of them fit into one batch, and a batch at a time is slow where the way is
// long. Where it is short, batches pay as they do for small ones.
func TestLargeWrites(t *testing.T) {
	for _, c := range []struct {
		size  int
		way   time.Duration
		least float64 // times those that go alone
	}{
		{1 << 20, 25 * time.Millisecond, 0.95},
		{256 << 10, 25 * time.Millisecond, 0.95},
		{3 << 20, 50 * time.Microsecond, 0.95},
		{16 << 10, 50 * time.Microsecond, 2},
	} {
		s := store{single: 300 * time.Microsecond, batch: 2500 * time.Microsecond, each: 10 * time.Microsecond, way: c.way}
		free, alone := world{size: c.size, store: s}, world{size: c.size, store: s, never: true}
		rate, other := free.run(t, 256, 10*time.Second), alone.run(t, 256, 10*time.Second)
		if rate < c.least*other {
			t.Errorf("%d bytes, %v away: %.0f/s, and %.0f/s if all went alone", c.size, c.way, rate, other)
		}
	}
}

// TestDearBatchesAreTriedMoreAndMoreRarely: up to three, after 2, 4, 8 and 16 seconds, and then
// every 16.
func TestDearBatchesAreTriedMoreAndMoreRarely(t *testing.T) {
	w := world{store: store{single: 80 * time.Microsecond, batch: 15 * time.Millisecond, each: 10 * time.Microsecond}}
	const writers, span, times = 256, 64 * time.Second, 1 + 4 + 2
	if w.run(t, writers, span); w.batches == 0 || w.batches > (1+chance)*times {
		t.Errorf("%d batches in %v", w.batches, span)
	}
}

// TestTwoMoreGoAfterADearBatch: and then all go alone.
func TestTwoMoreGoAfterADearBatch(t *testing.T) {
	g, now := turned(t)
	g.cost = price{}
	const waiting = 100
	for dear := range 1 + chance {
		if n, together := g.Next(now, waiting); n != waiting || !together {
			t.Fatalf("after %d dear batches: %d go, together: %v", dear, n, together)
		}
		g.Batch(now, waiting)
		now = now.Add(300 * time.Millisecond)
		g.BatchAnswered(now, Stored, 0)
	}
	if n, together := g.Next(now, waiting); n != waiting || together {
		t.Errorf("after the last one: %d go, together: %v", n, together)
	}
}

// TestOneSlowBatch: it waited behind what another owner had in flight. Those after it are batches,
// which measure the price again, also where many writes may be one record.
func TestOneSlowBatch(t *testing.T) {
	for _, first := range []time.Duration{100 * time.Millisecond, 240 * time.Millisecond, 400 * time.Millisecond} {
		const writers, batch = 256, 2500 * time.Microsecond
		w := world{asOne: Most, store: store{
			single: 330 * time.Microsecond, batch: first, each: 10 * time.Microsecond, way: 50 * time.Microsecond,
		}}
		for w.batches == 0 {
			w.run(t, writers, time.Millisecond)
		}
		w.batch = batch
		if w.run(t, writers, first+time.Second); w.stored < 100_000 {
			t.Errorf("the first batch took %v, and the others %v: %d stored in a second", first, batch, w.stored)
		}
	}
}

// TestRefusals: more than a twentieth of the last thousand, and all go alone.
func TestRefusals(t *testing.T) {
	g, now := turned(t)
	for i := range 2 * remembered {
		g.Ended(i%20 == 0)
	}
	if n, together := g.Next(now, 100); n != 100 || !together {
		t.Fatalf("a twentieth: %d go, together: %v", n, together)
	}
	g.Ended(true)
	g.Ended(true)
	if n, together := g.Next(now, 100); n != 100 || together {
		t.Errorf("more: %d go, together: %v", n, together)
	}
	if _, alone := g.Enter(now, 1); !alone {
		t.Error("the next one waits")
	}
}

// TestSilence: after a batch without an answer all go alone for a while.
func TestSilence(t *testing.T) {
	for _, f := range []Fate{Silent, NotTaken} {
		for _, send := range []func(*Gatherer, record.Instant, int){(*Gatherer).Batch, (*Gatherer).One} {
			g, now := turned(t)
			send(g, now, 100)
			g.BatchAnswered(now, f, 0)
			if n, together := g.Next(now, 100); n != 100 || together {
				t.Errorf("%v: %d go, together: %v", f, n, together)
			}
		}
	}
}

// TestFewGoBeforeThePaceIsKnown: one goes first, then a few. The others follow when the pace is
// known, or when no answer comes.
func TestFewGoBeforeThePaceIsKnown(t *testing.T) {
	var g Gatherer
	const waiting = 100
	now := record.Instant(time.Second)
	one, alone := g.Enter(now, 1)
	if _, second := g.Enter(now, 1); !alone || second {
		t.Fatalf("the first one goes: %v, the second one: %v", alone, second)
	}
	if n, _ := g.Next(now, 1); n != 0 || g.Due(now, 1) != hold {
		t.Errorf("%d go beside the first one, and the second one waits for %v", n, g.Due(now, 1))
	}
	now = now.Add(20 * time.Microsecond)
	if g.Answered(now, one); g.held != 0 {
		t.Error("something is held back, and nothing is under way")
	}
	var all []Ticket
	for range first {
		x, alone := g.Enter(now, 1)
		if !alone {
			t.Fatal("it waits")
		}
		all = append(all, x)
	}
	if _, alone := g.Enter(now, 1); alone {
		t.Error("one more goes")
	}
	if n, _ := g.Next(now, waiting); n != 0 {
		t.Errorf("%d more go", n)
	}
	if due := g.Due(now, waiting); due != hold {
		t.Errorf("the others wait for %v", due)
	}
	silent := g
	if n, together := silent.Next(now.Add(hold), waiting); n != waiting || together {
		t.Errorf("no answer: %d go, together: %v", n, together)
	}
	if _, alone := silent.Enter(now.Add(hold), 1); !alone {
		t.Error("the next one waits")
	}
	for _, x := range all {
		now = now.Add(10 * time.Microsecond)
		g.Answered(now, x)
	}
	if n, together := g.Next(now, waiting); n != waiting || together {
		t.Errorf("a fast store: %d go, together: %v", n, together)
	}
}

// TestThoseAfterAFewWaitNotForLong: the first answer lets a few go. Then the store falls silent.
// The others follow though none of the few is answered.
func TestThoseAfterAFewWaitNotForLong(t *testing.T) {
	var g Gatherer
	const waiting = 100
	now := record.Instant(time.Second)
	one, _ := g.Enter(now, 1)
	now = now.Add(20 * time.Microsecond)
	g.Answered(now, one)
	if n, together := g.Next(now, waiting); n != first || together {
		t.Fatalf("%d go, together: %v", n, together)
	}
	for range first {
		g.Alone(now)
	}
	const left = waiting - first
	if due := g.Due(now, left); due != hold {
		t.Errorf("the others wait for %v", due)
	}
	now = now.Add(hold)
	if n, together := g.Next(now, left); n != left || together {
		t.Errorf("no answer: %d of the others go, together: %v", n, together)
	}
}

// few has so many in flight, all that may be before the pace is known, and one that waits.
func few(t *testing.T) (g *Gatherer, sent []Ticket, now record.Instant) {
	t.Helper()
	g, now = new(Gatherer), record.Instant(time.Second)
	one, _ := g.Enter(now, 1)
	now = now.Add(20 * time.Microsecond)
	g.Answered(now, one)
	for range first {
		x, _ := g.Enter(now, 1)
		sent = append(sent, x)
	}
	if n, _ := g.Next(now, 1); n != 0 || g.alone != first {
		t.Fatalf("%d in flight, and %d more go", g.alone, n)
	}
	return g, sent, now
}

// burst wants few of the next ones to go at once, and not all because others have waited before.
func burst(t *testing.T, g *Gatherer, now record.Instant) {
	t.Helper()
	for g.alone < first {
		if _, alone := g.Enter(now, 1); !alone {
			t.Fatalf("the next one waits, with %d in flight", g.alone)
		}
	}
	if _, alone := g.Enter(now, 1); alone {
		t.Error("more than a few go: others have waited before")
	}
}

// TestAfterBatchesFewGoAgain: what waited for the pace went in a batch. When the pace has been
// forgotten, few go alone at once.
func TestAfterBatchesFewGoAgain(t *testing.T) {
	g, sent, now := few(t)
	for _, x := range sent {
		now = now.Add(time.Millisecond)
		g.Answered(now, x)
	}
	const waiting = 100
	if n, together := g.Next(now, waiting); n != waiting || !together {
		t.Fatalf("%d go, together: %v", n, together)
	}
	g.Batch(now, waiting)
	now = now.Add(time.Millisecond)
	g.BatchAnswered(now, Stored, 0)
	now = now.Add(time.Minute)
	if n, together := g.Next(now, 1); n != 1 || together {
		t.Fatalf("%d go, together: %v", n, together)
	}
	g.Alone(now)
	burst(t, g, now)
}

// TestAmongAFlowFewGoAgain: what waited for the pace went when there was room. The pace is not
// known, and a write is always in flight. So few of the next ones go at once.
func TestAmongAFlowFewGoAgain(t *testing.T) {
	g, sent, now := few(t)
	now = now.Add(time.Millisecond)
	g.Answered(now, sent[0])
	if n, together := g.Next(now, 1); n != 1 || together {
		t.Fatalf("%d go, together: %v", n, together)
	}
	g.Alone(now)
	for _, x := range sent[1:] {
		g.Answered(now, x)
	}
	now = now.Add(time.Minute)
	burst(t, g, now)
}
