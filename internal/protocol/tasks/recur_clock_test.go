package tasks

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/recurring"
)

// clocked is a scheduler that hands out, by a stream whose clock stands at now.
func clocked(t *testing.T, now, local time.Time) *driver {
	b := newDriver(t)
	b.wall(local)
	b.step(CaughtUp{})
	b.step(Members{})
	b.sealAt(2, now)
	b.now = b.now.Add(time.Millisecond)
	return b
}

// ticks are those that are submitted within so many minutes.
func (b *driver) ticks(minutes int) (all []string) {
	for range minutes * 2 {
		effects := b.pass(30 * time.Second)
		for len(effects) > 0 {
			w, ok := find[WriteTick](effects)
			if !ok {
				break
			}
			all = append(all, w.Tick.Format("15:04"))
			b.revision++
			effects = b.step(Written{Write: w.Write, Outcome: record.Won, Revision: b.revision})
		}
	}
	return all
}

// TestALocalClockFiresNothing: ticks come when the stream's clock has come to them.
func TestALocalClockFiresNothing(t *testing.T) {
	for name, local := range map[string]time.Time{
		"ahead":  at(0, 0).AddDate(5, 0, 0),
		"behind": at(0, 0).AddDate(-5, 0, 0),
	} {
		b := clocked(t, at(0, 10), local)
		b.step(Defined{Name: "r", Revision: 3, Recurrence: every(recurring.CatchUpAll), Since: at(0, 10)})
		expect(t, name, b.ticks(3), "12:01", "12:02", "12:03")
	}
}

// TestATickThatIsFarAhead stops nothing: it was submitted by a clock that was wrong. Whether it is
// believed is said.
func TestATickThatIsFarAhead(t *testing.T) {
	years := at(0, 0).AddDate(5, 0, 0)
	for name, c := range map[string]struct {
		fired, stored, local time.Time
		since                time.Time
		want                 []string
		told                 int
	}{
		"submitted by a local clock":                  {years, at(-5, 0), at(0, 0), at(-9, 0), []string{"12:01", "12:02"}, 1},
		"submitted when the stream's clock was wrong": {years, years, at(0, 0), at(-9, 0), []string{"12:01", "12:02"}, 1},
		"the stream's clock is wrong now":             {years, years, years, at(-9, 0), nil, 1},
		"within what the clocks may differ by":        {at(1, 0), at(1, 0), at(0, 0), at(-9, 0), []string{"12:02"}, 0},
		"defined by a clock that was wrong": {
			time.Time{},
			time.Time{},
			at(0, 0), years,
			[]string{"12:01", "12:02"},
			1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, early := range []bool{true, false} { // read before our seal, or after
				b := newDriver(t)
				b.wall(c.local)
				tell := func() (effects []Effect) {
					r := every(recurring.CatchUpAll)
					effects = b.s.Step(b.now, Defined{Name: "r", Revision: 3, Recurrence: r, Since: c.since}, nil)
					if !c.fired.IsZero() {
						effects = b.s.Step(b.now, Fired{Name: "r", Revision: 4, Stored: c.stored, Tick: c.fired}, effects)
					}
					return append(effects, b.pass(0)...)
				}
				var effects []Effect
				if early {
					effects = tell()
				}
				b.step(CaughtUp{})
				b.step(Members{})
				effects = append(effects, b.sealAt(6, at(0, 10))...)
				if !early {
					effects = append(effects, tell()...)
				}
				told := findAll[Ahead](effects)
				if n := len(told); n != c.told || n > 0 && told[0].Trusted != (len(c.want) == 0) {
					t.Errorf("read early %t: told %d times: %+v", early, n, effects)
				}
				if w, ok := find[WriteTick](effects); ok {
					t.Errorf("read early %t: what may have been submitted is submitted again: %+v", early, w)
				}
				expect(t, fmt.Sprint("read early ", early), b.ticks(2), c.want...)
				if e, ok := find[Erase](b.step(Defined{Name: "r", Revision: 99})); !ok || e.What != TickRecord {
					t.Errorf("its record stays: %+v", e)
				}
			}
		})
	}
}

// TestATickThatIsThereAlready is not submitted again, and keeps the next ones from nothing. That it
// is there follows from the refusal, if a seal of ours was the last all the while.
func TestATickThatIsThereAlready(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		b := clocked(t, at(0, 10), at(0, 10))
		b.step(Defined{Name: "r", Revision: 3, Recurrence: every(recurring.CatchUpAll), Since: at(0, 10)})
		first, ok := find[WriteTick](b.pass(2 * time.Minute))
		if !ok || !first.Tick.Equal(at(1, 0)) {
			t.Fatalf("%+v", first)
		}
		seal, ok := find[WriteSeal](b.step(Written{Write: first.Write, Outcome: record.Refused}))
		if !ok {
			t.Fatal("no seal")
		}
		revision := uint64(20)
		if foreign { // somebody has written over ours, and that was why
			b.step(SealSeen{Revision: revision, Stored: at(2, 10), Epoch: 0})
			revision++
		} else if seal.Expect != 2 {
			t.Fatalf("%+v", seal)
		}
		next, ok := find[WriteTick](b.step(SealSeen{Revision: revision, Stored: at(2, 10), Epoch: 100, Ours: true}))
		want := at(2, 0)
		if foreign {
			want = at(1, 0)
		}
		if !ok || !next.Tick.Equal(want) {
			t.Errorf("foreign %t: then %v", foreign, next.Tick)
		}
	}
}

// TestAHeldTickIsShutOut: a recurrence is paused while a tick of it is on its way. A copy that
// lands late would land after an earlier tick, if the clock is set back before it is resumed. A new
// seal shuts it out. Nothing is to be shut out when no tick was on its way.
func TestAHeldTickIsShutOut(t *testing.T) {
	for _, underWay := range []bool{true, false} {
		b := clocked(t, at(0, 10), at(0, 10))
		r := every(recurring.CatchUpAll)
		b.step(Defined{Name: "r", Revision: 3, Recurrence: r, Since: at(0, 10)})
		if underWay {
			if _, sent := find[WriteTick](b.pass(time.Minute)); !sent {
				t.Fatal("no tick is submitted")
			}
		}
		paused := *r
		paused.Paused = true
		if _, sealed := find[WriteSeal](b.step(Defined{
			Name: "r", Revision: 4, Recurrence: &paused, Since: at(0, 10),
		})); sealed != underWay {
			t.Errorf("a tick is on its way: %t, a new seal: %t", underWay, sealed)
		}
	}
}
