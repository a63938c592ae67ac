package tasks

import (
	"fmt"
	"testing"
	"time"
)

// TestLimitsOfARecord: they count, whatever a message says, until the record is removed; then those
// of the newest message.
func TestLimitsOfARecord(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 10))
	b.step(LimitsSeen{Kind: "k", Declared: &Limits{Concurrency: 1}})
	for i := range 6 {
		b.submit(fmt.Sprint("t", i), Policy{Concurrency: []int{0, 28}[i%2]}, nil)
	}
	first := b.pass(0)
	expect(t, "one at once", handedOut(first), "t0@w200")
	b.accept(first)
	more := b.step(LimitsSeen{Kind: "k", Declared: &Limits{Concurrency: 3}})
	expect(t, "raised", handedOut(more), "t1@w200", "t2@w200")
	b.accept(more)
	b.step(LimitsSeen{Kind: "k", Declared: &Limits{Concurrency: 1}})
	expect(t, "lowered: two too many", handedOut(b.accept(first, "t0")))
	expect(t, "one too many", handedOut(b.accept(more, "t1")))
	last := b.accept(more, "t2")
	expect(t, "none", handedOut(last), "t3@w200")
	b.accept(last)
	if k := b.s.Overview().Kinds[0]; k.Concurrency != 1 || k.KeyLimit != 1 {
		t.Errorf("%+v", k)
	}
	expect(t, "without a record", handedOut(b.step(LimitsSeen{Kind: "k", Gone: true})), "t4@w200", "t5@w200")
}

// TestLimitsOfARecordThatComesFirst: before any task of the kind, as after a fail-over; and they
// outlive a kind that is forgotten since it has no tasks.
func TestLimitsOfARecordThatComesFirst(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 10))
	b.step(LimitsSeen{Kind: "k", Declared: &Limits{Rate: 1, KeyLimit: 2}})
	for i := range 4 {
		b.submit(fmt.Sprint("t", i), Policy{KeyLimit: 9}, &Keys{Limit: "x"})
	}
	first := b.pass(time.Second)
	expect(t, "the rate", handedOut(first), "t0@w200")
	b.accept(first)
	if k := b.s.kindOf("k"); !k.keyBound || k.Rate != 1 {
		t.Errorf("%+v", k)
	}
	more := b.step(LimitsSeen{Kind: "k", Declared: &Limits{KeyLimit: 2}})
	expect(t, "two of the key", handedOut(more), "t1@w200")
	b.accept(more)
	expect(t, "three of the key", handedOut(b.step(LimitsSeen{Kind: "k", Declared: &Limits{KeyLimit: 3}})), "t2@w200")
}

// TestAnOverrideEnds: at its time by the stream's clock.
func TestAnOverrideEnds(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 10))
	stored := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b.step(SealSeen{Revision: 3, Epoch: 100, Ours: true, Stored: stored})
	b.step(LimitsSeen{
		Kind: "k", Declared: &Limits{Concurrency: 2}, Override: &Override{Concurrency: ptr(1)},
		Until: stored.Add(time.Minute),
	})
	for i := range 3 {
		b.submit(fmt.Sprint("t", i), Policy{}, nil)
	}
	first := b.pass(0)
	expect(t, "overridden", handedOut(first), "t0@w200")
	b.accept(first)
	if next := b.s.Next(b.now); next > time.Minute {
		t.Errorf("it looks again in %v", next)
	}
	expect(t, "still", handedOut(b.pass(50*time.Second)))
	expect(t, "over", handedOut(b.pass(11*time.Second)), "t1@w200")
}

func ptr[T any](v T) *T { return &v }

// TestAnOverrideOfOneLimit: the others stay as they are declared, and where nothing is declared, as
// the newest submission says; and so does the one when the override has ended.
func TestAnOverrideOfOneLimit(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 10))
	stored := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b.step(SealSeen{Revision: 3, Epoch: 100, Ours: true, Stored: stored})
	b.step(LimitsSeen{Kind: "k", Override: &Override{KeyLimit: ptr(2)}, Until: stored.Add(time.Minute)})
	for i := range 6 {
		b.submit(fmt.Sprint("t", i), Policy{Concurrency: 3, KeyLimit: 1}, &Keys{Limit: []string{"x", "y"}[i/4]})
	}
	first := b.pass(0)
	expect(t, "two of x, three at once", handedOut(first), "t0@w200", "t1@w200", "t4@w200")
	b.accept(first)
	more := b.step(LimitsSeen{
		Kind: "k", Declared: &Limits{Concurrency: 5, KeyLimit: 3}, Override: &Override{KeyLimit: ptr(2)},
	})
	expect(t, "two of each", handedOut(more), "t5@w200")
	b.accept(more)
	more = b.step(LimitsSeen{Kind: "k", Declared: &Limits{Concurrency: 5, KeyLimit: 3}})
	expect(t, "one more of x, five at once", handedOut(more), "t2@w200")
}
