package tasks

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// submitGroup stores the completion of a group, and so many of its members.
func (b *driver) submitGroup(id string, size, members int) []Effect {
	all := b.submitAfter(id, &groups.After{Group: size})
	for i := range members {
		b.submit(groups.MemberID(id, i), Policy{}, nil)
	}
	return append(all, b.pass(0)...)
}

// recordGroup answers the write of a group's record that is among the effects.
func (b *driver) recordGroup(effects []Effect, want ...groups.Fate) []Effect {
	b.t.Helper()
	w, ok := find[WriteTally](effects)
	if !ok {
		b.t.Fatalf("no record is written: %+v", effects)
	}
	for i, f := range want {
		if got := groups.Fate(w.Fates[i/2] >> (4 * (i % 2)) & 0xf); got != f {
			b.t.Errorf("member %d: %d, want %d", i, got, f)
		}
	}
	return b.step(Written{Write: w.Write, Outcome: record.Won})
}

// TestACompletionRunsAfterItsMembers: and after the record that tells how they have ended.
func TestACompletionRunsAfterItsMembers(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 4))
	effects := b.submitGroup("group/g", 2, 2)
	expect(t, "the members run", handedOut(effects), "group/g/0@w200", "group/g/1@w200")
	more := b.storeAll(b.accept(effects, "group/g/0"))
	expect(t, "one of two has ended", handedOut(more))
	more = append(more, b.pass(tallyEvery)...)
	expect(t, "one of two has ended", handedOut(b.recordGroup(more, groups.Done, groups.Open)))
	if w, again := find[WriteTally](b.pass(tallyEvery)); again {
		t.Errorf("nothing has changed: %+v", w)
	}
	b.step(CancelAsked{ID: "group/g/1", Revision: 100})
	b.revision = 100
	more = b.step(Settled{ID: "group/g/1", Revision: 101, Status: StatusCancelled})
	expect(t, "that is not recorded", handedOut(more))
	more = b.recordGroup(more, groups.Done, groups.Cancelled)
	expect(t, "all have ended", handedOut(more), "group/g@w200")
}

// TestTheNextSchedulerKnowsWhatHasBecomeOfMembers: by the record, though their outcomes have left,
// and by the outcomes, though they are not recorded.
func TestTheNextSchedulerKnowsWhatHasBecomeOfMembers(t *testing.T) {
	of := func(size int, closed bool, fates ...groups.Fate) Tallied {
		tally := groups.NewTally(size)
		for i, f := range fates {
			tally.Set(i, f)
		}
		_, packed := tally.Record()
		return Tallied{ID: "group/g", Of: 2, Closed: closed, Fates: packed}
	}
	for name, c := range map[string]struct {
		record Tallied
		want   []groups.Fate
	}{
		"one is recorded, one has left, one is open": {
			of(4, true, groups.Dead, groups.Open, groups.Open),
			[]groups.Fate{groups.Dead, groups.Lost, groups.Open, groups.Done},
		},
		"not all were submitted": {
			of(4, false, groups.Unseen, groups.Done, groups.Open),
			[]groups.Fate{groups.Unseen, groups.Done, groups.Open, groups.Done},
		},
		"the record is of an earlier group": {
			Tallied{ID: "group/g", Of: 1, Closed: true, Fates: []byte{0x22, 0x22}},
			[]groups.Fate{groups.Unseen, groups.Unseen, groups.Open, groups.Done},
		},
		"the record is of another size": {
			Tallied{ID: "group/g", Of: 2, Closed: true, Fates: []byte{0x22}},
			[]groups.Fate{groups.Unseen, groups.Unseen, groups.Open, groups.Done},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newDriver(t)
			b.step(SealSeen{Revision: 1, Epoch: 90, Clean: true})
			b.step(Submitted{ID: "group/g", Revision: 2, Policy: policy, After: &groups.After{Group: 4}})
			b.step(Submitted{ID: "group/g/2", Revision: 3, Policy: policy})
			b.step(Settled{ID: "group/g/3", Revision: 4, Status: StatusSucceeded})
			b.step(c.record)
			b.step(CaughtUp{})
			effects := append(b.seal(9), b.step(Members{List: []Member{member(200)}})...)
			expect(t, "a member is open", handedOut(effects), "group/g/2@w200")
			b.recordGroup(b.pass(tallyEvery/tallyLooks), c.want...)
		})
	}
}

// TestAnOpenGroupIsRecordedSoon: within a second, so that it is found. Later records come nine
// seconds after the last one or at the next look.
func TestAnOpenGroupIsRecordedSoon(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 4))
	recorded := func(after time.Duration, size int, want ...groups.Fate) {
		t.Helper()
		w, is := find[WriteTally](b.pass(after))
		if is != (want != nil) || is && w.Size != size {
			t.Fatalf("%v later: %+v, recorded is %v", after, w, is)
		}
		if is {
			b.recordGroup([]Effect{w}, want...)
		}
	}
	const soon = tallyEvery / tallyLooks
	accepted := b.accept(b.submitGroup("group/g", 3, 3), "group/g/0")
	recorded(soon/2, 3)
	recorded(soon/2, 3, groups.Open, groups.Open, groups.Open)
	b.storeAll(accepted)
	b.submitGroup("group/h", 2, 1)
	recorded(soon, 2, groups.Open, groups.Unseen)
	recorded(tallyEvery-3*soon, 3)
	recorded(soon, 3, groups.Done, groups.Open, groups.Open)
	recorded(2*tallyEvery, 3)
}

// TestAGroupWhoseRecordIsWholeIsComplete: whatever becomes of its members since.
func TestAGroupWhoseRecordIsWholeIsComplete(t *testing.T) {
	b := newDriver(t)
	b.step(SealSeen{Revision: 1, Epoch: 90, Clean: true})
	b.step(Submitted{ID: "group/g", Revision: 2, Policy: policy, After: &groups.After{Group: 1}})
	b.step(Tallied{ID: "group/g", Of: 2, Closed: true, Fates: []byte{byte(groups.Dead)}})
	b.step(Submitted{ID: "group/g/0", Revision: 4, Policy: policy}) // it was requeued
	b.step(CaughtUp{})
	b.seal(9)
	expect(t, "both run", handedOut(b.step(Members{List: []Member{idle(200, 2)}})), "group/g/0@w200", "group/g@w200")
}

// TestAGroupOfWhichMembersAreMissingIsGivenUp: after a day. One that is closed keeps to the
// deadline of its completion.
func TestAGroupOfWhichMembersAreMissingIsGivenUp(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	b.submitGroup("group/missing", 2, 1)
	b.submitGroup("group/there", 1, 1)
	for _, w := range findAll[WriteTally](b.pass(tallyEvery)) {
		b.step(Written{Write: w.Write, Outcome: record.Won})
	}
	if w, ended := find[WriteOutcome](b.pass(23 * time.Hour)); ended {
		t.Errorf("%+v", w)
	}
	all := findAll[WriteOutcome](b.pass(time.Hour))
	if len(all) != 1 || all[0].ID != "group/missing" || all[0].Outcome.Status != StatusCancelled ||
		all[0].Outcome.Cause != CauseUnclosed {
		t.Errorf("%+v", all)
	}
}

// TestARecordIsWrittenAgainEachDay: it would leave.
func TestARecordIsWrittenAgainEachDay(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	b.submitGroup("group/g", 1, 1)
	b.recordGroup(b.pass(tallyEvery), groups.Open)
	for day := range 3 {
		written := 0
		for range 24 {
			if w, ok := find[WriteTally](b.pass(time.Hour)); ok {
				written++
				b.step(Written{Write: w.Write, Outcome: record.Won})
			}
		}
		if written != 1 {
			t.Errorf("day %d: written %d times", day, written)
		}
	}
}

// TestAGroupThatCannotBeRecordedEnds: the server takes no record of its size.
func TestAGroupThatCannotBeRecordedEnds(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	b.submitGroup("group/g", 2, 1)
	w, ok := find[WriteTally](b.pass(tallyEvery))
	if !ok {
		t.Fatal("no record is written")
	}
	o, ok := find[WriteOutcome](b.step(Unstorable{Write: w.Write, Body: "too large"}))
	if !ok || o.ID != "group/g" || o.Outcome.Status != StatusDead || o.Outcome.Cause != CauseUnstorable {
		t.Errorf("%+v", o)
	}
}

// TestManyGroupsAreRecordedInOrder: a schedule is the same each time that it is played.
func TestManyGroupsAreRecordedInOrder(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	for i := range 9 {
		b.submitGroup(fmt.Sprint("group/g", 8-i), 2, 1)
	}
	all := findAll[WriteTally](b.pass(tallyEvery))
	if len(all) != 9 {
		t.Errorf("%d records", len(all))
	}
	for i, w := range all {
		if w.ID != fmt.Sprint("group/g", i) {
			t.Errorf("record %d is of %s", i, w.ID)
		}
	}
}

// TestMembersOfAnEarlierGroupDoNotCount: their outcomes may be written again behind the completion
// of the present one. And that nothing is left of one says nothing.
func TestMembersOfAnEarlierGroupDoNotCount(t *testing.T) {
	for name, end := range map[string]Event{
		"it has ended":      Settled{ID: "group/g/0", Revision: 20, Status: StatusSucceeded, Of: 1},
		"nothing is left":   Settled{ID: "group/g/0", Revision: 20},
		"its place is free": Reserved{ID: "group/g/0", Revision: 20},
	} {
		b := readyDriver(t, SchedulerConfig{}, idle(200, 2))
		b.revision = 9
		b.submitGroup("group/g", 1, 0)
		if w, told := find[WriteTally](append(b.step(end), b.pass(tallyEvery)...)); told {
			t.Errorf("%s: %+v", name, w)
		}
		b.revision = 29
		b.submit("group/g/0", Policy{}, nil)
		effects := b.storeAll(b.accept(b.pass(0), "group/g/0"))
		b.recordGroup(effects, groups.Done)
	}
}
